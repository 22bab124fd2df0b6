import {expect, test} from 'vitest';
import {describeAge, describeTime} from '../../src/text/age.js';

test.each([
  [47.5 * 3_600_000, 'in 1 day'],
  [29 * 60_000, 'in 29 minutes'],
  [500, 'now'],
  [-60_000, '1 minute ago'],
])('a time %i milliseconds from now is %s', (distance, text) => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  expect(describeTime(new Date(now + distance).toISOString(), now)).toBe(text);
});

test.each([
  [-5000, 'now'],
  [0, 'now'],
  [59_999, '59 seconds ago'],
  [60_000, '1 minute ago'],
  [3 * 3_600_000 + 1, '3 hours ago'],
  [25 * 3_600_000, '1 day ago'],
  [400 * 86_400_000, '1 year ago'],
])('an age of %i milliseconds is %s', (age, text) => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  expect(describeAge(new Date(now - age).toISOString(), now)).toBe(text);
});
