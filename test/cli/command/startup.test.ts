import {chown, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import nodeModule from 'node:module';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli} from '../spawn-cli.js';
import {makeFolder} from '../../folder.js';

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});

interface Loaded {
  /** Names of npm packages that were looked up in node_modules. */
  readonly packages: readonly string[];
  /** Our own files, below the repository. */
  readonly files: readonly string[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What a run has loaded, from what V8 says it has covered. */
async function loadedBy(args: readonly string[]): Promise<Loaded> {
  // The folders of whoever runs the tests are none of their business: a plugin may be installed there.
  const env = {NODE_V8_COVERAGE: join(folder, 'coverage'), HOME: folder, XDG_CACHE_HOME: folder};
  expect(await runCli(binary, args, {env})).toMatchObject({code: 0});
  const loaded: string[] = [];
  for (const name of await readdir(join(folder, 'coverage'))) {
    const {result} = JSON.parse(await readFile(join(folder, 'coverage', name), 'utf8')) as {result: {url: string}[]};
    for (const {url} of result) {
      if (url.startsWith('file:')) loaded.push(relative(root, fileURLToPath(url)).replaceAll('\\', '/'));
    }
  }
  const packages = new Set(
    loaded.flatMap((file) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []),
  );
  return {packages: [...packages], files: loaded.filter((file) => !file.includes('node_modules/')).sort()};
}

test.runIf('enableCompileCache' in nodeModule)(
  'compiled code is kept in the folder for caches of the user',
  async () => {
    await runCli(binary, ['--help'], {env: {HOME: folder}});
    const kept = join(folder, '.cache/mycli/compiled');
    const names = await readdir(kept, {recursive: true});
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(kept, name))).size));
    // What every command loads first is the largest. Others have 3 kB.
    expect(Math.max(...sizes)).toBeGreaterThan(20_000);
    if (process.getuid?.() !== 0) return;
    // Nothing is kept in, nor taken from, what belongs to another user.
    await rm(kept, {recursive: true});
    await chown(dirname(kept), 12_345, 12_345);
    await runCli(binary, ['--help'], {env: {HOME: folder}});
    expect(await readdir(dirname(kept))).toEqual([]);
  },
);

test('a cache that cannot be kept changes nothing', async () => {
  await writeFile(join(folder, '.cache'), 'not a folder');
  expect(await runCli(binary, ['--help'], {env: {HOME: folder}})).toMatchObject({code: 0, stderr: ''});
});

describe('what only looks', () => {
  /** What every command loads, what pushes do, and the commands themselves. */
  const working = /^dist\/(?:chunks\/(?:command|pipeline)\.js|commands\/)/;

  test.each([[['--help']], [['bundle:push', '--help']], [['bundle']]])(
    '%j looks for no package, and loads nothing that only commands need',
    async (args) => {
      const {packages, files} = await loadedBy(args);
      expect(packages).toEqual([]);
      expect(files).toContain('dist/chunks/start.js');
      expect(files.filter((file) => working.test(file))).toEqual([]);
    },
  );
});
