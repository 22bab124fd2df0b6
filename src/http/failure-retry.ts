import {once} from 'node:events';
import type {RequestError, RetryFunction} from 'got';
import {isRuntimeCliError} from '../errors/index.js';
import {
  HttpCall,
  isBroken,
  isRepeatable,
  maxRepeats,
  statusName,
  type Attempt,
  type RequestOptions,
} from './connection/attempt.js';
import {failureKind, failureReason, isLocalRefusal, knownError, type FailureKind} from './errors/failure.js';
import {isMaintenance, unclearStatuses} from './errors/response-error.js';
import {RequestCount} from './rate-limit/hooks.js';
import {announceRetry, planRetry, type RateLimitMiddlewareConfig, type RateLimitPolicy} from './rate-limit/policy.js';
import type {FailedAttempt, HttpOptions, HttpStream, OpenedStream, RetryEvent, StreamingClient} from './types.js';

/** got's `retry.calculateDelay`, for everything but answered rate limits, which are retried by their hooks. */
export function createFailureRetry(
  policy: RateLimitPolicy,
  config: RateLimitMiddlewareConfig,
  uploadRetries: number,
): RetryFunction {
  return ({error}) => {
    // A hook requested this retry and has already waited. 0 would refuse it.
    if (error.name === 'RetryError') return 1;
    const call = HttpCall.of(error.options.context);
    if (call === undefined || call.failure !== undefined || knownError(error) !== undefined) return 0;
    if (error.options.signal?.aborted) return 0;
    if (isClosedWhenKept(error, call)) {
      call.isStale = true;
      return 1;
    }
    const event = planUnsent(error, call, policy) ?? planRepeat(error, call, {...policy, uploadRetries});
    if (event === undefined) return 0;
    announceRetry(event, config);
    return Math.max(1, event.delayMs);
  };
}

/** Whether a server closed a kept connection just as a request was sent: that is no failure, and nobody is told. */
function isClosedWhenKept(error: RequestError, {attempt, isStale}: HttpCall): boolean {
  return attempt.isKept && !isStale && error.response === undefined && failureKind(error) === 'lost';
}

/** What no retry helps against, although nothing was sent. A proxy has refused the tunnel. */
const lasting: ReadonlySet<FailureKind> = new Set(['unknown-host', 'certificate', 'proxy', 'not-http']);

/** Whether there was no connection, and the next attempt may get one. */
function isUnconnected(error: Error, options: Pick<RequestOptions, 'url'>, attempt: Attempt): boolean {
  if (!attempt.started || attempt.connected) return false;
  return !lasting.has(failureKind(error)) && !isLocalRefusal(error, options, attempt);
}

/** The retry of a request that was not carried out: it was rate-limited, or there was no connection. */
function planUnsent(error: RequestError, call: HttpCall, policy: RateLimitPolicy): RetryEvent | undefined {
  const {options, response} = error;
  const status = response?.statusCode;
  // The status alone is a rate limit, even if the rest of its answer was cut off.
  const isLimit = error.name !== 'HTTPError' && status !== undefined && policy.statusCodes.includes(status);
  const {attempt} = call;
  const isUnsent = status === undefined && isUnconnected(error, options, attempt);
  if (!isLimit && !isUnsent) return undefined;
  const count = RequestCount.of(options.context);
  const reason = isLimit ? statusName(status) : failureReason(error);
  const event = planRetry({...failureOf(error), retries: count.retries, reason}, policy);
  if (event !== undefined) count.retries += 1;
  return event;
}

/** The repetition of a read that failed or whose answer was lost, or of an upload that broke off. */
function planRepeat(
  error: RequestError,
  call: HttpCall,
  {uploadRetries, ...policy}: RateLimitPolicy & {readonly uploadRetries: number},
): RetryEvent | undefined {
  const {options, response} = error;
  const {attempt} = call;
  const status = response?.statusCode;
  const kind = failureKind(error);
  const isRead = isRepeatable(options);
  const isSentAgain = isBroken(options, attempt) && !isMaintenance(response);
  if (!(isRead || isSentAgain) || error.name === 'ParseError') return undefined;
  const hasFailed =
    status !== undefined &&
    (isRead ? status >= 500 : status === 503 || unclearStatuses.has(status)) &&
    !policy.statusCodes.includes(status);
  const isLost =
    (status === undefined || (isRead && status >= 200 && status < 300)) &&
    attempt.started &&
    (kind === 'lost' || kind === 'stalled');
  if (!hasFailed && !isLost) return undefined;
  const reason = hasFailed ? statusName(status) : failureReason(error);
  const limits = {...policy, maxRetries: isRead ? maxRepeats : uploadRetries};
  const event = planRetry({...failureOf(error), retries: call.repeats, reason}, limits);
  if (event === undefined) return undefined;
  call.repeats += 1;
  call.mayBeDone ||= attempt.mayBeWhole;
  return event;
}

function failureOf({response}: RequestError) {
  return {status: response?.statusCode, retryAfter: response?.headers['retry-after']};
}

/** Requests something that is read as a stream, again until a response begins: got retries no streams. */
export async function openStream(
  http: StreamingClient,
  url: URL | string,
  headers: NonNullable<HttpOptions['headers']>,
  waitToRetry: (attempt: FailedAttempt) => Promise<boolean>,
): Promise<OpenedStream> {
  for (let retries = 0; ; retries += 1) {
    // Those of got have their options.
    const body = http.stream(url, {headers}) as HttpStream & {readonly options: RequestOptions};
    // A response can fail as soon as it has begun, before anyone listens for errors.
    const failures: unknown[] = [];
    body.on('error', (error) => failures.push(error));
    try {
      await once(body, 'response');
      if (failures.length > 0) throw failures[0];
      return {body, status: body.response?.statusCode ?? 0, headers: body.response?.headers ?? {}};
    } catch (error) {
      body.destroy();
      const attempt = failedAttempt(error, retries, body);
      if (attempt === undefined || !(await waitToRetry(attempt))) throw error;
    }
  }
}

function failedAttempt(
  error: unknown,
  retries: number,
  {options, response}: HttpStream & {readonly options: RequestOptions},
): FailedAttempt | undefined {
  const attempt = HttpCall.of(options.context)?.attempt;
  if (!isRuntimeCliError(error) || !attempt?.started) return undefined;
  const {message: reason, status, cause} = error;
  const failure = status === undefined && cause instanceof Error ? cause : undefined;
  const isUnsent = failure !== undefined && isUnconnected(failure, options, attempt);
  const isLost = failure === undefined ? (status ?? 0) >= 500 : ['lost', 'stalled'].includes(failureKind(failure));
  return {
    retries,
    reason,
    status,
    retryAfter: response?.headers['retry-after'],
    retryable: isUnsent || (isLost && retries < maxRepeats),
  };
}
