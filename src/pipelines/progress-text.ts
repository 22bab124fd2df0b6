import prettyBytes from 'pretty-bytes';
import type {OperationProgress} from '../operations/options.js';

/** The starting point for measuring a rate. */
interface FirstProgress extends Pick<OperationProgress, 'transferred' | 'attempt'> {
  readonly at: number;
}

/** Progress as users read it. */
interface ShownProgress {
  readonly text: string;
  /** How much is done, 0 to 1. */
  readonly fraction?: number | undefined;
  /** Whether it is a state of what is waited for. */
  readonly isWait: boolean;
}

/** Describes the progress of a step. */
export class ProgressText {
  #first: FirstProgress | undefined;

  /** Undefined for what the outcome of the step reports. */
  describe(progress: OperationProgress): ShownProgress | undefined {
    const {phase, status, total, description = '', transferred, attempt} = progress;
    if (phase === 'slot') return {text: `waiting: ${description}`, isWait: true};
    if (phase === 'check') return {text: description, isWait: true};
    if (phase === 'wait') {
      if (status === 'finished') return undefined;
      const fraction = total === undefined ? undefined : fractionOf(progress);
      return {text: describeDeployment(progress), fraction, isWait: true};
    }
    // Bytes that were there before or are resent, and waits for a retry, do not count toward the rate.
    if (this.#first === undefined || this.#first.attempt !== attempt || this.#first.transferred > transferred)
      this.#first = {at: performance.now(), transferred, attempt};
    return {text: describeBytes(progress, this.#first), fraction: fractionOf(progress), isWait: false};
  }

  /** Measures the rate anew, after a wait. */
  pause(): void {
    this.#first = undefined;
  }
}

/** `in progress, 40 %: copying the files` */
function describeDeployment({status = 'queued', transferred, total, description}: OperationProgress): string {
  const done = total === undefined ? '' : `, ${String(transferred)} %`;
  const said = description === undefined ? '' : `: ${description.replaceAll(/\s+/g, ' ')}`;
  return `${status.replace('_', ' ')}${done}${said}`;
}

/**
 * `12 MB of 40 MB (6 MB/s, 5 s left)`; without a rate until it is known. After the last byte of an upload, we wait for
 * the server.
 */
function describeBytes({phase, transferred, total}: OperationProgress, first: FirstProgress): string {
  const done = `${prettyBytes(transferred)}${total === undefined ? '' : ` of ${prettyBytes(total)}`}`;
  if (transferred === total) return phase === 'upload' ? `${done}, waiting for the server` : done;
  const elapsedMs = performance.now() - first.at;
  if (transferred === first.transferred || elapsedMs === 0) return done;
  const rate = ((transferred - first.transferred) / elapsedMs) * 1000;
  const left = total === undefined ? '' : `, ${String(Math.ceil((total - transferred) / rate))} s left`;
  return `${done} (${prettyBytes(Math.round(rate))}/s${left})`;
}

function fractionOf({transferred, total}: OperationProgress): number {
  return total ? transferred / total : 0;
}

/** `85 ms`, `2.3 s`, `4 min 5 s` */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 59_950) return `${String(Math.round(ms / 100) / 10)} s`;
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`;
}
