import type {Options, RequestError, RetryFunction} from 'got';
import {Call, isRepeatable} from './connection/call.js';
import {failureKind, failureReason, knownError} from './errors/failure.js';
import {announceRetry} from './rate-limit/announce.js';
import {RequestCount} from './rate-limit/hooks.js';
import {planRetry, type RateLimitMiddlewareConfig, type RateLimitPolicy} from './rate-limit/policy.js';
import {statusName} from './status-name.js';
import type {RetryEvent} from './types.js';

/** How often a request that changes nothing is repeated after a failure. */
const maxRepeats = 2;

/**
 * The failures that are not an answer to wait upon, as got's `retry.calculateDelay`: requests that were never sent are
 * retried like a rate limit, those that change nothing are repeated twice, no other is.
 */
export function createFailureRetry(policy: RateLimitPolicy, config: RateLimitMiddlewareConfig): RetryFunction {
  return ({error}) => {
    // A hook asked for the retry, and has waited already; 0 would refuse it.
    if (error.name === 'RetryError') return 1;
    const call = Call.of(error.options.context);
    if (call === undefined || call.failure !== undefined || knownError(error) !== undefined) return 0;
    if (error.options.signal?.aborted) return 0;
    const event = planFailureRetry(error, error.options, call, policy);
    if (event === undefined) return 0;
    announceRetry(event, config);
    return Math.max(1, event.delayMs);
  };
}

function planFailureRetry(
  error: RequestError,
  options: Options,
  call: Call,
  policy: RateLimitPolicy,
): RetryEvent | undefined {
  const {statusCode: status, headers} = error.response ?? {};
  const retryAfter = headers?.['retry-after'];
  const kind = failureKind(error);
  const cutLimit = error.name !== 'HTTPError' && status !== undefined && policy.statusCodes.includes(status);
  if (cutLimit || (kind === 'unreachable' && !call.attempt.connected)) {
    const count = RequestCount.of(options.context);
    const reason = cutLimit ? statusName(status) : failureReason(error);
    const event = planRetry({retries: count.retries, reason, status, retryAfter}, policy);
    if (event !== undefined) count.retries += 1;
    return event;
  }
  const failedServer = status !== undefined && status >= 500 && !policy.statusCodes.includes(status);
  const lost =
    (status === undefined || (status >= 200 && status < 300)) &&
    call.attempt.started &&
    (kind === 'lost' || kind === 'stalled');
  if (!isRepeatable(options) || !(failedServer || lost) || error.name === 'ParseError') return undefined;
  const reason = failedServer ? statusName(status) : failureReason(error);
  const event = planRetry({retries: call.repeats, reason, status, retryAfter}, {...policy, maxRetries: maxRepeats});
  if (event !== undefined) call.repeats += 1;
  return event;
}
