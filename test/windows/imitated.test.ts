import {chmod, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli} from '../cli/spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../cli/with-runtime.js';

let bench: RuntimeBench;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'});
});
afterEach(() => bench[Symbol.asyncDispose]());

/** Runs the binary where `imitation`, a file of this folder, takes part of Windows' place. */
function mycli(imitation: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const preload = JSON.stringify(fileURLToPath(new URL(imitation, import.meta.url)));
  // For a login, which reads it there.
  const stdin = bench.runtime.credentials.apiKey;
  const all = {...bench.env, ...env, NODE_OPTIONS: `--require=${preload}`};
  return runCli(binary, args, {cwd: bench.project, env: all, stdin});
}

describe.skipIf(process.platform !== 'linux')('what Windows allows of an open file is enough', () => {
  test('to push, download, inspect and compare a bundle', async () => {
    for (const message of ['first', 'second']) {
      expect(await mycli('rights.cjs', ['bundle:push', '--message', message])).toMatchObject({code: 0});
    }
    expect(await mycli('rights.cjs', ['bundle:download', '1'])).toMatchObject({code: 0});
    expect(await mycli('rights.cjs', ['bundle:inspect', '1'])).toMatchObject({code: 0});
    expect(await mycli('rights.cjs', ['bundle:diff', '1', '2'])).toMatchObject({code: 0});
    expect((await readdir(bench.project)).sort()).toEqual(['build', 'bundle-1.tar']);
  });

  test('to begin a download again whose part does not belong to the bundle', async () => {
    await mycli('rights.cjs', ['bundle:push', '--v2']);
    const [part, state] = ['one.part', 'one.part.json'].map((name) => join(bench.project, name));
    await writeFile(String(part), 'of another archive');
    const identity = {backend: 'legacy', projectSlug: 'shop', bundleId: '1', validator: '"other"'};
    await writeFile(String(state), JSON.stringify(identity), {mode: 0o600});
    expect(await mycli('rights.cjs', ['bundle:download', '1', '--output', 'one'])).toMatchObject({code: 0});
    expect((await readFile(join(bench.project, 'one'))).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });
});

describe('a file that another program has open for a moment', () => {
  test('is replaced by a build, a download, a login and the outputs of a step', async () => {
    const pushed = await mycli('held-files.cjs', ['bundle:push', '--v2', '--output-env', 'out.env']);
    expect(pushed).toMatchObject({code: 0, stderr: expect.not.stringContaining('EPERM') as string});
    for (const args of [
      ['bundle:build', '--output', 'built.tgz'],
      ['bundle:download', '1', '--output', 'loaded.tgz'],
      ['auth:login'],
    ]) {
      expect(await mycli('held-files.cjs', args)).toMatchObject({code: 0});
    }
    expect((await readdir(bench.project)).sort()).toEqual([
      'build',
      'built.tgz',
      'built.tgz.json',
      'loaded.tgz',
      'out.env',
    ]);
  });

  test('is received and deployed by a local runtime', async () => {
    const push = ['bundle:push', '--target', 'staging', '--wait'];
    const command = [process.execPath, binary, ...push];
    expect(await mycli('held-files.cjs', ['runtime:start', '--data', 'data', '--', ...command])).toMatchObject({
      code: 0,
    });
    expect(await readdir(join(bench.project, 'data/bundles/1'))).toContain('contents.json');
  });

  test('is named if it stays open', async () => {
    const ended = await mycli('held-files.cjs', ['bundle:build', '--output', 'built.tgz'], {HELD_FOREVER: '1'});
    expect(ended).toMatchObject({code: 3, stderr: expect.stringContaining('built.tgz cannot be written') as string});
    expect(await readdir(bench.project)).toEqual(['build']);
  });
});

test('a link that the system does not make is a copy of what it leads to', async () => {
  const push = ['bundle:push', '--target', 'staging', '--wait'];
  await symlink('index.html', join(bench.project, 'build/static/latest.html'));
  await symlink('static', join(bench.project, 'build/newest'));
  await symlink('nowhere', join(bench.project, 'build/missing'));
  const command = ['runtime:start', '--data', 'data', '--', process.execPath, binary, ...push];
  expect(await mycli('no-links.cjs', command)).toMatchObject({code: 0});
  const [site = ''] = await readdir(join(bench.project, 'data/sites'));
  for (const name of ['static/latest.html', 'newest/index.html']) {
    expect(await readFile(join(bench.project, 'data/sites', site, name), 'utf8')).toBe('<h1>hello</h1>\n');
  }
});

test('where files have no modes, those that begin as programs do are executable', async () => {
  const files = ['ssr.js', 'static/index.html'].map((name) => join(bench.project, 'build', name));
  const script = join(bench.project, 'build/start.sh');
  await writeFile(script, '#!/bin/sh\n');
  for (const file of [script, ...files]) await chmod(file, 0o755);
  const build = (output: string) => ['bundle:build', '--output', join(bench.project, output)];
  expect(await mycli('no-modes.cjs', build('mounted.tgz'))).toMatchObject({code: 0});
  for (const file of files) await chmod(file, 0o644);
  expect(await mycli('no-modes.cjs', build('linux.tgz'))).toMatchObject({code: 0});
  const [mounted, linux] = await Promise.all(
    ['mounted.tgz', 'linux.tgz'].map((name) => readFile(join(bench.project, name))),
  );
  expect(mounted?.equals(linux ?? Buffer.of())).toBe(true);
});
