import prettyBytes from 'pretty-bytes';
import {oneLine} from '../text/sentence.js';
import {describeRetry} from '../http/rate-limit/policy.js';
import type {RetryEvent} from '../http/types.js';
import type {RuntimeBackend} from '../backends/names.js';
import {callBack, callBackNow, callBackSafely, type Outlet} from '../operations/host.js';
import type {OperationProgress} from '../operations/options.js';
import {timeIn} from './event-feed.js';
import type {PipelineHost} from './host.js';

/** Time between two drawings on a terminal, in milliseconds. */
export const frameMs = 100;

/** Least time between two events about the progress of a step, in milliseconds. */
const eventPauseMs = 250;

/** Least time between two lines of a log about the progress of a step, in milliseconds. */
const logPauseMs = 5000;

const barWidth = 20;

/** What a step shows itself in. */
interface ShownTask {
  title: string;
  output: string;
}

/**
 * Where the steps of a run say what happens: in the title and the output of the task that is running, in events, and to
 * the callbacks of the library. Keeps the warnings for the result. One that was given before is not repeated.
 */
export class RunOutlet implements Outlet {
  readonly #host: PipelineHost;
  readonly #warnings = new Set<string>();
  #step: RunningStep | undefined;

  constructor(host: PipelineHost) {
    this.#host = host;
  }

  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  /** From now on, a task reports here. */
  begin(task: ShownTask, step: StepName): void {
    this.#step = new RunningStep(task, step, this.#host);
  }

  end(): void {
    this.#step?.end();
    this.#step = undefined;
  }

  title(text: string): void {
    this.#step?.setTitle(text);
  }

  note(line: string): void {
    this.#step?.note(line);
  }

  warn(message: string): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.#host.onEvent?.({type: 'warning', message});
  }

  progress(progress: OperationProgress): void {
    this.#step?.progress(progress);
    const tell = () => this.#host.callbacks?.onProgress?.(progress);
    // During a build nothing has been sent, so that a callback can still make it fail.
    if (progress.phase === 'build') callBackNow(tell);
    else callBackSafely(tell);
  }

  retry(event: RetryEvent): void {
    this.#step?.retry(event);
    callBackSafely(() => this.#host.callbacks?.onRetry?.(event));
  }

  fallBack(reason: string): Promise<void> {
    return callBack(() => this.#host.callbacks?.onFallback?.(reason));
  }

  resolve(backendName: RuntimeBackend): Promise<void> {
    return callBack(() => this.#host.callbacks?.onResolve?.(backendName));
  }
}

interface StepName {
  readonly name: string;
  readonly title: string;
}

/** How a running step shows itself. */
class RunningStep {
  readonly #task: ShownTask;
  readonly #name: string;
  readonly #title: string;
  readonly #host: PipelineHost;
  readonly #startedAt = performance.now();
  readonly #notes: string[] = [];
  readonly #text = new ProgressText();
  /** On a terminal, when the progress is shown anew; in a log, when the step has said nothing for long. */
  readonly #clock: NodeJS.Timeout | undefined;
  /** What a terminal shows below the notes: the progress, or what is waited for before there is some. */
  #progress: OperationProgress | undefined;
  #pause = '';
  #last: {readonly progress: OperationProgress; readonly at: number} | undefined;
  #loggedAt = this.#startedAt;

  constructor(task: ShownTask, {name, title}: StepName, host: PipelineHost) {
    this.#task = task;
    this.#name = name;
    this.#title = title;
    this.#host = host;
    if (host.terminal === undefined) return;
    this.#clock = host.terminal.redraws
      ? setInterval(() => this.#draw(), frameMs)
      : setTimeout(() => (task.output = `${title}: running`), logPauseMs);
    this.#clock.unref();
  }

  setTitle(text: string): void {
    this.#task.title = this.#host.terminal?.clean(text) ?? text;
  }

  note(line: string): void {
    const {terminal} = this.#host;
    if (terminal === undefined) return;
    this.#notes.push(line);
    if (terminal.redraws) this.#draw();
    else this.#task.output = `  ${line}`;
  }

  progress(progress: OperationProgress): void {
    this.#tellProgress(progress);
    this.#showProgress(progress);
  }

  end(): void {
    clearTimeout(this.#clock);
    this.#progress = undefined;
    this.#pause = '';
    if (this.#host.terminal?.redraws === true) this.#draw();
  }

  #draw(): void {
    const {terminal} = this.#host;
    const {text = '', fraction} = this.#progress ? (this.#describe(this.#progress) ?? {}) : {text: this.#pause};
    const lines = [...this.#notes, fraction === undefined ? text : `${bar(fraction)} ${text}`];
    this.#task.output = lines.flatMap((line) => terminal?.clean(line) || []).join('\n');
  }

  #showProgress(progress: OperationProgress): void {
    const {terminal} = this.#host;
    if (terminal === undefined) return;
    this.#text.measure(progress);
    if (terminal.redraws) {
      const isFirst = this.#progress === undefined;
      this.#progress = progress;
      if (isFirst) this.#draw();
      return;
    }
    clearTimeout(this.#clock);
    if (performance.now() - this.#loggedAt < logPauseMs) return;
    const shown = this.#describe(progress);
    if (shown === undefined) return;
    this.#loggedAt = performance.now();
    this.#task.output = `${this.#title}: ${shown.text}`;
  }

  #describe(progress: OperationProgress): ShownProgress | undefined {
    const shown = this.#text.describe(progress);
    if (shown?.isWait !== true) return shown;
    return {...shown, text: `${shown.text} (${describeDuration(performance.now() - this.#startedAt)})`};
  }

  /** A log has the line of the client. */
  retry(event: RetryEvent): void {
    const {attempt, maxRetries, delayMs, status: httpStatus, reason: description, rateLimited} = event;
    const {terminal, now, onEvent} = this.#host;
    const reason = rateLimited === true ? 'rate-limit' : 'retry';
    const until = timeIn(now(), delayMs);
    onEvent?.({type: 'wait', step: this.#name, reason, until, attempt, maxRetries, httpStatus, description});
    this.#text.pause();
    if (terminal?.redraws !== true) return;
    this.#progress = undefined;
    this.#pause = describeRetry(event, `${String(Math.ceil(delayMs / 1000))} s`);
    this.#draw();
  }

  #tellProgress(progress: OperationProgress): void {
    const {onEvent, now} = this.#host;
    if (onEvent === undefined) return;
    const step = this.#name;
    const {phase, transferred, total, attempt, status, description, leftMs} = progress;
    const isBytes = phase === 'build' || phase === 'upload' || phase === 'download';
    if (!isBytes) {
      const until = leftMs === undefined ? undefined : timeIn(now(), leftMs);
      const reason = phase === 'wait' ? 'deployment' : phase;
      onEvent({type: 'wait', step, reason, until, status, description});
      if (phase !== 'wait' || total === undefined) return;
    }
    if (isBytes && !this.#isNews(progress)) return;
    this.#last = {progress, at: performance.now()};
    onEvent({type: 'progress', step, phase, unit: isBytes ? 'bytes' : 'percent', transferred, total, attempt});
  }

  /** Whether an attempt begins, all bytes are through, or enough time has passed. */
  #isNews({phase, attempt, transferred, total}: OperationProgress): boolean {
    if (this.#last === undefined) return true;
    const {progress: last, at} = this.#last;
    const restarts = last.phase !== phase || last.attempt !== attempt || last.transferred > transferred;
    const ends = transferred === total && last.transferred !== total;
    return restarts || ends || performance.now() - at >= eventPauseMs;
  }
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
}

interface FirstProgress extends Pick<OperationProgress, 'transferred' | 'attempt'> {
  readonly at: number;
}

interface ShownProgress {
  readonly text: string;
  /** How much is done, 0 to 1. */
  readonly fraction?: number | undefined;
  /** Whether it is a state of what is waited for. */
  readonly isWait: boolean;
}

export class ProgressText {
  #first: FirstProgress | undefined;

  /** From where the rate counts, which progress that is not shown may be as well. */
  measure({transferred, attempt}: OperationProgress): FirstProgress {
    // Bytes that were there before or are resent, and waits for a retry, do not count toward the rate.
    if (this.#first === undefined || this.#first.attempt !== attempt || this.#first.transferred > transferred)
      this.#first = {at: performance.now(), transferred, attempt};
    return this.#first;
  }

  /** Undefined for what the outcome of the step reports. */
  describe(progress: OperationProgress): ShownProgress | undefined {
    const {phase, status, total, description = ''} = progress;
    if (phase === 'slot') return {text: `waiting: ${description}`, isWait: true};
    if (phase === 'check') return {text: description, isWait: true};
    if (phase === 'wait') {
      if (status === 'finished') return undefined;
      const fraction = total === undefined ? undefined : fractionOf(progress);
      return {text: describeDeployment(progress), fraction, isWait: true};
    }
    return {text: describeBytes(progress, this.measure(progress)), fraction: fractionOf(progress), isWait: false};
  }

  /** Measures the rate anew, after a wait. */
  pause(): void {
    this.#first = undefined;
  }
}

/** `in progress, 40 %: copying the files` */
function describeDeployment({status = 'queued', transferred, total, description}: OperationProgress): string {
  const done = total === undefined ? '' : `, ${String(transferred)} %`;
  const detail = description === undefined ? '' : `: ${oneLine(description)}`;
  return `${status.replace('_', ' ')}${done}${detail}`;
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
