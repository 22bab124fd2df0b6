import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {fleetTable} from './fleet.js';

const guide = new URL('../../docs/guides/many-projects.md', import.meta.url);

test.each([1000, 20])('a fleet, %i at a time: the guide has its table', async (atOnce) => {
  expect(await readFile(guide, 'utf8')).toContain(fleetTable(atOnce));
});

test('a fleet, 3 at a time: all succeed with the defaults', () => {
  expect(fleetTable(3)).not.toMatch(/ (?!1000)\d+ in /);
});
