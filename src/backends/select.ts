import {amendError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {asClause, asSentence} from '../text/sentence.js';
import type {BackendSettings} from './built-in-backends.js';
import type {RuntimeBackend, RuntimeBackendPreference} from './names.js';

/** The selected backend, why, and which one takes over if it definitely refuses. */
export interface BackendSelection {
  readonly backend: RuntimeBackend;
  readonly reason: string;
  /** Why `auto` already passed over a configured Runtime (OAuth), for a warning. */
  readonly fellBack?: string | undefined;
  /** Why it could not serve; only for a preview. */
  readonly unconfigured?: string | undefined;
  /** Set when `auto` chose Api and legacy credentials exist. */
  readonly fallback?: 'legacy' | undefined;
}

/** The backend that serves unless it cannot: with `auto`, Api if it is configured, else legacy. */
export function firstChoice(
  preference: RuntimeBackendPreference,
  {apiConnection}: Pick<BackendSettings, 'apiConnection'>,
): RuntimeBackend {
  if (preference !== 'auto') return preference;
  return apiConnection === undefined ? 'legacy' : 'api';
}

export function fallbackWarning(reason: string): string {
  return asSentence(`Fell back to the Runtime (API key) backend: ${reason}`);
}

/** The error of a fallback that failed as well. It says why there was one, first. */
export function failedTwice(first: unknown, error: unknown): unknown {
  if (!isRuntimeCliError(first) || !isRuntimeCliError(error) || error.code === 'ERR_INTERRUPTED') return error;
  return amendError(error, {
    message: `${asSentence(first.message)} The Runtime (API key) backend also failed: ${error.message}`,
    suggestions: first.advice,
  });
}

/** Statuses that prove that an upload was not carried out. */
const definiteRejections: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 415]);

/**
 * Why a failed Api upload may fall back to legacy, for `onFallback`. Undefined when it must not, because the request
 * may have been carried out or would fail there too.
 */
export function uploadFallbackReason(error: unknown): string | undefined {
  if (!isRuntimeCliError(error)) return undefined;
  if (isInvalidScope(error)) return 'the token endpoint refused the scopes (invalid_scope)';
  if (error.code === 'ERR_CAPABILITY_UNSUPPORTED') return asClause(error.message);
  if (error.code === 'ERR_OAUTH' || error.code === 'ERR_NETWORK') return undefined;
  if (error.status === undefined || !definiteRejections.has(error.status)) return undefined;
  return `the Runtime (OAuth) backend rejected the upload (${String(error.status)})${serverSentence(error)}`;
}

/**
 * Why a failed Api deployment may fall back to legacy: only on 401, 403 and `invalid_scope`, because IDs never cross
 * backends.
 */
export function deployFallbackReason(error: unknown): string | undefined {
  if (!isRuntimeCliError(error)) return undefined;
  if (isInvalidScope(error)) return 'the token endpoint refused the scopes (invalid_scope)';
  if (error.code !== 'ERR_UNAUTHORIZED' && error.code !== 'ERR_FORBIDDEN') return undefined;
  return `the Runtime (OAuth) backend rejected the deployment (${String(error.status)})${serverSentence(error)}`;
}

/** The server's own message, which often says what to correct. */
function serverSentence({details}: RuntimeCliError): string {
  const message = details?.['serverMessage'];
  return typeof message === 'string' && message !== '' ? `: ${message}` : '';
}

function isInvalidScope({code, details}: RuntimeCliError): boolean {
  return code === 'ERR_OAUTH' && details?.['oauthError'] === 'invalid_scope';
}
