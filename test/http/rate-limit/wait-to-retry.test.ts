import {getEventListeners} from 'node:events';
import {describe, expect, test} from 'vitest';
import {createRetryWait, delay} from '../../../src/http/rate-limit/wait.js';
import type {RetryEvent} from '../../../src/http/types.js';

/** The wait of a client, and what it tells. */
function createWait(config: Parameters<typeof createRetryWait>[0] = {}, signal = new AbortController().signal) {
  const log: string[] = [];
  const events: RetryEvent[] = [];
  const logger = {info: (message: string) => log.push(message), warn: (message: string) => log.push(message)};
  const wait = createRetryWait(
    {baseDelayMs: 1, prefix: 'S3', logger, onRetry: (event) => events.push(event), ...config},
    signal,
  );
  return {wait, log, events};
}

describe('the wait of a client with its own retries', () => {
  test('is granted for a status that is retried, and told', async () => {
    const {wait, log, events} = createWait();
    expect(await wait({retries: 0, status: 429, reason: '429 TooManyRequests', retryAfter: '0'})).toBe(true);
    expect(log).toEqual(['[S3 RATE] 429 TooManyRequests: retry 1 of 3 in 0 ms']);
    expect(events).toMatchObject([{attempt: 1, maxRetries: 3, delayMs: 0, status: 429}]);
  });

  test('leaves nothing behind on a signal that outlives it', async () => {
    const {signal} = new AbortController();
    await createWait({}, signal).wait({retries: 0, status: 429, reason: '429'});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test.each([
    ['refused for another status', {retries: 0, status: 503, reason: '503 ServiceUnavailable'}, false],
    ['refused for none', {retries: 0, reason: 'ECONNRESET'}, false],
    ['refused when no retries are left', {retries: 3, status: 429, reason: '429'}, false],
    [
      'granted for what the service calls a limit',
      {retries: 2, status: 503, reason: '503 SlowDown', retryable: true},
      true,
    ],
  ])('is %s', async (_, failure, granted) => {
    const {wait, log} = createWait();
    expect(await wait(failure)).toBe(granted);
    expect(log).toHaveLength(granted ? 1 : 0);
  });

  test('never exceeds the limit, whatever the server asks for', async () => {
    const {wait, events} = createWait({maxDelayMs: 2});
    expect(await wait({retries: 0, status: 429, reason: '429', retryAfter: '3600'})).toBe(true);
    expect(events).toMatchObject([{delayMs: 2, requestedMs: 3_600_000}]);
  });

  test('ends with the signal, and then nothing is to be sent', async () => {
    const controller = new AbortController();
    const {wait, events} = createWait({baseDelayMs: 30_000}, controller.signal);
    const waiting = wait({retries: 0, status: 429, reason: '429'});
    controller.abort();
    expect(await waiting).toBe(false);
    expect(await wait({retries: 0, status: 429, reason: '429'})).toBe(false);
    expect(events).toHaveLength(1);
  });
});

test('delay: a signal that is aborted already leaves nothing to wait for', async () => {
  expect(await delay(600_000, AbortSignal.abort())).toBe(false);
});
