import prettyBytes from 'pretty-bytes';
import type {CommonOptions, OperationProgress} from '../operations/options.js';
import {describeRetry} from './describe.js';
import type {StepView} from './pipeline.js';

/** Options for an operation that show its progress and its retries in a step. */
export function showIn(view: StepView): {
  readonly [Key in 'onProgress' | 'onRetry']: NonNullable<CommonOptions[Key]>;
} {
  let startedAt = performance.now();
  let attempt: number | undefined;
  return {
    onProgress: (progress) => {
      // A retry sends everything again, after a wait that is no part of the rate.
      if (progress.attempt !== attempt) startedAt = performance.now();
      attempt = progress.attempt;
      switch (progress.phase) {
        case 'deploy':
          return;
        case 'slot':
          view.progress(`waiting: ${progress.description ?? ''}`);
          return;
        case 'wait':
          view.progress(describeDeployment(progress), progress.total === undefined ? undefined : fractionOf(progress));
          return;
        case 'build':
        case 'upload':
        case 'download':
          view.progress(describeBytes(progress, performance.now() - startedAt), fractionOf(progress));
      }
    },
    onRetry: (event) => {
      view.countdown((leftMs) => describeRetry(event, leftMs), event.delayMs);
    },
  };
}

/** `in progress, 40 %: copying the files` */
function describeDeployment({status = 'queued', transferred, total, description}: OperationProgress): string {
  const done = total === undefined ? '' : `, ${String(transferred)} %`;
  const said = description === undefined ? '' : `: ${description.replaceAll(/\s+/g, ' ')}`;
  return `${status.replace('_', ' ')}${done}${said}`;
}

/** `12 MB of 40 MB (6 MB/s, 5 s left)`, without a rate as long as there is none. */
function describeBytes({transferred, total}: OperationProgress, elapsedMs: number): string {
  const done = `${prettyBytes(transferred)}${total === undefined ? '' : ` of ${prettyBytes(total)}`}`;
  if (transferred === 0 || elapsedMs === 0) return done;
  const rate = (transferred / elapsedMs) * 1000;
  const left = total === undefined ? '' : `, ${String(Math.ceil((total - transferred) / rate))} s left`;
  return `${done} (${prettyBytes(Math.round(rate))}/s${left})`;
}

function fractionOf({transferred, total}: OperationProgress): number {
  return total ? transferred / total : 0;
}
