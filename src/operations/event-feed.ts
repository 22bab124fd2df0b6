import {exitCodes, isRuntimeCliError} from '../errors/index.js';
import type {RetryEvent} from '../http/types.js';
import type {EventBody, EventError, FailureEvent, RuntimeEvent} from './events.js';
import type {CommonOptions, OperationProgress} from './options.js';
import {callBackSafely, runStepsIn, silentView, type Host, type RunSteps, type Step, type StepView} from './steps.js';

/** Numbers the events of a run and passes them on. After the outcome, nothing more is passed on. */
export class EventFeed {
  readonly #onEvent: (event: RuntimeEvent) => void;
  readonly #now: () => Date;
  #sequence = 0;
  #ended = false;

  /** @param onEvent must not throw. */
  constructor(onEvent: (event: RuntimeEvent) => void, now: () => Date) {
    this.#onEvent = onEvent;
    this.#now = now;
  }

  /** A time that many milliseconds from now, ISO 8601. */
  timeIn(ms: number): string {
    return new Date(Math.min(this.#now().getTime() + ms, latestTime)).toISOString();
  }

  warn(message: string): void {
    this.emit({type: 'warning', message});
  }

  emit(body: EventBody): void {
    if (this.#ended) return;
    this.#ended = body.type === 'outcome';
    this.#sequence += 1;
    this.#onEvent({version: 1, sequence: this.#sequence, time: this.timeIn(0), ...body});
  }
}

/** The last one that has an ISO 8601 form with a year of four digits, in milliseconds. */
const latestTime = Date.UTC(9999, 11, 31);

/** Least time between two events about the progress of a step, in milliseconds. */
const progressPauseMs = 250;

/** Runs steps as `run` does, and tells `feed` about them. Warnings are left to whoever shows them. */
export function followSteps(run: RunSteps, feed: EventFeed): RunSteps {
  return async (steps, operation) => {
    const left = new Map<string, Step>(steps.map((step) => [step.name, step]));
    try {
      return await run(steps, (runStep) =>
        operation((name, work) => {
          const {title} = left.get(name) ?? {title: name};
          left.delete(name);
          return runStep(name, (view) => followStep({name, title}, view, feed, work));
        }),
      );
    } finally {
      for (const {name, title} of left.values()) feed.emit({type: 'step', step: name, title, status: 'skipped'});
    }
  };
}

async function followStep<Result>(
  {name: step, title}: Step,
  view: StepView,
  feed: EventFeed,
  work: (view: StepView) => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  let summary: string | undefined;
  const report = reportIn(step, feed);
  const followed: StepView = {
    detail: view.detail,
    warn: view.warn,
    done(text) {
      summary = text;
      view.done(text);
    },
    progress(progress) {
      report.progress(progress);
      view.progress(progress);
    },
    retry(event) {
      report.retry(event);
      view.retry(event);
    },
  };
  feed.emit({type: 'step', step, title, status: 'started'});
  try {
    const result = await work(followed);
    feed.emit({type: 'step', step, title, status: 'done', summary, durationMs: elapsed()});
    return result;
  } catch (error) {
    const code = isRuntimeCliError(error) ? error.code : undefined;
    feed.emit({type: 'step', step, title, status: 'failed', durationMs: elapsed(), code});
    throw error;
  }
}

function reportIn(step: string, feed: EventFeed): Pick<StepView, 'progress' | 'retry'> {
  let last: OperationProgress | undefined;
  let lastAt = 0;
  return {
    progress(progress) {
      const {phase, transferred, total, attempt, status, description, leftMs} = progress;
      if (phase === 'deploy') return;
      if (phase === 'check') {
        feed.emit({type: 'wait', step, reason: 'check', description});
        return;
      }
      if (phase === 'slot' || phase === 'wait') {
        const until = leftMs === undefined ? undefined : feed.timeIn(leftMs);
        const reason = phase === 'slot' ? 'slot' : 'deployment';
        feed.emit({type: 'wait', step, reason, until, status, description});
        if (phase === 'slot' || total === undefined) return;
      } else {
        const isSame = last?.phase === phase && last.attempt === attempt && last.transferred <= transferred;
        const isNews = !isSame || (transferred === total && last?.transferred !== total);
        if (!isNews && performance.now() - lastAt < progressPauseMs) return;
      }
      [last, lastAt] = [progress, performance.now()];
      const unit = phase === 'wait' ? 'percent' : 'bytes';
      feed.emit({type: 'progress', step, phase, unit, transferred, total, attempt});
    },
    retry({attempt, maxRetries, delayMs, status: httpStatus, reason: description, rateLimited}: RetryEvent) {
      const reason = rateLimited === true ? 'rate-limit' : 'retry';
      const until = feed.timeIn(delayMs);
      feed.emit({type: 'wait', step, reason, until, attempt, maxRetries, httpStatus, description});
    },
  };
}

/** The options of a call that concern its events. */
type EventOptions = Pick<CommonOptions, 'onEvent' | 'signal'>;

/** Runs a call of the library and passes its events, the outcome last, to `onEvent`, if there is one. */
export async function withEvents<Result>(
  {onEvent, signal}: EventOptions,
  host: Host,
  call: (host: Host) => Promise<Result>,
): Promise<Result> {
  if (onEvent === undefined) return call(host);
  const feed = new EventFeed(
    (event) => {
      callBackSafely(() => onEvent(event));
    },
    () => host.now(),
  );
  const logger = {
    ...host.logger,
    warn(message: string) {
      feed.warn(message);
      host.logger.warn(message);
    },
  };
  const warn = (message: string) => {
    feed.warn(message);
  };
  const runSteps = followSteps(runStepsIn({...silentView, warn}), feed);
  try {
    const result = await call({...host, logger, runSteps});
    feed.emit({type: 'outcome', status: 'success', result});
    return result;
  } catch (error) {
    const status = signal?.aborted === true ? 'interrupted' : 'error';
    feed.emit({type: 'outcome', status, error: reportOf(error, status)});
    throw error;
  }
}

function reportOf(error: unknown, status: FailureEvent['status']): EventError {
  if (isRuntimeCliError(error)) {
    const {code, message, exitCode, status: httpStatus, suggestions, details} = error;
    return {code, message, exitCode, status: httpStatus, suggestions, details};
  }
  const message = error instanceof Error ? error.message : String(error);
  return status === 'interrupted'
    ? {code: 'ERR_INTERRUPTED', message, exitCode: exitCodes.interrupted}
    : {code: 'ERR_UNEXPECTED', message, exitCode: exitCodes.unexpected};
}
