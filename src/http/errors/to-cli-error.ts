import type {Options} from 'got';
import {createError} from '../../errors/index.js';
import {describeRequest, type Call, type RequestOptions} from '../connection/call.js';
import {createRedactor} from '../redact.js';
import {causeOf, failureError, knownError} from './failure.js';
import {responseError, type RefusingResponse} from './response-error.js';

/** What the errors of a client depend on. */
export interface ErrorContext {
  readonly secrets: readonly string[];
  /** Statuses that are retried. */
  readonly limitedStatusCodes: readonly number[];
}

/** The shape of got's errors: the classes come only with the whole of got. */
interface GotError extends Error {
  readonly response?: RefusingResponse;
}

/**
 * What a call rejects with: `signal.reason` when it was aborted, else an error of the catalogue. An error that has
 * nothing to do with the request, thrown by a hook of the caller, stays what it is, without got's objects on it.
 */
export function toCliError(error: unknown, options: Options, call: Call, context: ErrorContext): unknown {
  if (options.signal?.aborted) return options.signal.reason;
  const known = knownError(error) ?? call.failure;
  if (known !== undefined) return known;
  if (!(error instanceof Error)) return error;
  const redact = redactorFor(options, context);
  const {name, response}: GotError = error;
  if (response !== undefined && name !== 'ParseError' && (response.statusCode < 200 || response.statusCode >= 300)) {
    return responseError(response, redact, context.limitedStatusCodes.includes(response.statusCode));
  }
  if (name === 'ParseError') return notJson(options, response?.statusCode);
  if (!call.attempt.started) return causeOf(error, redact);
  return failureError(error, options, call.attempt, redact);
}

/** The error for an answer that should be JSON. */
export function notJson(options: Pick<RequestOptions, 'method' | 'url'>, status: number | undefined): Error {
  const {method, path} = describeRequest(options);
  return createError('ERR_RESPONSE_INVALID', `the answer to ${method} ${path} is not JSON`, {status, method, path});
}

/** Masks the secrets of the client and the credentials of this request, which a server could repeat. */
export function redactorFor(options: Options, {secrets}: ErrorContext): (text: string) => string {
  return createRedactor([...secrets, ...sentCredentials(options)]);
}

function sentCredentials({headers}: Options): string[] {
  const header = headers['authorization'];
  if (typeof header !== 'string') return [];
  const [scheme = '', credentials = ''] = header.split(' ');
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return [credentials, password];
}
