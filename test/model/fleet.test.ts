import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {fleetTable} from './fleet.js';

/** Without the spaces and dashes that align the columns. */
const unaligned = (table: string) => table.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-');

test('a fleet, 1,000 and 20 at a time: the guide has its table', async () => {
  const guide = await readFile(new URL('../../docs/guides/many-projects.md', import.meta.url), 'utf8');
  expect(unaligned(guide)).toContain(fleetTable(1000, 20));
});

test('a fleet, 3 at a time: all succeed with the defaults', () => {
  expect(fleetTable(3)).not.toMatch(/ (?!1000)\d+ in /);
});
