import {expect, test} from 'vitest';
import {describeAge} from '../../../src/cli/render/push.js';

test.each([
  [-5000, 'now'],
  [0, 'now'],
  [59_999, '59 seconds ago'],
  [60_000, '1 minute ago'],
  [3 * 3_600_000 + 1, '3 hours ago'],
  [25 * 3_600_000, 'yesterday'],
  [400 * 86_400_000, '400 days ago'],
])('%i milliseconds are %s', (age, text) => {
  const now = new Date('2026-11-21T10:00:00Z');
  expect(describeAge(new Date(now.getTime() - age).toISOString(), now)).toBe(text);
});
