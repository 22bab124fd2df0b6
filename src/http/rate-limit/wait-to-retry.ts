import type {FailedAttempt} from '../types.js';
import {announceRetry} from './announce.js';
import {planRetry, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './policy.js';
import {wait} from './wait.js';

/**
 * The policy of the middleware for clients that retry by themselves, those of an SDK for example: a function that waits
 * before each retry.
 * @returns Resolves with whether to send the request again: false when the status is not retried, no retries are left,
 * or `signal` is aborted.
 * @throws TypeError naming the field of `config` that has a wrong value.
 */
export function createRetryWait(
  config: RateLimitMiddlewareConfig,
  signal: AbortSignal,
): (attempt: FailedAttempt) => Promise<boolean> {
  const policy = resolveRateLimitPolicy(config);
  return async ({retries, reason, status, retryAfter, limited = false}) => {
    if (!limited && (status === undefined || !policy.statusCodes.includes(status))) return false;
    const event = planRetry({retries, reason, status, retryAfter}, policy);
    if (event === undefined || signal.aborted) return false;
    announceRetry(event, config);
    return wait(event.delayMs, signal);
  };
}
