import {exitCodes, isRuntimeCliError} from '../errors/index.js';
import {messageOf} from '../errors/system-failure.js';
import type {EventError, FailureEvent} from '../operations/events.js';
import {callBackSafely} from '../operations/host.js';
import type {CommonOptions} from '../operations/options.js';
import {createEventFeed} from './event-feed.js';
import type {Callbacks, EventBody, PipelineHost} from './host.js';

export type CallOptions = Callbacks & Pick<CommonOptions, 'signal'>;

/** The options of a call without its callbacks. */
export type DataOf<Options> = Omit<Options, keyof Callbacks>;

/**
 * Runs a call of the library: takes the callbacks out of its options and connects them. `onEvent` gets the events, the
 * outcome last. Warnings that the result does not have are those of the process.
 */
export async function callFromLibrary<Options extends CallOptions, Result extends object>(
  {onProgress, onRetry, onEvent, onFallback, onResolve, ...options}: Options,
  host: PipelineHost,
  operation: (options: DataOf<Options>, host: PipelineHost) => Promise<Result>,
): Promise<Result> {
  const feed =
    onEvent &&
    createEventFeed(
      (event) => callBackSafely(() => onEvent(event)),
      () => host.now(),
    );
  const warnings: string[] = [];
  const emit = (event: EventBody) => {
    if (event.type === 'warning') warnings.push(event.message);
    feed?.(event);
  };
  const logger = {
    ...host.logger,
    warn(message: string) {
      feed?.({type: 'warning', message});
      host.logger.warn(message);
    },
  };
  const callbacks = {onProgress, onRetry, onFallback, onResolve};
  try {
    const result = await operation(options, {...host, logger, callbacks, onEvent: emit});
    if (!('warnings' in result)) warnings.forEach((message) => host.logger.warn(message));
    feed?.({type: 'outcome', status: 'success', result});
    return result;
  } catch (error) {
    const status = options.signal?.aborted === true ? 'interrupted' : 'error';
    feed?.({type: 'outcome', status, error: reportOf(error, status)});
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
