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
  for (const runner of ['vitest', 'mocha']) {
    await symlink(path.join(root, 'node_modules', runner), path.join(folder, 'node_modules', runner));
  }
});

afterAll(() => rm(folder, {recursive: true}));

/** Runs a module in the folder, as if from a shell: the runner of this test shows in the environment. */
async function runNode(...args: readonly string[]): Promise<string> {
  const {PATH} = process.env;
  const {stdout} = await run(process.execPath, args, {cwd: folder, env: {PATH, NO_COLOR: '1'}});
  return stdout;
}

test('the example of the guide passes with vitest', async () => {
  const output = await runNode(path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder);
  expect(output).toMatch(/Tests +12 passed \| 13 skipped/);
});

test('one case of the guide runs with vitest -t', async () => {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const output = await runNode(vitest, 'run', '--root', folder, '-t', 'every byte');
  expect(output).toMatch(/Tests +2 passed \| 23 skipped/);
});

test('the example of the guide passes with node --test', async () => {
  const output = await runNode('--test', '--test-reporter=tap', 'test/conformance.node.js');
  expect(output).toContain('# pass 12');
  expect(output).toContain('# fail 0');
  expect(output).toContain('# skipped 13');
  expect(output).toContain('# SKIP a folder has no credentials');
});

test('the example of the guide passes with mocha', async () => {
  const mocha = path.join(root, 'node_modules/mocha/bin/mocha.js');
  const output = await runNode(mocha, '--timeout', '300000', 'test/conformance.mocha.js');
  expect(output).toMatch(/\d+ passing/);
  expect(output).toContain('13 pending');
});

test('a case that fails because something never ends keeps no process from ending', async () => {
  const code = `
    import {backendConformance} from 'mycli/testing';
    import {createBackend} from './src/backend.js';
    import {fixtures} from './test/fixtures.js';
    // An archive in memory is one that is read to its end: what the suite stalls is not.
    const good = createBackend();
    const upload = async (bundle, context) => {
      await bundle.createReadStream().toArray();
      return good.upload(bundle, context);
    };
    const backend = {...good, upload};
    const cases = backendConformance(() => backend, {...fixtures, caseTimeoutMs: 5000});
    const [stalled] = cases.filter(({name}) => name.startsWith('upload (v2): an abort in the middle'));
    await stalled.run().catch((error) => console.log(error.message));
  `;
  await writeFile(path.join(folder, 'never-ends.js'), code);
  expect(await runNode('never-ends.js')).toContain('It went on for a second.');
}, 60_000);

test('the code of the guide passes a strict type check', async () => {
  const tsc = path.join(root, 'node_modules/@typescript/native/bin/tsc');
  const strict = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--skipLibCheck', '--module', 'nodenext'];
  const types = ['--target', 'es2022', '--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types')];
  const files = ['src/backend.js', 'test/fixtures.js', 'test/database-fixtures.js', 'test/conformance.test.js'];
  await runNode(tsc, ...strict, ...types, ...files, 'test/conformance.node.js', 'runtime.js');
});

test('the local runtime of the guide starts and ends', async () => {
  expect(await runNode('runtime.js')).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \S+\n$/);
});
