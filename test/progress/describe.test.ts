import {expect, test} from 'vitest';
import {describeRetry} from '../../src/http/rate-limit/announce.js';
import {describeDuration} from '../../src/progress/describe.js';

test.each([
  [0, '0 ms'],
  [84.6, '85 ms'],
  [1000, '1 s'],
  [2345, '2.3 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [245_000, '4 min 5 s'],
])('%d ms are %s', (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});

test('a retry tells why, how long it takes from now on, and how many there may be', () => {
  const event = {attempt: 2, maxRetries: 3, delayMs: 12_000, status: 429, reason: '429 Too Many Requests'};
  expect(describeRetry(event, '12 s')).toBe('429 Too Many Requests: retry 2 of 3 in 12 s');
  expect(describeRetry({...event, requestedMs: 60_000}, '12000 ms')).toBe(
    '429 Too Many Requests: retry 2 of 3 in 12000 ms; the server asked for 60000 ms',
  );
});
