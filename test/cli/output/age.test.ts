import {expect, test} from 'vitest';
import {describeAge} from '../../../src/cli/output/age.js';

test.each([
  [-5000, 'now'],
  [0, 'now'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3 * 3_600_000 + 1, '3 hours ago'],
  [25 * 3_600_000, '1 day ago'],
  [400 * 86_400_000, '1 year ago'],
])('%i milliseconds are %s', (age, text) => {
  const now = new Date('2026-11-21T10:00:00Z');
  expect(describeAge(new Date(now.getTime() - age).toISOString(), now)).toBe(text);
});
