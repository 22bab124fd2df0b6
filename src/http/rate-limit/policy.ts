import {isRecord} from '../../text/json.js';
import {didYouMean} from '../../text/suggest.js';
import {statusName} from '../connection/attempt.js';
import type {RetryEvent} from '../types.js';

/** Where waits are reported. */
export interface RateLimitLogger {
  /** A wait. */
  info(message: string): void;
  /** A request that cannot be sent again. */
  warn(message: string): void;
}

/** How to retry requests that the server rate-limits. */
export interface RateLimitMiddlewareConfig {
  /** Maximum number of retries after a rate-limit response. @default 3 */
  readonly maxRetries?: number | undefined;
  /** First delay without a `Retry-After` header, in milliseconds; doubled on each retry. @default 1000 */
  readonly baseDelayMs?: number | undefined;
  /** Maximum delay in milliseconds, whatever the server requests; at most 2147483647. @default 30000 */
  readonly maxDelayMs?: number | undefined;
  /** Statuses to retry, from 400 to 599. 503 is not included, because of maintenance. @default [429] */
  readonly statusCodes?: readonly number[] | undefined;
  /** Precedes `RATE` in log messages: `[prefix RATE]`. */
  readonly prefix?: string | undefined;
  /** Sends retries if the middleware's context has no `fetch`. @default the global `fetch`, looked up when needed */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Logs waits. @default `console.warn`, so that stdout stays clean */
  readonly logger?: RateLimitLogger | undefined;
  /** Called before every wait. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** The validated values of a `RateLimitMiddlewareConfig`, with defaults. */
export interface RateLimitPolicy {
  /** How often a request is sent again. */
  readonly maxRetries: number;
  /** The wait before the first retry, without a `Retry-After`. */
  readonly baseDelayMs: number;
  /** No wait is longer. */
  readonly maxDelayMs: number;
  /** Statuses that are waited for. */
  readonly statusCodes: readonly number[];
}

/** The policy of an empty configuration. */
export const defaultRateLimit: RateLimitPolicy = {
  maxRetries: 3,
  baseDelayMs: 1000,
  maxDelayMs: 30_000,
  statusCodes: [429],
};

const fields = ['maxRetries', 'baseDelayMs', 'maxDelayMs', 'statusCodes', 'prefix', 'fetch', 'logger', 'onRetry'];

const longestTimerMs = 2_147_483_647;

/** What a value must be. `expected` completes "must be". */
type Rule<Value> = readonly [expected: string, accepts: (value: Value) => boolean];

/** The rules of numbers, which settings share. */
export const rateLimitRules = {
  maxRetries: ['a non-negative integer', (value) => Number.isSafeInteger(value) && value >= 0],
  baseDelayMs: ['a non-negative number of milliseconds', (value) => Number.isFinite(value) && value >= 0],
  maxDelayMs: [
    `a number of milliseconds from 0 to ${longestTimerMs}`,
    (value) => Number.isFinite(value) && value >= 0 && value <= longestTimerMs,
  ],
  status: ['an HTTP status from 400 to 599', (value) => Number.isInteger(value) && value >= 400 && value <= 599],
} as const satisfies Readonly<Record<string, Rule<number>>>;

/**
 * Validates a configuration and applies the defaults.
 * @throws TypeError naming the field that has a wrong value, or is unknown.
 */
export function resolveRateLimitPolicy(config: RateLimitMiddlewareConfig = {}): RateLimitPolicy {
  // Callers without types may pass null.
  const value: unknown = config;
  if (!isRecord(value)) throw new TypeError('rateLimit must be an object.');
  const key = Object.keys(value).find((name) => !fields.includes(name));
  if (key !== undefined) throw new TypeError(`rateLimit has an unknown key: ${key}${didYouMean(key, fields)}.`);
  const {
    maxRetries = defaultRateLimit.maxRetries,
    baseDelayMs = defaultRateLimit.baseDelayMs,
    maxDelayMs = defaultRateLimit.maxDelayMs,
    statusCodes = defaultRateLimit.statusCodes,
    prefix,
    fetch,
  } = config;
  check('maxRetries', maxRetries, rateLimitRules.maxRetries);
  check('baseDelayMs', baseDelayMs, rateLimitRules.baseDelayMs);
  check('maxDelayMs', maxDelayMs, rateLimitRules.maxDelayMs);
  const areStatuses = Array.isArray(statusCodes) && statusCodes.every(rateLimitRules.status[1]);
  check('statusCodes', statusCodes, ['an array of HTTP statuses from 400 to 599', () => areStatuses]);
  check('prefix', prefix, ['a string', (value) => value === undefined || typeof value === 'string']);
  check('fetch', fetch, ['a function', (value) => value === undefined || typeof value === 'function']);
  return {maxRetries, baseDelayMs, maxDelayMs, statusCodes: [...statusCodes]};
}

/** What a delay depends on. */
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

/** The wait before a retry: `Retry-After`, else `baseDelayMs * 2^attempt` plus up to 20 %; at most `maxDelayMs`. */
export function calculateRetryDelay(
  {attempt, retryAfter, now, random}: RetryDelayInput,
  {baseDelayMs, maxDelayMs}: Pick<RateLimitPolicy, 'baseDelayMs' | 'maxDelayMs'>,
): {
  /** How long to wait, in milliseconds. */
  readonly delayMs: number;
  /** What the server requested, in milliseconds, if that was cut. */
  readonly requestedMs?: number;
} {
  const requestedMs = parseRetryAfter(retryAfter, now);
  if (requestedMs !== undefined)
    return requestedMs > maxDelayMs ? {delayMs: maxDelayMs, requestedMs} : {delayMs: requestedMs};
  // Beyond 2^31, any base exceeds the longest timer, and an overflowing power would turn a base of 0 into NaN.
  const backoffMs = baseDelayMs * 2 ** Math.min(attempt, 31) * (1 + 0.2 * random);
  return {delayMs: Math.min(Math.round(backoffMs), maxDelayMs)};
}

/** Plans the next retry; undefined when none are left. */
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
  const rateLimited = status !== undefined && policy.statusCodes.includes(status);
  return {attempt: retries + 1, maxRetries: policy.maxRetries, ...delay, status, rateLimited, reason};
}

/** Plans the retry of a request that was answered with `status`; undefined if it is not limited, or none are left. */
export function planLimited(
  status: number,
  retries: number,
  retryAfter: string | null | undefined,
  policy: RateLimitPolicy,
): RetryEvent | undefined {
  if (!policy.statusCodes.includes(status)) return undefined;
  return planRetry({retries, retryAfter, status, reason: statusName(status)}, policy);
}

function check<Value>(field: string, value: Value, [expected, accepts]: Rule<Value>): void {
  if (!accepts(value)) throw new TypeError(`rateLimit.${field} must be ${expected}, not ${String(value)}.`);
}

/** The three forms of an HTTP date. All are in UTC, although the third does not say so. */
const httpDate =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|(\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}))$/;

/** The time of day in all of them. `Date.parse` accepts much more, but not 60 seconds. */
const timeOfDay = / (?:[01]\d|2[0-3])(?::[0-5]\d){2} /;

/**
 * How long a `Retry-After` header asks us to wait.
 * @param value - The header: seconds or an HTTP date. Two-digit years are 1950 to 2049.
 * @param now - The current time, milliseconds since the epoch.
 * @returns Milliseconds, 0 for a past date; undefined when the header is missing or invalid.
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const match = httpDate.exec(text);
  if (match === null || !timeOfDay.test(text)) return undefined;
  const date = Date.parse(match[1] === undefined ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Reports a wait to the log, then to `onRetry`. */
export function announceRetry(event: RetryEvent, config: RateLimitMiddlewareConfig): void {
  const what = event.rateLimited === true ? 'RATE' : 'RETRY';
  rateLimitLogger(config).info(`${tag(config, what)} ${describeRetry(event, `${event.delayMs} ms`)}`);
  config.onRetry?.(event);
}

/** Describes a wait: `429 Too Many Requests: retry 1 of 3 in 1200 ms`, where `left` is the remaining time. */
export function describeRetry({reason, attempt, maxRetries, requestedMs}: RetryEvent, left: string): string {
  const cut = requestedMs === undefined ? '' : `; the server asked for ${requestedMs} ms`;
  return `${reason.replace(/\.$/, '')}: retry ${attempt} of ${maxRetries} in ${left}${cut}`;
}

export function warnNotRetried(why: string, config: RateLimitMiddlewareConfig): void {
  rateLimitLogger(config).warn(`${tag(config, 'RATE')} Not retried: ${why}.`);
}

/** `[RATE]` for a rate limit, `[RETRY]` for any other failure. */
function tag({prefix}: RateLimitMiddlewareConfig, what: 'RATE' | 'RETRY'): string {
  return prefix ? `[${prefix} ${what}]` : `[${what}]`;
}

function rateLimitLogger({logger}: RateLimitMiddlewareConfig): RateLimitLogger {
  // oxlint-disable-next-line no-console -- a middleware that was given no logger has no other place for its log
  const warn = (message: string) => console.warn(message);
  return logger ?? {info: warn, warn};
}
