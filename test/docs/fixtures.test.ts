import {readFile} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {expect, test} from 'vitest';

const root = resolve(import.meta.dirname, '../..');

test('the backend contract lists every fixture of the conformance suite', async () => {
  const source = await readFile(join(root, 'src/conformance/fixtures.ts'), 'utf8');
  const page = await readFile(join(root, 'docs/reference/backend-contract.md'), 'utf8');
  const [, chapter = ''] = page.split('## Fixtures of the conformance suite');
  const members = ['ConformanceFixtures', 'ConformanceService'].flatMap((name) => {
    const [, body = ''] = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(source) ?? [];
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member);
  });
  expect(members.length).toBeGreaterThan(20);
  expect(members.filter((member) => !new RegExp(`\`${member}\\b`).test(chapter))).toEqual([]);
});
