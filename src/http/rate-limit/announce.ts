import type {RetryEvent} from '../types.js';
import type {RateLimitLogger, RateLimitMiddlewareConfig} from './policy.js';

/** Tells a wait: to the log, then to `onRetry`. */
export function announceRetry(event: RetryEvent, config: RateLimitMiddlewareConfig): void {
  rateLimitLogger(config).info(`${tag(config)} ${describeRetry(event, `${event.delayMs} ms`)}`);
  config.onRetry?.(event);
}

/**
 * A wait in words: `429 Too Many Requests: retry 1 of 3 in 1200 ms`.
 * @param left how long it takes from now on.
 */
export function describeRetry({reason, attempt, maxRetries, requestedMs}: RetryEvent, left: string): string {
  const cut = requestedMs === undefined ? '' : `; the server asked for ${requestedMs} ms`;
  return `${reason}: retry ${attempt} of ${maxRetries} in ${left}${cut}`;
}

/** Warns that a request is not sent again. */
export function warnNotRetried(why: string, config: RateLimitMiddlewareConfig): void {
  rateLimitLogger(config).warn(`${tag(config)} not retried: ${why}`);
}

function tag({prefix}: RateLimitMiddlewareConfig): string {
  return prefix ? `[${prefix} RATE]` : '[RATE]';
}

function rateLimitLogger({logger}: RateLimitMiddlewareConfig): RateLimitLogger {
  // eslint-disable-next-line no-console -- a middleware that was given no logger has no other place for its log
  const warn = (message: string) => console.warn(message);
  return logger ?? {info: warn, warn};
}
