import {execFileSync} from 'node:child_process';
import {cpSync, readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {makeFolder} from '../folder.js';
import {root} from '../package/install.js';

test('llms.txt says of each page what its first sentence says', async () => {
  const copy = await makeFolder();
  const parts = ['package.json', 'docs/guides', 'docs/reference', 'scripts/llms-text.js'];
  for (const part of parts) cpSync(path.join(root, part), path.join(copy, part), {recursive: true});
  execFileSync(process.execPath, ['scripts/llms-text.js'], {cwd: copy});
  const made = readFileSync(path.join(copy, 'llms.txt'), 'utf8');
  expect(readFileSync(path.join(root, 'llms.txt'), 'utf8')).toBe(made);
});
