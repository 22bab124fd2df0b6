import prettyBytes from 'pretty-bytes';
import type {CommonOptions, OperationProgress} from '../operations/options.js';
import {describeRetry} from './describe.js';
import type {StepView} from './run-pipeline.js';

/** Options for an operation that show its progress and its retries in a step. */
export function showIn(view: StepView): Required<Pick<CommonOptions, 'onProgress' | 'onRetry'>> {
  const startedAt = Date.now();
  return {
    onProgress: (progress) => {
      if (progress.phase === 'deploy') return;
      if (progress.phase === 'wait') view.progress(`${String(progress.transferred)} %`, progress.transferred / 100);
      else view.progress(describeBytes(progress, Date.now() - startedAt), fractionOf(progress));
    },
    onRetry: (event) => {
      view.notice(describeRetry(event));
    },
  };
}

/** `12 MB of 40 MB (6 MB/s, 5 s left)` */
function describeBytes({transferred, total}: OperationProgress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? (transferred / elapsedMs) * 1000 : 0;
  const whole = total === undefined ? '' : ` of ${prettyBytes(total)}`;
  const left = total !== undefined && rate > 0 ? `, ${String(Math.ceil((total - transferred) / rate))} s left` : '';
  return `${prettyBytes(transferred)}${whole} (${prettyBytes(Math.round(rate))}/s${left})`;
}

function fractionOf({transferred, total}: OperationProgress): number {
  return total ? transferred / total : 0;
}
