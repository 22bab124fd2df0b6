import type {FailedAttempt} from '../types.js';
import {announceRetry, planRetry, resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from './policy.js';

/** Waits, and resolves to whether the time has passed: false at once on abort. */
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

/** For clients with their own retry loop, such as an SDK's: waits, and resolves to whether to retry. */
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
