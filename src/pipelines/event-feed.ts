import {exitCodes, isRuntimeCliError} from '../errors/index.js';
import {messageOf} from '../errors/system-failure.js';
import type {EventError, FailureEvent, RuntimeEvent} from '../operations/events.js';
import {callBackSafely} from '../operations/host.js';
import type {CommonOptions} from '../operations/options.js';
import type {EventBody, PipelineHost} from './host.js';

/** A time that many milliseconds after `now`, ISO 8601. */
export function timeIn(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}

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

  warn(message: string): void {
    this.emit({type: 'warning', message});
  }

  emit(body: EventBody): void {
    if (this.#ended) return;
    this.#ended = body.type === 'outcome';
    this.#sequence += 1;
    this.#onEvent({version: 1, sequence: this.#sequence, time: timeIn(this.#now(), 0), ...body});
  }
}

type EventOptions = Pick<CommonOptions, 'onEvent' | 'signal'>;

/** Runs a call of the library and passes its events, the outcome last, to `onEvent`, if there is one. */
export async function withEvents<Result>(
  {onEvent, signal}: EventOptions,
  host: PipelineHost,
  call: (host: PipelineHost) => Promise<Result>,
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
  try {
    const result = await call({...host, logger, onEvent: (body) => feed.emit(body)});
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
  const message = messageOf(error);
  return status === 'interrupted'
    ? {code: 'ERR_INTERRUPTED', message, exitCode: exitCodes.interrupted}
    : {code: 'ERR_UNEXPECTED', message, exitCode: exitCodes.unexpected};
}
