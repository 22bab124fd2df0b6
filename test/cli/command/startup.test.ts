import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import nodeModule from 'node:module';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli} from '../spawn-cli.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mycli-startup-'));
});
afterEach(() => rm(folder, {recursive: true}));

interface Loaded {
  /** Names of npm packages that were looked up in node_modules. */
  readonly installed: readonly string[];
  /** Names of npm packages that are part of a file of ours. */
  readonly bundled: readonly string[];
  /** Our own modules: paths of their sources, and of files in bin, below the repository. */
  readonly modules: readonly string[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What a run has loaded, from what V8 says it has covered. */
async function loadedBy(args: readonly string[], cwd?: string): Promise<Loaded> {
  // The folders of whoever runs the tests are none of their business: a plugin may be installed there.
  const env = {NODE_V8_COVERAGE: join(folder, 'coverage'), HOME: folder, XDG_CACHE_HOME: folder};
  const ended = await runCli(binary, args, {...(cwd === undefined ? {} : {cwd}), env});
  expect(ended).toMatchObject({code: 0});
  const installed = new Set<string>();
  const bundled = new Set<string>();
  const modules = new Set<string>();
  for (const name of await readdir(join(folder, 'coverage'))) {
    const {result} = JSON.parse(await readFile(join(folder, 'coverage', name), 'utf8')) as {result: {url: string}[]};
    for (const {url} of result.filter((script) => script.url.startsWith('file:'))) {
      const file = relative(root, fileURLToPath(url)).replaceAll('\\', '/');
      const name = packageOf(file);
      if (name !== undefined) installed.add(name);
      else if (file.startsWith('dist/')) {
        for (const source of await sourcesOf(file)) {
          const part = packageOf(source);
          if (part === undefined) modules.add(source);
          else bundled.add(part);
        }
      } else modules.add(file);
    }
  }
  return {installed: [...installed].sort(), bundled: [...bundled].sort(), modules: [...modules].sort()};
}

function packageOf(file: string): string | undefined {
  return /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
}

/** What the bundler made a file of: it says so before each part. */
async function sourcesOf(file: string): Promise<readonly string[]> {
  const text = await readFile(join(root, file), 'utf8');
  return [...text.matchAll(/^\s*\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(([, source = '']) => source);
}

/** What only pushing, packing, serving or the user's own code need. */
const heavy = new Set([
  ...['archiver', 'busboy', 'fast-glob', 'got', 'http-proxy-agent', 'https-proxy-agent', 'jiti', 'listr2'],
  ...['tar-stream', 'typescript', 'valibot'],
]);
const workers =
  /^src\/(?:progress|operations|bundle|backends|testing|modules\/(?!import-module)|http\/(?!redact|rate-limit\/policy))/;

test.runIf('enableCompileCache' in nodeModule)(
  'compiled code is kept in the folder for caches of the user',
  async () => {
    await runCli(binary, ['--help'], {env: {HOME: folder}});
    expect((await readdir(join(folder, '.cache/mycli/compiled'), {recursive: true})).length).toBeGreaterThan(1);
  },
);

test('a cache that cannot be kept changes nothing', async () => {
  await writeFile(join(folder, '.cache'), 'not a folder');
  expect(await runCli(binary, ['--help'], {env: {HOME: folder}})).toMatchObject({code: 0, stderr: ''});
});

describe('what only looks', () => {
  test.each([[['--help']], [['bundle:push', '--help']], [['bundle']]])(
    '%j looks for no package, and loads none that it does not need',
    async (args) => {
      const {installed, bundled, modules} = await loadedBy(args);
      expect(installed).toEqual([]);
      expect(bundled).toContain('@oclif/core');
      expect(bundled.filter((name) => heavy.has(name))).toEqual([]);
      expect(modules.filter((module) => workers.test(module) || module.startsWith('src/commands/'))).toEqual([]);
    },
  );

  test.each([[['autocomplete:create']], [['autocomplete:script', 'bash']]])(
    '%j, which is a plugin with an oclif of its own, loads nothing heavy',
    async (args) => {
      const {installed, bundled, modules} = await loadedBy(args);
      expect(installed).toContain('@oclif/plugin-autocomplete');
      expect([...installed, ...bundled].filter((name) => heavy.has(name))).toEqual([]);
      expect(modules.filter((module) => workers.test(module))).toEqual([]);
    },
  );
});
