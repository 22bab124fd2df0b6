import {expect, test} from 'vitest';
import {describeDuration, describeRetry} from '../../src/tasks/describe.js';

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
  expect(describeRetry(event, 11_400)).toBe('rate limited (429), next try in 12 s, attempt 2 of 3');
  const refused = {attempt: 1, maxRetries: 3, delayMs: 1000, reason: 'connection refused'};
  expect(describeRetry(refused, 1000)).toBe('connection refused, next try in 1 s, attempt 1 of 3');
});
