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

/**
 * Numbers the events of a run and passes them on. After the outcome, nothing more is passed on.
 * @param onEvent must not throw.
 */
export function createEventFeed(onEvent: (event: RuntimeEvent) => void, now: () => Date): (body: EventBody) => void {
  let sequence = 0;
  let ended = false;
  return (body) => {
    if (ended) return;
    ended = body.type === 'outcome';
    sequence += 1;
    onEvent({version: 1, sequence, time: timeIn(now(), 0), ...body});
  };
}

type EventOptions = Pick<CommonOptions, 'onEvent' | 'signal'>;

/** Runs a call of the library and passes its events, the outcome last, to `onEvent`, if there is one. */
export async function withEvents<Result>(
  {onEvent, signal}: EventOptions,
  host: PipelineHost,
  call: (host: PipelineHost) => Promise<Result>,
): Promise<Result> {
  if (onEvent === undefined) return call(host);
  const emit = createEventFeed(
    (event) => callBackSafely(() => onEvent(event)),
    () => host.now(),
  );
  const logger = {
    ...host.logger,
    warn(message: string) {
      emit({type: 'warning', message});
      host.logger.warn(message);
    },
  };
  try {
    const result = await call({...host, logger, onEvent: emit});
    emit({type: 'outcome', status: 'success', result});
    return result;
  } catch (error) {
    const status = signal?.aborted === true ? 'interrupted' : 'error';
    emit({type: 'outcome', status, error: reportOf(error, status)});
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
    ? {code: 'ERR_INTERRUPTED', message, exitCode: exitCodes.interrupted, suggestions: []}
    : {code: 'ERR_UNEXPECTED', message, exitCode: exitCodes.unexpected, suggestions: []};
}
