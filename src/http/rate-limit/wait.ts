import type {FailedAttempt} from '../types.js';
import {announceRetry, planRetry, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './policy.js';

/**
 * Waits until the time has passed or `signal` is aborted.
 * @returns Whether the time passed; false immediately on abort.
 */
export async function delay(delayMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return false;
  return new Promise((resolve) => {
    const end = (passed: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(passed);
    };
    const onAbort = () => end(false);
    const timer = setTimeout(() => end(true), delayMs);
    signal?.addEventListener('abort', onAbort);
  });
}

/**
 * The middleware's policy for clients with their own retry loop, such as an SDK's: a function that waits before each
 * retry.
 * @returns Resolves with whether to retry: false when the status is not retried, no retries are left or `signal` is
 * aborted.
 * @throws TypeError naming the field of `config` that has a wrong value.
 */
export function createRetryWait(
  config: RateLimitMiddlewareConfig,
  signal: AbortSignal,
): (attempt: FailedAttempt) => Promise<boolean> {
  const policy = resolveRateLimitPolicy(config);
  return async ({retries, reason, status, retryAfter, retryable = false}) => {
    if (!retryable && (status === undefined || !policy.statusCodes.includes(status))) return false;
    const event = planRetry({retries, reason, status, retryAfter}, policy);
    if (event === undefined || signal.aborted) return false;
    announceRetry(event, config);
    return delay(event.delayMs, signal);
  };
}
