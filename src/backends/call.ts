import {setTimeout as delay} from 'node:timers/promises';
import {catalogue, createError, isRuntimeCliError, type ErrorCode} from '../errors/index.js';
import type {Backend, BackendCapability} from './contract.js';
import {asSentence} from '../errors/sentence.js';

interface CallKind {
  /** The activity, for messages. */
  readonly doing: string;
  /** Promised by a backend that has the member. */
  readonly capability?: BackendCapability;
}

/** What the host asks a backend for, by the member that answers. */
export const backendCalls = {
  check: {doing: 'checking its configuration'},
  upload: {doing: 'uploading the bundle'},
  deploy: {doing: 'deploying the bundle', capability: 'deploy'},
  getDeployment: {doing: 'checking the deployment', capability: 'wait'},
  listBundles: {doing: 'listing the bundles', capability: 'list'},
  listDeployments: {doing: 'listing the deployments', capability: 'history'},
  download: {doing: 'downloading the bundle', capability: 'download'},
  deleteBundle: {doing: 'deleting the bundle', capability: 'delete'},
} as const satisfies Partial<Record<keyof Backend, CallKind>>;

/** A member that a backend has if it has the capability. */
export type OptionalCall = Exclude<keyof typeof backendCalls, 'check' | 'upload'>;

/**
 * Calls a backend and turns whatever it throws into an error of the catalogue that names it: its own errors pass, the
 * plain shape of `backendError` becomes one, an abort rejects with `signal.reason`.
 * @param doing as in `backendCalls`
 */
export async function callBackend<Result>(
  backend: Pick<Backend, 'name'>,
  doing: string,
  signal: AbortSignal,
  call: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    signal.throwIfAborted();
    throw isRuntimeCliError(error) ? error : toRuntimeCliError(backend.name, doing, error);
  }
}

function toRuntimeCliError(backend: string, doing: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (!isBackendError(error)) {
    return createError('ERR_BACKEND_FAILED', asSentence(`The ${backend} backend failed while ${doing}: ${message}`), {
      cause: error,
    });
  }
  return createError(
    isErrorCode(error.code) ? error.code : 'ERR_BACKEND_FAILED',
    asSentence(`The ${backend} backend failed: ${message}`),
    {
      status: typeof error.status === 'number' ? error.status : undefined,
      suggestions: Array.isArray(error.suggestions) ? error.suggestions.map(String) : [],
      details: {backend, backendCode: error.code},
      cause: error,
    },
  );
}

function isBackendError(error: unknown): error is Error & {code: string; status?: unknown; suggestions?: unknown} {
  return error instanceof Error && 'backendError' in error && 'code' in error && typeof error.code === 'string';
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}

/** How long a plugin may take for what needs no network, milliseconds. */
export const pluginTimeoutMs = 10_000;

/**
 * The result of `work` when it comes in time. The timer keeps the process alive: one that only waits for a promise that
 * nothing will settle ends silently. A synchronous endless loop cannot be stopped.
 * @throws Error when it does not; `signal.reason` when aborted.
 */
export async function withTimeout<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Result> {
  const done = new AbortController();
  const late = delay(timeoutMs, undefined, {signal: AbortSignal.any([signal, done.signal])}).then(
    () => {
      throw new Error(`no answer within ${String(timeoutMs / 1000)} s`);
    },
    () => {
      throw signal.reason;
    },
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
