import {describe, expect, test} from 'vitest';
import {calculateRetryDelay, parseRetryAfter, resolveRateLimitPolicy} from '../../../src/http/rate-limit/index.js';
import {announceRetry} from '../../../src/http/rate-limit/policy.js';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

describe('parseRetryAfter', () => {
  test.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['Sat, 21 Nov 2026 12:00:05 GMT', 5000],
    ['Saturday, 21-Nov-26 12:00:05 GMT', 5000],
    ['Sat Nov 21 12:00:05 2026', 5000],
    ['Sun Nov  1 12:00:00 2026', 0],
    ['Fri, 20 Nov 2026 12:00:00 GMT', 0],
    ['99999999999999999999', 99999999999999999999 * 1000],
  ])('reads %j as %d ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  test.each([
    '',
    'soon',
    '-5',
    '1.5',
    '1e3',
    '0x10',
    '٣',
    '2026-11-21T12:00:05Z',
    '1, 2',
    'Sat, 99 Nov 2026 12:00:05 GMT',
    'Sat, 21 Nov 2026 24:00:05 GMT',
    'Sat, 21 Nov 2026 12:00:05 GMT.',
    'Sat, 21 Nov 2026 12:00:5 GMT',
    null,
  ])('takes %j for missing', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });
});

describe('calculateRetryDelay', () => {
  const policy = {baseDelayMs: 1000, maxDelayMs: 30_000};

  test.each([
    [0, 1000],
    [1, 2000],
    [4, 16_000],
    [5, 30_000],
    [5000, 30_000],
  ])('doubles the base delay: before retry %d it waits %d ms', (attempt, expected) => {
    expect(calculateRetryDelay({attempt, now, random: 0}, policy)).toEqual({delayMs: expected});
  });

  test('adds up to 20 % of jitter', () => {
    expect(calculateRetryDelay({attempt: 1, now, random: 0.999999}, policy)).toEqual({delayMs: 2400});
  });
});

test('calculateRetryDelay: what the server asks for is cut above the limit', () => {
  const delayFor = (retryAfter: string) =>
    calculateRetryDelay({attempt: 0, retryAfter, now, random: 0}, {baseDelayMs: 1000, maxDelayMs: 30_000});
  expect(delayFor('30')).toEqual({delayMs: 30_000});
  expect(delayFor('31')).toEqual({delayMs: 30_000, requestedMs: 31_000});
});

test.each([
  [true, '[shop RATE] 429: retry 1 of 3 in 5 ms'],
  [false, '[shop RETRY] 429: retry 1 of 3 in 5 ms'],
])('announceRetry: the log tells a rate limit (%s) from another failure', (rateLimited, line) => {
  const lines: string[] = [];
  const log = (text: string) => void lines.push(text);
  const event = {attempt: 1, maxRetries: 3, delayMs: 5, reason: '429', rateLimited};
  announceRetry(event, {prefix: 'shop', logger: {info: log, warn: log}});
  expect(lines).toEqual([line]);
});

describe('resolveRateLimitPolicy', () => {
  test('has the defaults of the interface', () => {
    expect(resolveRateLimitPolicy()).toEqual({
      maxRetries: 3,
      baseDelayMs: 1000,
      maxDelayMs: 30_000,
      statusCodes: [429],
    });
  });

  test.each([
    ['maxRetries', -1],
    ['maxRetries', 1.5],
    ['maxRetries', Infinity],
    ['maxRetries', NaN],
    ['baseDelayMs', -1],
    ['baseDelayMs', NaN],
    ['baseDelayMs', Infinity],
    ['maxDelayMs', -1],
    ['maxDelayMs', NaN],
    ['maxDelayMs', 2 ** 31],
    ['maxDelayMs', '5'],
    ['statusCodes', [200]],
    ['statusCodes', [399]],
    ['statusCodes', [600]],
    ['statusCodes', [429, '503']],
    ['statusCodes', [429.5]],
    ['statusCodes', 429],
    ['prefix', 1],
    ['fetch', 'fetch'],
  ])('refuses %s = %j: it names the field, what it takes and what it was given', (field, value) => {
    expect(() => resolveRateLimitPolicy({[field]: value})).toThrow(TypeError);
    const told = `^rateLimit.${field} must be \\w.*, not ${String(value)}\\.$`;
    expect(() => resolveRateLimitPolicy({[field]: value})).toThrow(new RegExp(told));
  });

  test.each([
    ['maxRetries', 0],
    ['baseDelayMs', 0],
    ['maxDelayMs', 0],
    ['maxDelayMs', 2 ** 31 - 1],
    ['statusCodes', []],
    ['statusCodes', [400, 599]],
  ])('takes %s = %j', (field, value) => {
    expect(resolveRateLimitPolicy({[field]: value})).toMatchObject({[field]: value});
  });

  test('refuses a key that is unknown, and names a near one', () => {
    const config = {maxRetries: 3, baseDelay: 1};
    expect(() => resolveRateLimitPolicy(config)).toThrow(
      new TypeError('rateLimit has an unknown key: baseDelay (did you mean baseDelayMs?).'),
    );
    const all = {prefix: 'x', fetch, logger: console, onRetry: () => undefined};
    expect(resolveRateLimitPolicy({...all, ...resolveRateLimitPolicy()})).toEqual(resolveRateLimitPolicy());
  });

  test.each([null, 3, 'fast'])('%j in its place is a TypeError that names it', (config) => {
    expect(() => Reflect.apply(resolveRateLimitPolicy, undefined, [config])).toThrow(
      new TypeError('rateLimit must be an object.'),
    );
  });
});
