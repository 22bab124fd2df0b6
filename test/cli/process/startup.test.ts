import {chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises';
import nodeModule from 'node:module';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {privateFolder} from '../../../src/cli/process/code-cache.js';
import {binary, runCli} from '../spawn-cli.js';
import {createPluginBench} from '../with-plugins.js';

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

/** Node 22 and newer keep compiled code themselves. */
const hasCompileCache = 'enableCompileCache' in nodeModule;
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

describe('compiled code', () => {
  const kept = () => join(folder, 'caches/mycli/compiled');
  /** On Node 20. */
  const ownPlace = () => join(kept(), `${process.version}-${process.arch}`);
  const help = async () => runCli(binary, ['--help'], {env: {HOME: folder, XDG_CACHE_HOME: join(folder, 'caches')}});

  test('is kept in the folder for caches', async () => {
    await help();
    expect((await readdir(kept(), {recursive: true})).length).toBeGreaterThan(1);
  });

  test.skipIf(hasCompileCache)('is used again, and replaced when it is damaged or of other code', async () => {
    const {stdout} = await help();
    const place = ownPlace();
    const files = await readdir(place);
    expect(files).toContain('chunks-start.cjs.code');
    const inodes = () => Promise.all(files.map(async (file) => (await stat(join(place, file))).ino));
    const before = await inodes();
    expect(await help()).toMatchObject({code: 0, stdout});
    expect(await inodes()).toEqual(before);
    const [start, run] = [join(place, 'chunks-start.cjs.code'), join(place, 'cli-process-run.cjs.code')];
    const good = await readFile(start);
    // What a process that was killed has left.
    await writeFile(`${start}.1`, '');
    await utimes(`${start}.1`, 0, 0);
    for (const damaged of [good.subarray(0, good.length / 2), Buffer.alloc(0), await readFile(run)]) {
      await writeFile(start, damaged);
      expect(await help()).toMatchObject({code: 0, stdout, stderr: ''});
      expect((await readFile(start)).equals(damaged)).toBe(false);
    }
    expect(await readdir(place)).toEqual(files);
  });

  test.skipIf(hasCompileCache)(
    'grows when a new kind of command line has run, once, and not when it failed',
    async () => {
      const env = {HOME: folder, XDG_CACHE_HOME: join(folder, 'caches')};
      const sizeAfter = async (...args: readonly string[]): Promise<number> => {
        await runCli(binary, args, {env, cwd: folder});
        return (await stat(join(ownPlace(), 'chunks-start.cjs.code'))).size;
      };
      const kindsFile = () => join(ownPlace(), 'kinds');
      const kinds = async (): Promise<readonly string[]> => (await readFile(kindsFile(), 'utf8')).split('\n');
      const first = await sizeAfter('--help');
      expect(await sizeAfter('config:show', '--misspelled')).toBe(first);
      expect(await kinds()).toHaveLength(1);
      const more = await sizeAfter('config:show', '-C', '.', '--api-key=secret');
      expect(more).toBeGreaterThan(first);
      const known = await kinds();
      expect(known).toHaveLength(2);
      for (const kind of known) expect(kind).toMatch(/^[\da-f]{8}$/);
      await sizeAfter('config:show', '--api-key', 'other', '-C.');
      await sizeAfter('config:show', '--api-key', 'other', '-C.', '-C', '.');
      expect(await kinds()).toEqual(known);
      await sizeAfter('__complete', '--', 'push', '--w');
      await sizeAfter('__complete', '--', 'push', '--wa');
      expect(await kinds()).toHaveLength(3);
      await sizeAfter('config:show');
      expect(await kinds()).toHaveLength(4);
      // Anything that is no kind is passed over, and a file that is missing is written again.
      await writeFile(kindsFile(), ['garbage', ...known].join('\n'));
      await writeFile(`${kindsFile()}.1`, '');
      await utimes(`${kindsFile()}.1`, 0, 0);
      await sizeAfter('config:show');
      expect(await kinds()).toHaveLength(3);
      expect(await readdir(ownPlace())).not.toContain('kinds.1');
      await rm(join(ownPlace(), 'chunks-start.cjs.code'));
      await sizeAfter('--help');
      expect(await kinds()).toHaveLength(3);
      // As if it were of another version.
      await writeFile(join(ownPlace(), 'chunks-start.cjs.code'), 'other');
      await sizeAfter('--help');
      expect(await kinds()).toHaveLength(1);
      await writeFile(kindsFile(), Array.from({length: 100}, () => '00000000').join('\n'));
      await sizeAfter('config:show');
      expect(await kinds()).toHaveLength(100);
    },
  );

  describe('is kept in no folder', () => {
    const other = 4321;
    const uid = process.getuid?.();
    const place = () => join(folder, 'caches/mycli');

    test('that others can write to, or within one that they can replace', async () => {
      expect(privateFolder(place(), uid)).toBe(place());
      await chmod(place(), 0o1777);
      expect(privateFolder(place(), uid)).toBeUndefined();
      expect(privateFolder(join(place(), 'own'), uid)).toBe(join(place(), 'own'));
      await chmod(place(), 0o777);
      expect(privateFolder(join(place(), 'own'), uid)).toBeUndefined();
    });

    test('of another user, where it makes none', async () => {
      if (uid === 0) await chown(folder, other, other);
      const reader = uid === 0 ? uid : other;
      expect(privateFolder(place(), reader)).toBeUndefined();
      expect(await readdir(folder)).toEqual([]);
    });

    test('of the project, where a relative path leads', async () => {
      const env = {HOME: folder, XDG_CACHE_HOME: 'caches'};
      expect(await runCli(binary, ['--help'], {cwd: folder, env})).toMatchObject({code: 0, stderr: ''});
      expect(await readdir(folder)).toEqual(['.cache']);
    });
  });

  test('imports plugins that are ES modules', async () => {
    await using bench = await createPluginBench('acme');
    const env = {HOME: folder, XDG_CACHE_HOME: join(folder, 'caches'), ...bench.env};
    for (const time of ['first', 'second']) {
      const {code, stdout, stderr} = await runCli(binary, ['backend:list', '--json'], {cwd: bench.project, env});
      expect([time, code, stderr]).toEqual([time, 0, '']);
      expect(stdout).toContain('"acme"');
    }
  });
});

test('a cache that cannot be kept changes nothing', async () => {
  await writeFile(join(folder, 'caches'), 'not a folder');
  const env = {HOME: folder, XDG_CACHE_HOME: join(folder, 'caches')};
  expect(await runCli(binary, ['--help'], {env})).toMatchObject({code: 0, stderr: ''});
});

test('--version loads two modules beside the binary, and no package', async () => {
  expect(await loadedBy(['--version'])).toEqual({
    installed: [],
    bundled: [],
    modules: ['bin/run.js', 'src/cli/process/code-cache.ts', 'src/cli/process/start.ts', 'src/version.ts'],
  });
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

test('building a bundle loads no HTTP client', async () => {
  const project = join(folder, 'project');
  await mkdir(join(project, 'build'), {recursive: true});
  await writeFile(join(project, 'build/ssr.js'), '');
  const {installed, bundled, modules} = await loadedBy(['bundle:build', '--quiet'], project);
  expect(installed).toEqual([]);
  expect(modules).toContain('src/bundle/archive/pack.ts');
  expect(bundled.filter((name) => ['archiver', 'got'].includes(name))).toEqual(['archiver']);
});
