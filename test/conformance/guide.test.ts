import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from 'vitest';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
let folder: string;

/** A package with the files that the guide shows, each under the name in its first line. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'mycli-guide-'));
  const guide = await readFile(path.join(root, 'docs/guides/test-a-backend.md'), 'utf8');
  for (const [, code = ''] of guide.matchAll(/```js\n(.*?)```/gs)) {
    const name = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? 'runtime.js';
    await mkdir(path.dirname(path.join(folder, name)), {recursive: true});
    await writeFile(path.join(folder, name), code);
  }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({type: 'module'}));
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(root, path.join(folder, 'node_modules/mycli'));
  await symlink(path.join(root, 'node_modules/vitest'), path.join(folder, 'node_modules/vitest'));
});

afterAll(() => rm(folder, {recursive: true}));

/** Runs a module in the folder, as if from a shell: the runner of this test shows in the environment. */
async function runNode(...args: readonly string[]): Promise<string> {
  const {PATH} = process.env;
  const {stdout} = await run(process.execPath, args, {cwd: folder, env: {PATH, NO_COLOR: '1'}});
  return stdout;
}

test('the example of the guide passes with vitest', async () => {
  const output = await runNode(
    path.join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--test-timeout',
    '300000',
    '--root',
    folder,
  );
  expect(output).toMatch(/Tests +28 passed \| 5 skipped/);
});

test('the example of the guide passes with node --test', async () => {
  const output = await runNode('--test', '--test-reporter=tap', 'test/conformance.node.js');
  expect(output).toContain('# pass 28');
  expect(output).toContain('# fail 0');
  expect(output).toContain('# skipped 5');
  expect(output).toContain('# SKIP a folder has no credentials');
  expect(output).toContain('# SKIP The service of the fixtures has no countUploads(), which this case needs.');
});

test('the local runtime of the guide starts and ends', async () => {
  expect(await runNode('runtime.js')).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \S+\n$/);
});
