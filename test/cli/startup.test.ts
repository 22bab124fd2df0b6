import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli} from './spawn-cli.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mycli-startup-'));
});
afterEach(() => rm(folder, {recursive: true}));

interface Loaded {
  /** Names of npm packages that were looked up in node_modules. */
  readonly packages: readonly string[];
  /** Our own modules: paths below the repository. */
  readonly modules: readonly string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a run has loaded, from what V8 says it has covered. */
async function loadedBy(args: readonly string[], cwd?: string): Promise<Loaded> {
  // The folders of whoever runs the tests are none of their business: a plugin may be installed there.
  const env = {NODE_V8_COVERAGE: join(folder, 'coverage'), HOME: folder, XDG_CACHE_HOME: folder};
  const ended = await runCli(binary, args, {...(cwd === undefined ? {} : {cwd}), env});
  expect(ended).toMatchObject({code: 0});
  const packages = new Set<string>();
  const modules: string[] = [];
  for (const name of await readdir(join(folder, 'coverage'))) {
    const {result} = JSON.parse(await readFile(join(folder, 'coverage', name), 'utf8')) as {result: {url: string}[]};
    for (const {url} of result) {
      const [, installed] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
      if (installed !== undefined) packages.add(installed);
      else if (url.startsWith('file:')) modules.push(relative(root, fileURLToPath(url)).replaceAll('\\', '/'));
    }
  }
  return {packages: [...packages].sort(), modules: modules.sort()};
}

/** What only pushing, packing, serving or the user's own code need. */
const heavy = new Set([
  ...['archiver', 'busboy', 'fast-glob', 'got', 'http-proxy-agent', 'https-proxy-agent', 'jiti', 'listr2'],
  ...['tar-stream', 'typescript', 'valibot'],
]);
const workers = /^dist\/(?:tasks|operations|bundle|backends|testing|modules|http\/(?!redact))/;

test('--version loads one module beside the binary, and no package', async () => {
  expect(await loadedBy(['--version'])).toEqual({
    packages: [],
    modules: ['bin/run.js', 'bin/start.js', 'dist/cli/start.js', 'dist/version.js'],
  });
});

describe('what only looks', () => {
  test.each([[['--help']], [['bundle:push', '--help']], [['bundle']]])(
    '%j loads oclif in one file, and no package that it does not need',
    async (args) => {
      const {packages, modules} = await loadedBy(args);
      expect(packages).toEqual(['ci-info', 'fastest-levenshtein']);
      expect(modules).toContain('dist/cli/oclif.js');
      expect(modules.filter((module) => workers.test(module) || module.startsWith('dist/commands/'))).toEqual([]);
    },
  );

  test.each([[['autocomplete:create']], [['autocomplete:script', 'bash']]])(
    '%j, which is a plugin with an oclif of its own, loads nothing heavy',
    async (args) => {
      const {packages, modules} = await loadedBy(args);
      expect(packages).toContain('@oclif/plugin-autocomplete');
      expect(packages.filter((name) => heavy.has(name))).toEqual([]);
      expect(modules.filter((module) => workers.test(module))).toEqual([]);
    },
  );
});

test('the file of oclif has nothing heavy in it', async () => {
  const text = await readFile(join(root, 'dist/cli/oclif.js'), 'utf8');
  // The bundler says before each module where it comes from.
  const bundled = new Set(text.match(/(?<=^\s*\/\/ node_modules\/)(?:@[^/]+\/)?[^/\n]+/gm));
  expect([...bundled]).toContain('@oclif/core');
  expect([...bundled].filter((name) => heavy.has(name))).toEqual([]);
});

test('building a bundle loads no backend and no HTTP client', async () => {
  await mkdir(join(folder, 'project/build'), {recursive: true});
  await writeFile(join(folder, 'project/build/ssr.js'), '');
  const {packages, modules} = await loadedBy(['bundle:build', '--quiet'], join(folder, 'project'));
  expect(modules).toContain('dist/bundle/index.js');
  expect(packages.filter((name) => ['got', 'listr2', 'jiti'].includes(name))).toEqual([]);
  expect(modules.filter((module) => /^dist\/(?:backends|http\/(?!redact|origin))/.test(module))).toEqual([]);
});
