import type {AnsweredResponse} from '../types.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {parseJson} from '../../text/json.js';
import {
  describeRequest,
  isBroken,
  isWrite,
  type Attempt,
  type RequestOptions,
  type HttpCall,
} from '../connection/attempt.js';
import {ConnectionError} from '../connection/watch.js';
import {isLoopback} from '../origin.js';
import {createRedactor} from '../redact.js';
import {isAuthorized} from '../auth/authorize.js';
import {responseError, type Explanation, type RefusingResponse} from './response-error.js';
import {asSentence} from '../../text/sentence.js';
import {checkBeforeRetrying, startService} from '../../errors/suggestion.js';

/** How the connection failed. `unreachable`: nothing was sent. `lost`: the connection ended. */
export type FailureKind =
  | 'unreachable'
  | 'unknown-host'
  | 'certificate'
  | 'handshake'
  | 'proxy'
  | 'not-http'
  | 'stalled'
  | 'lost';

const kindOfCode: readonly (readonly [RegExp, FailureKind])[] = [
  [/^(?:ECONNREFUSED|EAI_AGAIN)$/, 'unreachable'],
  [/^ENOTFOUND$/, 'unknown-host'],
  [/^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH)/, 'certificate'],
  [/^(?:EPROTO$|ERR_SSL_)/, 'handshake'],
  [/^ERR_PROXY$/, 'proxy'],
  [/^HPE_/, 'not-http'],
  [/^(?:ETIMEDOUT|ESOCKETTIMEDOUT)$/, 'stalled'],
];

export function failureKind(error: Error): FailureKind {
  const code = codeOf(error) ?? '';
  return kindOfCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'lost';
}

/** Whether nothing listens at an address of this machine: waiting rarely helps, starting something does. */
export function isLocalRefusal(error: Error, {url}: Pick<RequestOptions, 'url'>, {proxy}: Attempt): boolean {
  const dialled = proxy?.url ?? url;
  return codeOf(error) === 'ECONNREFUSED' && dialled !== undefined && isLoopback(new URL(dialled).hostname);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EAI_AGAIN: 'the name server does not respond',
  ENOTFOUND: 'unknown host',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
};

export function failureReason(error: Error): string {
  // Node's error about several addresses has no message.
  return reasons[codeOf(error) ?? ''] ?? (error.message || 'the connection timed out');
}

/** An error and its causes: got wraps those of others. */
function chainOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : [];
}

/** What to say of a request without a response: a change may have been carried out once its last byte was sent. */
function explain(error: Error, options: RequestOptions, {attempt, mayBeDone}: HttpCall): Explanation {
  const {method, path, host: server} = describeRequest(options);
  const {proxy} = attempt;
  const isAtProxy = proxy !== undefined && !attempt.connected;
  const host = isAtProxy ? `the proxy ${proxy.url.host} (${proxy.variable})` : server;
  const request = `${method} ${path}`;
  const reason = failureReason(error);
  const kind = failureKind(error);
  const checkNetwork = 'Check the network and try again.';
  const flag = chainOf(error).find((each) => each instanceof ConnectionError)?.flag;
  const waitLonger = flag === undefined ? [] : [`To allow more time, pass ${flag} SECONDS.`];
  const isAccepted = attempt.delivered !== undefined;
  if (isWrite(options) && (isAccepted || attempt.mayBeWhole || mayBeDone)) {
    const what = isAccepted ? 'it was accepted, but not all of it was read' : 'it was sent, but no response arrived';
    const message = `${request} may have been carried out: ${what} (${reason}).`;
    return ['ERR_OUTCOME_UNKNOWN', message, checkBeforeRetrying, ...waitLonger];
  }
  if (kind === 'not-http') return ['ERR_RESPONSE_INVALID', `The response of ${host} to ${request} is not HTTP.`];
  if (kind === 'handshake') {
    return [
      'ERR_TLS',
      `Cannot establish a TLS connection to ${host}: ${opensslReason(error)}`,
      'Check the scheme and the port. If the service does not use TLS, its URL starts with http://.',
    ];
  }
  if (kind === 'certificate') {
    return [
      'ERR_TLS',
      `The certificate of ${host} was not accepted: ${reason}`,
      'If the server uses a private certificate authority, set NODE_EXTRA_CA_CERTS to a file with its certificate.',
    ];
  }
  if (kind === 'stalled')
    return ['ERR_TIMEOUT', `${request} to ${host} stalled: ${reason}`, checkNetwork, ...waitLonger];
  if (attempt.connected) {
    return ['ERR_NETWORK', `The connection to ${host} ended before ${request} was complete: ${reason}`, checkNetwork];
  }
  if (isAtProxy) {
    const way = reason.includes('407')
      ? `Set ${proxy.variable} to http://USER:PASSWORD@${proxy.url.host}.`
      : `Check ${proxy.variable} and the proxy, or list ${new URL(`http://${server}`).hostname} in NO_PROXY.`;
    return ['ERR_NETWORK', `Cannot connect to ${host}: ${reason}`, way];
  }
  return [
    'ERR_NETWORK',
    `Cannot connect to ${host}: ${reason}`,
    isLocalRefusal(error, options, attempt)
      ? startService
      : 'Check the address, the network and the proxy variables (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).',
  ];
}

/** OpenSSL's reason without its source locations: `wrong version number`. */
function opensslReason({message}: Error): string {
  return /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1] ?? message.trim();
}

export function knownError(error: unknown): RuntimeCliError | undefined {
  return chainOf(error).find(isRuntimeCliError);
}

/** What is safe to keep of an error. got's errors hold the whole request, including headers. */
function causeOf(error: Error, redact: (text: string) => string): Error {
  const cause = new Error(redact(error.message));
  const code = codeOf(error);
  return code === undefined ? cause : Object.assign(cause, {code});
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export interface ErrorContext {
  readonly secrets: readonly string[];
  readonly limitedStatusCodes: readonly number[];
}

interface FailedRequest extends RequestOptions {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
}

/** The shape of got's errors. Importing the classes would load all of got. */
interface GotError extends Error {
  readonly response?: RefusingResponse;
}

/** What a call rejects with: `signal.reason`, an error of the catalogue, or one of a caller's hook. */
export function toCliError(error: unknown, options: FailedRequest, call: HttpCall, context: ErrorContext): unknown {
  const told = explained(error, options, call, context);
  if (!isRuntimeCliError(told) || call.repeats === 0 || !isBroken(options, call.attempt)) return told;
  return amendError(told, {suggestions: ['To allow more retries, set uploadRetries in mycli.config.']});
}

function explained(error: unknown, options: FailedRequest, call: HttpCall, context: ErrorContext): unknown {
  if (options.signal?.aborted) return options.signal.reason;
  const cliError = knownError(error) ?? call.failure;
  // What was answered with success, in too many bytes to read, may have been carried out.
  if (cliError?.code === 'ERR_RESPONSE_INVALID' && (cliError.status ?? 0) < 300 && isWrite(options))
    return amendError(cliError, {suggestions: [checkBeforeRetrying]});
  if (cliError !== undefined) return cliError;
  if (!(error instanceof Error)) return error;
  const redact = redactorFor(options, context);
  const {name, response}: GotError = error;
  if (response !== undefined && name !== 'ParseError' && (response.statusCode < 200 || response.statusCode >= 300)) {
    return responseError(response, redact, {
      limited: context.limitedStatusCodes.includes(response.statusCode),
      isWrite: isWrite(options),
      isWhole: call.attempt.mayBeWhole || call.mayBeDone,
      speaksJson: isAuthorized(options),
    });
  }
  if (name === 'ParseError') return wrongAnswer({request: {options}, statusCode: response?.statusCode}, 'is not JSON');
  const cause = causeOf(error, redact);
  if (!call.attempt.started) return cause;
  const {method, path} = describeRequest(options);
  const [code, message, ...suggestions] = explain(error, options, call);
  return createError(code, asSentence(redact(message)), {method, path: redact(path), suggestions, cause});
}

/** Masks the client's secrets and this request's credentials, which a server could echo. */
export function redactorFor(
  options: Pick<FailedRequest, 'headers'>,
  {secrets}: Pick<ErrorContext, 'secrets'>,
): (text: string) => string {
  return createRedactor([...secrets, ...sentCredentials(options)]);
}

function sentCredentials({headers}: Pick<FailedRequest, 'headers'>): string[] {
  const header = headers['authorization'];
  if (typeof header !== 'string') return [];
  const [scheme = '', credentials = ''] = header.split(' ');
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return [credentials, password];
}

/** Parses a response that was read as text. @throws `ERR_RESPONSE_INVALID` */
export function readJsonBody(response: AnsweredResponse): unknown {
  try {
    return parseJson(response.body);
  } catch {
    throw wrongAnswer(response, 'is not JSON');
  }
}

/** The error for a successful response with an unexpected body. @param problem such as `has no bundle ID` */
export function wrongAnswer(
  {request, statusCode: status}: Pick<AnsweredResponse, 'request'> & {readonly statusCode: number | undefined},
  problem: string,
): RuntimeCliError {
  const {method, path} = describeRequest(request.options);
  return createError('ERR_RESPONSE_INVALID', `The response to ${method} ${path} ${problem}.`, {status, method, path});
}
