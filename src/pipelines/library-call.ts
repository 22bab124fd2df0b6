import type {BackendSettings} from '../backends/built-in-backends.js';
import {exitCodes, isRuntimeCliError, withCompleteCommands} from '../errors/index.js';
import {hiddenWord, nowhere, suggestionText, type RunSurroundings, type Suggestion} from '../errors/suggestion.js';
import {messageOf} from '../errors/system-failure.js';
import type {EventError, FailureEvent} from '../operations/events.js';
import {callBackSafely} from '../operations/host.js';
import type {CommonOptions, TargetOptions} from '../operations/options.js';
import {createEventFeed} from './event-feed.js';
import type {Callbacks, EventBody, PipelineHost} from './host.js';

export type CallOptions = Callbacks & Pick<CommonOptions, 'signal'> & Place;

/** The options that say what a call acts on. */
type Place = {
  readonly [K in 'preference' | 'projectSlug' | 'targetSlug' | keyof BackendSettings]?: TargetOptions[K] | undefined;
};

/** Operations have an outlet instead. */
const withoutCallbacks = {onProgress: undefined, onEvent: undefined, onFallback: undefined, onResolve: undefined};

/** Runs a call of the library, connected to its callbacks. Warnings that its result lacks are the process's. */
export async function callFromLibrary<Options extends CallOptions, Result extends object>(
  given: Options,
  host: PipelineHost,
  operation: (options: Options, host: PipelineHost) => Promise<Result>,
): Promise<Result> {
  const {onProgress, onEvent, onFallback, onResolve, signal} = given;
  const feed = onEvent && createEventFeed((event) => callBackSafely(() => onEvent(event)), host.now);
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
  const callbacks = {onProgress, onFallback, onResolve};
  try {
    const spell = (advice: Suggestion) => suggestionText(advice, surroundingsOf(given, host));
    const result = await operation({...given, ...withoutCallbacks}, {...host, logger, callbacks, spell, onEvent: emit});
    if (!('warnings' in result)) warnings.forEach((message) => host.logger.warn(message));
    feed?.({type: 'outcome', status: 'success', result});
    return result;
  } catch (thrown) {
    const error = isRuntimeCliError(thrown) ? withCompleteCommands(thrown, surroundingsOf(given, host)) : thrown;
    const status = signal?.aborted === true ? 'interrupted' : 'error';
    feed?.({type: 'outcome', status, error: reportOf(error, status)});
    throw error;
  }
}

/** What a call knows that a shell does not: all that it was given. */
function surroundingsOf(options: Place, {env}: PipelineHost): RunSurroundings {
  const {projectSlug, targetSlug, preference, apiConnection, backendOptions = {}} = options;
  const values: readonly (readonly [flag: `--${string}`, value: string | undefined])[] = [
    ['--project', projectSlug],
    ['--target', targetSlug],
    ['--runtime-backend', preference === 'auto' ? undefined : preference],
    ['--origin', options.origin ?? env['MYCLI_RUNTIME_ORIGIN']],
    ['--api-origin', apiConnection?.origin],
    ['--organization', apiConnection?.organizationId],
  ];
  const settings = values.flatMap(([flag, value]) => (value === undefined ? [] : [{flag, run: [value], fresh: []}]));
  // Their values may be secrets, which only their backend knows.
  const run = Object.keys(backendOptions).map((name) => hiddenWord('--backend-option', `${name}=`));
  return {...nowhere, settings: [...settings, {flag: '--backend-option', run, fresh: []}]};
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
