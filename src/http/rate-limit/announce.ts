import type {RetryEvent} from '../types.js';
import type {RateLimitLogger, RateLimitMiddlewareConfig} from './policy.js';

/** Tells a wait: to the log, then to `onRetry`. */
export function announceRetry(event: RetryEvent, config: RateLimitMiddlewareConfig): void {
  const {reason, attempt, maxRetries, delayMs, requestedMs} = event;
  const cut = requestedMs === undefined ? '' : `; the server asked for ${requestedMs} ms`;
  rateLimitLogger(config).info(`${tag(config)} ${reason}: retry ${attempt} of ${maxRetries} in ${delayMs} ms${cut}`);
  config.onRetry?.(event);
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
