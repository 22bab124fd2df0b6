import type {RequestError, RetryFunction} from 'got';
import {Call, isRepeatable, maxRepeats, statusName} from './connection/call.js';
import {failureKind, failureReason, isLocalRefusal, knownError} from './errors/failure.js';
import {RequestCount} from './rate-limit/hooks.js';
import {announceRetry, planRetry, type RateLimitMiddlewareConfig, type RateLimitPolicy} from './rate-limit/policy.js';
import type {RetryEvent} from './types.js';

/**
 * got's `retry.calculateDelay`, for everything but answered rate limits: requests that were never sent are retried like
 * a rate limit, safe ones are repeated, others never.
 */
export function createFailureRetry(policy: RateLimitPolicy, config: RateLimitMiddlewareConfig): RetryFunction {
  return ({error}) => {
    // A hook requested this retry and has already waited. 0 would refuse it.
    if (error.name === 'RetryError') return 1;
    const call = Call.of(error.options.context);
    if (call === undefined || call.failure !== undefined || knownError(error) !== undefined) return 0;
    if (error.options.signal?.aborted) return 0;
    const event = planUnsent(error, call, policy) ?? planRepeat(error, call, policy);
    if (event === undefined) return 0;
    announceRetry(event, config);
    return Math.max(1, event.delayMs);
  };
}

/** The retry of a request that the server has not begun: it was rate-limited or nothing listened. */
function planUnsent(error: RequestError, call: Call, policy: RateLimitPolicy): RetryEvent | undefined {
  const {options, response} = error;
  const status = response?.statusCode;
  // The status alone is a rate limit, even if the rest of its answer was cut off.
  const isLimit = error.name !== 'HTTPError' && status !== undefined && policy.statusCodes.includes(status);
  const isRefused =
    failureKind(error) === 'unreachable' && !call.attempt.connected && !isLocalRefusal(error, options, call.attempt);
  if (!isLimit && !isRefused) return undefined;
  const count = RequestCount.of(options.context);
  const reason = isLimit ? statusName(status) : failureReason(error);
  const event = planRetry({...failureOf(error), retries: count.retries, reason}, policy);
  if (event !== undefined) count.retries += 1;
  return event;
}

/** The repetition of a request that changes nothing, because the server failed or its answer was lost. */
function planRepeat(error: RequestError, call: Call, policy: RateLimitPolicy): RetryEvent | undefined {
  const status = error.response?.statusCode;
  const kind = failureKind(error);
  const hasFailed = status !== undefined && status >= 500 && !policy.statusCodes.includes(status);
  const isLost =
    (status === undefined || (status >= 200 && status < 300)) &&
    call.attempt.started &&
    (kind === 'lost' || kind === 'stalled');
  if (!isRepeatable(error.options) || !(hasFailed || isLost) || error.name === 'ParseError') return undefined;
  const reason = hasFailed ? statusName(status) : failureReason(error);
  const limits = {...policy, maxRetries: maxRepeats};
  const event = planRetry({...failureOf(error), retries: call.repeats, reason}, limits);
  if (event !== undefined) call.repeats += 1;
  return event;
}

function failureOf({response}: RequestError) {
  return {status: response?.statusCode, retryAfter: response?.headers['retry-after']};
}
