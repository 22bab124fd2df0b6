import {amendError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {asClause, asSentence} from '../text/sentence.js';
import type {BackendSettings} from './built-in-backends.js';
import type {RuntimeBackend, RuntimeBackendPreference} from './names.js';

/** The selected backend, why, and which one takes over if it definitely refuses. */
export interface BackendSelection {
  /** Name of the backend. */
  readonly backend: RuntimeBackend;
  /** Why it was chosen, for users. */
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

/** Why a failed Api upload may fall back to legacy. Undefined if it may have been carried out, or would fail there. */
export function uploadFallbackReason(error: unknown): string | undefined {
  if (isRuntimeCliError(error) && error.code === 'ERR_CAPABILITY_UNSUPPORTED') return asClause(error.message);
  return rejection(error, 'upload', ({code, status = 0}) => code !== 'ERR_NETWORK' && definiteRejections.has(status));
}

/** Why a failed Api deployment may fall back to legacy. IDs never cross backends. */
export function deployFallbackReason(error: unknown): string | undefined {
  return rejection(error, 'deployment', ({code}) => code === 'ERR_UNAUTHORIZED' || code === 'ERR_FORBIDDEN');
}

function rejection(error: unknown, what: string, isDefinite: (error: RuntimeCliError) => boolean): string | undefined {
  if (!isRuntimeCliError(error)) return undefined;
  const {oauthError, serverMessage} = error.details ?? {};
  if (error.code === 'ERR_OAUTH')
    return oauthError === 'invalid_scope' ? 'the token endpoint refused the scopes (invalid_scope)' : undefined;
  if (!isDefinite(error)) return undefined;
  // It often says what to correct.
  const said = typeof serverMessage === 'string' && serverMessage !== '' ? `: ${serverMessage}` : '';
  return `the Runtime (OAuth) backend rejected the ${what} (${String(error.status)})${said}`;
}
