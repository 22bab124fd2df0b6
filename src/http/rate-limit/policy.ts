import type {RetryEvent} from '../types.js';
import {parseRetryAfter} from './retry-after.js';

/** Where the waits are told. */
export interface RateLimitLogger {
  /** A wait. */
  info(message: string): void;
  /** A request that cannot be sent again. */
  warn(message: string): void;
}

/** How requests are retried when the server limits the rate. */
export interface RateLimitMiddlewareConfig {
  /**
   * Most retries after a rate-limit response; a whole number, so there is always a last one (Limits 1).
   * @default 3
   */
  readonly maxRetries?: number | undefined;
  /**
   * First wait without a `Retry-After` header, milliseconds; doubled for every retry (Limits 2).
   * @default 1000
   */
  readonly baseDelayMs?: number | undefined;
  /**
   * Longest wait, milliseconds, whatever the server asks for (Limits 3). At most 2147483647, the longest a timer takes.
   * @default 30000
   */
  readonly maxDelayMs?: number | undefined;
  /**
   * Statuses that are retried (Limits 1). 503 is not among them, to avoid surprising retries during maintenance.
   * @default [429]
   */
  readonly statusCodes?: readonly number[] | undefined;
  /** Stands in front of `RATE` in log messages: `[prefix RATE]`. */
  readonly prefix?: string | undefined;
  /**
   * Sends the retries of the middleware when its context has no re-dispatch helper (Limits 4).
   * @default the global `fetch`, looked up when it is needed
   */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Where waits are logged.
   * @default `console.warn`, so that stdout stays clean
   */
  readonly logger?: RateLimitLogger | undefined;
  /** Called before every wait. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** The numbers of a `RateLimitMiddlewareConfig`, checked and complete. */
export interface RateLimitPolicy {
  readonly maxRetries: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly statusCodes: readonly number[];
}

const longestTimerMs = 2_147_483_647;

/**
 * Checks a configuration and fills in the defaults.
 * @throws TypeError naming the field that has a wrong value.
 */
export function resolveRateLimitPolicy(config: RateLimitMiddlewareConfig = {}): RateLimitPolicy {
  // Callers without types may give null.
  if (!isObject(config)) throw new TypeError('rateLimit must be an object');
  const {maxRetries = 3, baseDelayMs = 1000, maxDelayMs = 30_000, statusCodes = [429], prefix, fetch} = config;
  check(Number.isInteger(maxRetries) && maxRetries >= 0, 'maxRetries', 'a whole number, 0 or more', maxRetries);
  check(Number.isFinite(baseDelayMs) && baseDelayMs >= 0, 'baseDelayMs', 'a number of milliseconds', baseDelayMs);
  check(maxDelayMs >= 0 && maxDelayMs <= longestTimerMs, 'maxDelayMs', `between 0 and ${longestTimerMs}`, maxDelayMs);
  check(Array.isArray(statusCodes) && statusCodes.every(isStatus), 'statusCodes', 'a list of 100 to 599', statusCodes);
  check(prefix === undefined || typeof prefix === 'string', 'prefix', 'a string', prefix);
  check(fetch === undefined || typeof fetch === 'function', 'fetch', 'a function', fetch);
  return {maxRetries, baseDelayMs, maxDelayMs, statusCodes: [...statusCodes]};
}

/** What a wait depends on. */
export interface RetryDelayInput {
  /** Retries made so far: 0 before the first. */
  readonly attempt: number;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | null | undefined;
  /** The current time, milliseconds since the epoch. */
  readonly now: number;
  /** At least 0, less than 1. */
  readonly random: number;
}

/**
 * How long to wait before a retry (Limits 2, 3 and 5): what `Retry-After` says, else `baseDelayMs * 2^attempt` with up
 * to 20 % added as jitter; never more than `maxDelayMs`.
 * @returns `requestedMs`: what the server asked for, when that was cut.
 */
export function calculateRetryDelay(
  {attempt, retryAfter, now, random}: RetryDelayInput,
  {baseDelayMs, maxDelayMs}: Pick<RateLimitPolicy, 'baseDelayMs' | 'maxDelayMs'>,
): {readonly delayMs: number; readonly requestedMs?: number} {
  const requestedMs = parseRetryAfter(retryAfter, now);
  if (requestedMs !== undefined)
    return requestedMs > maxDelayMs ? {delayMs: maxDelayMs, requestedMs} : {delayMs: requestedMs};
  // Beyond 2^31 any base is over the longest timer; a power that overflows would turn a base of 0 into NaN.
  const backoffMs = baseDelayMs * 2 ** Math.min(attempt, 31) * (1 + 0.2 * random);
  return {delayMs: Math.min(Math.round(backoffMs), maxDelayMs)};
}

/** Plans the next retry; undefined when there are none left. */
export function planRetry(
  failure: Pick<RetryEvent, 'reason' | 'status'> & {
    /** Retries made so far. */
    readonly retries: number;
    readonly retryAfter?: string | null | undefined;
  },
  policy: RateLimitPolicy,
): RetryEvent | undefined {
  const {retries, retryAfter, status, reason} = failure;
  if (retries >= policy.maxRetries) return undefined;
  const delay = calculateRetryDelay({attempt: retries, retryAfter, now: Date.now(), random: Math.random()}, policy);
  return {attempt: retries + 1, maxRetries: policy.maxRetries, ...delay, status, reason};
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isStatus(value: number): boolean {
  return Number.isInteger(value) && value >= 100 && value <= 599;
}

function check(valid: boolean, field: string, expected: string, actual: unknown): void {
  if (!valid) throw new TypeError(`rateLimit.${field} must be ${expected}, not ${String(actual)}`);
}
