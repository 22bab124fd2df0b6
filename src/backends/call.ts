import {setMaxListeners} from 'node:events';
import {setTimeout as delay} from 'node:timers/promises';
import {inspect} from 'node:util';
import {amendError, catalogue, createError, isRuntimeCliError} from '../errors/index.js';
import {createRedactor} from '../http/redact.js';
import type {HostHttpOptions} from '../http/types.js';
import type {BuiltInContext, HostBackend} from './host-backend.js';
import type {AbortCleanup, Backend, BackendError} from './contract.js';
import type {MemberFacts} from './members.js';
import {asSentence} from '../text/sentence.js';
import {messageOf} from '../errors/system-failure.js';
import {checkBeforeRetrying, refusedCredentials, startService, type Suggestion} from '../errors/suggestion.js';
import {backendTitle, isBuiltIn} from './names.js';

type Redact = (text: string) => string;

/** Calls a backend, and turns what it throws into an error of the catalogue, without `secrets`. */
export async function callBackend<Result>(
  backend: Pick<Backend, 'name'>,
  doing: string,
  signal: AbortSignal | undefined,
  call: () => Promise<Result>,
  secrets?: readonly string[],
): Promise<Result> {
  signal?.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    signal?.throwIfAborted();
    if (isRuntimeCliError(error)) throw error;
    throw toRuntimeCliError(backend.name, doing, error, secrets ? createRedactor(secrets) : String);
  }
}

/** Whether anything happens in the calls of a context. */
export class Activity {
  #pending = 0;
  #last = performance.now();

  touch(): void {
    this.#last = performance.now();
  }

  /** Something begins that has a time limit of its own. Call what it returns at its end. */
  begin(): () => void {
    this.#pending += 1;
    return () => {
      this.#pending -= 1;
      this.touch();
    };
  }

  /** Calls `end` when nothing has happened for `limitMs`, until the timer that it returns is cleared. */
  watch(limitMs: number, end: () => void): NodeJS.Timeout {
    this.touch();
    const look = () => {
      if (this.#pending > 0) this.touch();
      else if (performance.now() - this.#last >= limitMs) end();
    };
    return setInterval(look, Math.min(limitMs / 4, 1000));
  }
}

/** A backend's context, and what the host needs to call it. */
export interface HostContext extends BuiltInContext {
  /** Runs a cleanup after an abort, with a client of its own. Never rejects: a failure becomes a warning. */
  readonly cleanUp: (cleanup: AbortCleanup) => Promise<void>;
  /** How many requests that may have changed something were answered with 2xx. */
  readonly countWrites: () => number;
  readonly activity: Activity;
  /** The same, with the same client, for calls that differ in this. */
  readonly with: (changes: ContextChanges) => HostContext;
}

/** How the calls of an open backend can differ. */
export interface ContextChanges extends Pick<HostHttpOptions, 'once' | 'beforeAttempt'> {
  /** Ends them. It must end with the signal of the other calls. */
  readonly signal?: AbortSignal;
  readonly onProgress?: BuiltInContext['onProgress'];
}

/** What a call is about. `name`: of the function. */
type CalledMember = Pick<MemberFacts, 'doing'> &
  Partial<Pick<MemberFacts, 'effect' | 'repeatable'>> & {readonly name?: string};

/** How long after an abort a call may take to end before its cleanups begin regardless, in milliseconds. */
const endOfCallMs = 1000;

/** As `callBackend`. After an abort, or without progress, it rejects once the call's cleanups have run. */
export async function callInContext<Result>(
  backend: Pick<HostBackend, 'name' | 'plugin'>,
  row: CalledMember,
  {cleanUp, countWrites, activity, with: _, ...context}: HostContext,
  call: (context: BuiltInContext) => Promise<Result>,
  secrets?: readonly string[],
): Promise<Result> {
  const {signal} = context;
  const {requestMs} = context.timeouts;
  const {doing, effect, repeatable} = row;
  const http = repeatable ? context.http.extend({repeatable, changesNothing: true}) : context.http;
  // Not aborted at the end: what a call returns may go on, such as the entries of a log.
  const stalled = new AbortController();
  const own = AbortSignal.any([signal, stalled.signal]);
  // Each request of another client may add a listener, and Node warns of a leak from the eleventh on.
  setMaxListeners(0, own);
  const cleanups: AbortCleanup[] = [];
  let cleaned: Promise<void> | undefined;
  let watch: NodeJS.Timeout | undefined;
  const begin = () => {
    // No process stays for a call that goes on although it was aborted.
    watch?.unref();
    if (cleanups.length === 0) return;
    cleaned ??= cleanUp(async (surroundings) => {
      const hasResolved = work.then(
        () => true,
        () => false,
      );
      if (await Promise.race([hasResolved, delay(endOfCallMs, false, {ref: false})])) return;
      await Promise.all(cleanups.map((cleanup) => cleanup(surroundings)));
    });
  };
  const onAbort = (cleanup: AbortCleanup) => {
    cleanups.push(cleanup);
    if (own.aborted) begin();
  };
  const ended = new AbortController();
  const once = {once: true, signal: ended.signal};
  own.addEventListener('abort', begin, once);
  const writtenBefore = countWrites();
  const work = callBackend(backend, doing, own, () => call({...context, http, signal: own, onAbort}), secrets);
  const late = new Promise<never>((_resolve, reject) => {
    if (backend.plugin === undefined) return;
    // It may clean up, and never end by itself. Of what is no mere look, the end tells what has happened.
    const giveUp = () => {
      clearInterval(watch);
      watch = setTimeout(() => reject(own.reason), endOfCallMs);
    };
    (effect === 'reads' && repeatable ? own : stalled.signal).addEventListener('abort', giveUp, once);
    // An SDK that has the same limit knows more of what has happened: its error comes first.
    watch = activity.watch(requestMs + endOfCallMs, () => stalled.abort(noProgress(backend, row, requestMs)));
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    const told = backend.plugin === undefined ? withLocalRuntime(error) : error;
    throw effect === 'writes' && countWrites() > writtenBefore ? afterWriting(told, backend.name) : told;
  } finally {
    clearInterval(watch);
    ended.abort();
    await cleaned;
  }
}

/** What runs on this machine may be the local runtime. */
function withLocalRuntime(error: unknown): unknown {
  if (!isRuntimeCliError(error) || !error.advice.includes(startService)) return error;
  const start: Suggestion = [
    'If it is the local runtime, start it again with the same data folder: ',
    {run: ['runtime:start', '--data', 'DIR']},
  ];
  return amendError(error, {suggestions: [start]});
}

function noProgress(
  {name, plugin}: Pick<HostBackend, 'name' | 'plugin'>,
  {doing, effect, name: member}: CalledMember,
  limitMs: number,
): Error {
  const during = member === undefined ? doing : `${doing} (${member})`;
  const what = `The ${name} backend of plugin ${String(plugin)} made no progress for ${String(limitMs / 1000)} s while ${during}`;
  const wait = 'Check the network and the proxy, or wait longer with --request-timeout SECONDS.';
  return effect === 'writes'
    ? createError('ERR_OUTCOME_UNKNOWN', `${what}. It may have been carried out.`, {
        suggestions: [checkBeforeRetrying, wait],
      })
    : createError('ERR_TIMEOUT', `${what}.`, {suggestions: [wait]});
}

/** After an answer to a write that makes no sense, what was to be done may have been done. */
function afterWriting(error: unknown, backend: string): unknown {
  if (!isRuntimeCliError(error) || !['ERR_BACKEND_FAILED', 'ERR_RESPONSE_INVALID'].includes(error.code)) return error;
  return amendError(error, {
    code: isBuiltIn(backend) ? error.code : 'ERR_OUTCOME_UNKNOWN',
    message: `${asSentence(error.message)} The request may have been carried out.`,
    suggestions: [checkBeforeRetrying],
  });
}

/** What to do about errors of a backend that do not say it. */
const usualAdvice: {readonly [Code in BackendError['code']]?: readonly Suggestion[]} = {
  ERR_UNAUTHORIZED: [refusedCredentials],
  ERR_OUTCOME_UNKNOWN: [checkBeforeRetrying],
};

function toRuntimeCliError(backend: string, doing: string, error: unknown, redact: Redact): Error {
  const message = redact(messageOf(error));
  const cause = withoutSecrets(error, redact);
  if (!isBackendError(error)) {
    const failed = `The ${backendTitle(backend)} backend failed while ${doing}: ${message}`;
    return createError('ERR_BACKEND_FAILED', asSentence(failed), {cause});
  }
  const {code, status, suggestions} = error;
  return createError(code, asSentence(message), {
    status,
    suggestions: suggestions?.map((suggestion) => redact(suggestion)) ?? usualAdvice[code] ?? [],
    details: {backend},
    cause,
  });
}

/** What was thrown, or, if a dump of it has secrets, a copy that is an error without other members, or text. */
function withoutSecrets(error: unknown, redact: Redact): unknown {
  const dump = inspect(error, {depth: 8});
  const masked = redact(dump);
  if (masked === dump) return error;
  if (!(error instanceof Error)) return masked;
  const {name, message, stack = ''} = error;
  const cause = withoutSecrets(error.cause, redact);
  return Object.assign(new Error(redact(message), {cause}), {name, stack: redact(stack)});
}

/** An error with a code of the catalogue, such as one of `context.error`. */
function isBackendError(error: unknown): error is BackendError {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && Object.hasOwn(catalogue, error.code)
  );
}

/** Timeout for plugin calls that need no network, in milliseconds. */
export const pluginTimeoutMs = 10_000;

/** Resolves with `work`, unless it takes too long or is aborted. The process stays for it. */
export async function withTimeout<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Result> {
  const done = new AbortController();
  const ends = [done.signal, signal ?? []].flat();
  const late = delay(timeoutMs, undefined, {signal: AbortSignal.any(ends)}).then(
    () => {
      throw new Error(`no answer within ${String(timeoutMs / 1000)} s`);
    },
    () => {
      throw signal?.reason;
    },
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
