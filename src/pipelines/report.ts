import prettyBytes from 'pretty-bytes';
import {oneLine} from '../text/sentence.js';
import {describeRetry} from '../http/rate-limit/policy.js';
import {suggestionText, type Suggestion} from '../errors/suggestion.js';
import type {RetryEvent} from '../http/types.js';
import type {MemberName} from '../backends/members.js';
import {callBackSafely, type Outlet} from '../operations/host.js';
import type {OperationProgress} from '../operations/options.js';
import {timeIn} from './event-feed.js';
import type {PipelineHost} from './host.js';
import type {Ledger} from './ledger.js';

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

/** Where steps say what happens: in the running task, in events and in the ledger. A warning is given once. */
export class RunOutlet implements Outlet {
  readonly #host: PipelineHost;
  readonly #ledger: Pick<Ledger, 'warnings' | 'sent' | 'step' | 'changedIn'>;
  #step: RunningStep | undefined;
  /** How many of the calls that were sent are not settled. */
  #open = 0;

  constructor(host: PipelineHost, ledger: Pick<Ledger, 'warnings' | 'sent' | 'step' | 'changedIn'>) {
    this.#host = host;
    this.#ledger = ledger;
  }

  /** From now on, a task reports here. */
  begin(task: ShownTask, step: StepName, host: PipelineHost): void {
    this.#step = new RunningStep(task, step, host);
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

  warn(told: string, advice: readonly Suggestion[] = []): void {
    const {spell = suggestionText} = this.#host;
    const message = [told, ...advice.map((suggestion) => spell(suggestion))].join(' ');
    if (this.#ledger.warnings.includes(message)) return;
    this.#ledger.warnings.push(message);
    this.#host.onEvent?.({type: 'warning', message});
  }

  progress(progress: OperationProgress): void {
    this.#step?.progress(progress);
    callBackSafely(() => this.#host.callbacks?.onProgress?.(progress));
  }

  retry(event: RetryEvent): void {
    this.#step?.retry(event);
  }

  sends(call: MemberName): void {
    this.#open += 1;
    this.#ledger.sent = {call, at: this.#host.now()};
  }

  settles(isDone: boolean): void {
    if (isDone) this.#ledger.changedIn = this.#ledger.step?.name;
    this.#open -= 1;
    if (this.#open === 0) this.#ledger.sent = undefined;
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
  readonly #notes: {readonly label: string; readonly text: string}[] = [];
  readonly #text = new ProgressText();
  /** On a terminal, draws; in a log, has a line of what has not changed for long. */
  readonly #clock: NodeJS.Timeout | undefined;
  /** What is under way: either of them. */
  #progress: OperationProgress | undefined;
  #retry: {readonly event: RetryEvent; readonly at: number} | undefined;
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
      : setTimeout(() => this.#logSilence(), logPauseMs);
    this.#clock.unref();
    // Below its step, where it can be read while there is time to stop.
    if (host.terminal.redraws) host.terminal.showWarnings((label, text) => this.note(text, label));
  }

  setTitle(text: string): void {
    this.#task.title = this.#host.terminal?.clean(text) ?? text;
  }

  note(text: string, label = ''): void {
    const {terminal} = this.#host;
    if (terminal === undefined) return;
    this.#notes.push({label, text});
    if (terminal.redraws) this.#draw();
    else this.#task.output = `  ${text}`;
  }

  progress(progress: OperationProgress): void {
    this.#tellProgress(progress);
    const {terminal} = this.#host;
    if (terminal === undefined) return;
    const isFirst = this.#progress === undefined;
    this.#progress = progress;
    this.#retry = undefined;
    this.#text.measure(progress);
    if (!terminal.redraws) this.#logProgress();
    else if (isFirst) this.#draw();
  }

  /** A log has the line of the client. */
  retry(event: RetryEvent): void {
    const {attempt, maxRetries, delayMs, status: httpStatus, reason: description, rateLimited} = event;
    const {terminal, now, onEvent} = this.#host;
    const reason = rateLimited === true ? 'rate-limit' : 'retry';
    const until = timeIn(now(), delayMs);
    onEvent?.({type: 'wait', step: this.#name, reason, until, attempt, maxRetries, httpStatus, description});
    this.#text.pause();
    this.#progress = undefined;
    this.#retry = {event, at: performance.now()};
    if (terminal?.redraws === true) this.#draw();
  }

  end(): void {
    clearTimeout(this.#clock);
    this.#progress = undefined;
    this.#retry = undefined;
    this.#host.terminal?.showWarnings(undefined);
    if (this.#host.terminal?.redraws === true) this.#draw();
  }

  #draw(): void {
    const {terminal} = this.#host;
    const {text = '', fraction} = this.#shown() ?? {};
    const lines = [...this.#notes, {label: '', text: fraction === undefined ? text : `${bar(fraction)} ${text}`}];
    this.#task.output = lines.flatMap((line) => line.label + (terminal?.clean(line.text) ?? '') || []).join('\n');
  }

  #logProgress(): void {
    // What waits has a line for each look.
    this.#clock?.refresh();
    if (performance.now() - this.#loggedAt < logPauseMs) return;
    const shown = this.#shown();
    if (shown !== undefined) this.#log(shown.text);
  }

  #logSilence(): void {
    const shown = this.#shown();
    if (shown?.isWait === true) return;
    this.#log(shown?.text ?? 'running');
    if (shown !== undefined) this.#clock?.refresh();
  }

  #log(text: string): void {
    this.#loggedAt = performance.now();
    this.#task.output = `${this.#title}: ${text}`;
  }

  #shown(): ShownProgress | undefined {
    const now = performance.now();
    const {event, at = 0} = this.#retry ?? {};
    const leftMs = at + (event?.delayMs ?? 0) - now;
    if (event !== undefined && leftMs > 0)
      return {text: describeRetry(event, `${String(Math.ceil(leftMs / 1000))} s`), isWait: false};
    const shown = this.#progress && this.#text.describe(this.#progress);
    return shown?.isWait === true
      ? {...shown, text: `${shown.text} (${describeDuration(now - this.#startedAt)})`}
      : shown;
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

  #isNews({phase, attempt, transferred, total}: OperationProgress): boolean {
    if (this.#last === undefined) return true;
    const {progress: last, at} = this.#last;
    const restarts = last.phase !== phase || last.attempt !== attempt || last.transferred > transferred;
    const ends = transferred === total && last.transferred !== total;
    return restarts || ends || performance.now() - at >= eventPauseMs;
  }
}

function bar(fraction: number): string {
  const full = Math.floor(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
}

interface ShownProgress {
  readonly text: string;
  /** How much is done, 0 to 1. */
  readonly fraction?: number | undefined;
  /** Whether it is a state of what is waited for. */
  readonly isWait: boolean;
}

/** The time over which a rate is measured, in milliseconds. Without a byte in that time, there is none. */
const rateMs = 10_000;

/** Least time between two measurements, in milliseconds. */
const samplePauseMs = 250;

/** The time that a transfer has to fill buffers, in milliseconds. */
const burstMs = 1000;

export class ProgressText {
  #attempt: number | undefined;
  #startedAt = 0;
  /** How much had been transferred when, in the time of the rate. The last one is when bytes last moved. */
  #samples: {readonly at: number; readonly transferred: number}[] = [];

  /** Measures progress, which need not be shown. */
  measure({transferred, attempt}: OperationProgress): void {
    const at = performance.now();
    const [before, last] = [this.#samples.at(-2), this.#samples.at(-1)];
    const isSame = last !== undefined && this.#attempt === attempt && last.transferred <= transferred;
    if (isSame && last.transferred === transferred) return;
    // Bytes that were there before or are resent, stalls, and waits for a retry, do not count toward the rate.
    if (!isSame || at - last.at >= rateMs) this.#startedAt = at;
    // Nor do those that buffers between here and the server take at once.
    if (at - this.#startedAt < burstMs) this.#samples = [];
    else if (before !== undefined && (last?.at ?? at) - before.at < samplePauseMs) this.#samples.pop();
    this.#attempt = attempt;
    this.#samples.push({at, transferred});
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
    return {text: this.#describeBytes(progress), fraction: fractionOf(progress), isWait: false};
  }

  /** Measures the rate anew, after a wait. */
  pause(): void {
    this.#samples = [];
  }

  /** `12 MB of 40 MB (6 MB/s, 5 s left)`, without a rate until it is known. */
  #describeBytes({phase, transferred, total, idleMs}: OperationProgress): string {
    const now = performance.now();
    const done = `${prettyBytes(transferred)}${total === undefined ? '' : ` of ${prettyBytes(total)}`}`;
    const stillMs = now - (this.#samples.at(-1)?.at ?? now);
    const still = describeDuration(Math.floor(stillMs / 1000) * 1000);
    if (transferred === total) {
      if (phase !== 'upload') return done;
      return `${done}, waiting for the server${stillMs < 1000 ? '' : `, ${still}`}`;
    }
    if (stillMs >= rateMs) {
      const limit = idleMs === undefined ? '' : `, gives up after ${String(idleMs / 1000)} s`;
      return `${done}, no bytes for ${still}${limit}`;
    }
    // Bytes may come in lumps: between two of them, nothing has slowed down yet.
    const gaps = this.#samples.map(({at}, index) => at - (this.#samples[index - 1]?.at ?? at));
    const end = now - Math.min(stillMs, Math.max(0, ...gaps));
    // The latest one before the time of the rate, or the first.
    const latest = this.#samples.findLastIndex(({at}) => at <= end - rateMs);
    this.#samples.splice(0, latest);
    const [first, second] = this.#samples;
    if (first === undefined || second === undefined) return done;
    const since = Math.max(first.at, end - rateMs);
    const share = (since - first.at) / (second.at - first.at);
    const before = first.transferred + share * (second.transferred - first.transferred);
    const rate = ((transferred - before) / (end - since)) * 1000;
    const left = total === undefined ? '' : `, ${describeLeft((total - transferred) / rate)} left`;
    return `${done} (${prettyBytes(Math.round(rate))}/s${left})`;
  }
}

/** `in progress, 40 %: copying the files` */
function describeDeployment({status = 'queued', transferred, total, description}: OperationProgress): string {
  const done = total === undefined ? '' : `, ${String(transferred)} %`;
  const detail = description === undefined ? '' : `: ${oneLine(description)}`;
  return `${status.replace('_', ' ')}${done}${detail}`;
}

/** `5 s`, `3 min`, `1 h 5 min` */
function describeLeft(seconds: number): string {
  if (seconds <= 60) return `${String(Math.ceil(seconds))} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${String(minutes)} min` : `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
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
