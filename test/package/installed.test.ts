import {createHash} from 'node:crypto';
import {cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {runCli, type Ended} from '../cli/spawn-cli.js';
import {foldersOf, install, installOptions, packDirectoryPlugin, packHost, root, run} from './install.js';

const consumer = `
import type {BackendsHook} from 'mycli/backend';
import {isRuntimeCliError, pushRuntimeBundle, type PushRuntimeBundleBackendOptions} from 'mycli';
import {createRateLimitMiddleware, type RateLimitMiddlewareConfig} from 'mycli/rate-limit';
import {startLocalRuntime} from 'mycli/testing';

const options: PushRuntimeBundleBackendOptions = {preference: 'auto', projectSlug: 'shop'};
export const push = (): Promise<number | string> => pushRuntimeBundle(options).then(({bundleId}) => bundleId);
// @ts-expect-error A preference is required.
export const incomplete: PushRuntimeBundleBackendOptions = {projectSlug: 'shop'};

const limits: RateLimitMiddlewareConfig = {maxRetries: 1};
export const middleware = createRateLimitMiddleware(limits);
export const hook: BackendsHook = async () => ({
  backends: [
    {
      apiVersion: 1,
      name: 'acme',
      summary: 'Acme',
      formats: ['v2'],
      upload: async (bundle) => ({bundleId: bundle.sha256}),
    },
  ],
});
export const start: typeof startLocalRuntime = startLocalRuntime;
export const isOurs = (error: unknown): string => (isRuntimeCliError(error) ? error.code : '');
`;

const page = '<h1>Lamp &amp; Leaf</h1>';

/** A mycli that was installed somewhere, with a folder of its own for what oclif keeps. */
type Mycli = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;

let folder: string;
/** Where mycli is installed, once for all of this file: an installation takes longer than all that is done with it. */
let host: string;
let pluginTarball: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'mycli-plugins-'));
  host = path.join(folder, 'host');
  const [hostTarball, plugin] = await Promise.all([
    packHost(path.join(folder, 'host-tarball')),
    packDirectoryPlugin(path.join(folder, 'plugin-tarball')),
  ]);
  pluginTarball = plugin;
  await install(host, hostTarball);
  const build = path.join(folder, 'shop/build');
  await mkdir(path.join(build, 'static'), {recursive: true});
  await writeFile(path.join(build, 'ssr.js'), 'export default () => "hello";\n');
  await writeFile(path.join(build, 'static/index.html'), page);
});

afterAll(() => rm(folder, {recursive: true, force: true}));

/** The mycli that is installed, with folders of its own for what it and oclif keep. */
function mycliOf(name: string): Mycli {
  const script = path.join(host, 'node_modules/mycli/bin/run.js');
  const env = foldersOf(path.join(folder, name));
  return (args, more) => runCli(script, args, {cwd: path.join(folder, 'shop'), env: {...env, ...more}});
}

const connection = (store: string) => ['--runtime-backend', 'directory', '--backend-option', `directory=${store}`];

async function backends(mycli: Mycli, env?: Readonly<Record<string, string>>): Promise<readonly {name: string}[]> {
  const {stdout} = await mycli(['backend:list', '--json'], env);
  return JSON.parse(stdout).backends;
}

/** Pushes with a deployment, and looks at what has come out in the folder. */
async function expectPush(mycli: Mycli, store: string): Promise<void> {
  const target = ['--project', 'shop', '--target', 'staging', '--wait'];
  const {code, stdout, stderr} = await mycli(['bundle:push', ...target, ...connection(store), '--json']);
  expect({code, stderr}).toMatchObject({code: 0});
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({backend: 'directory', deployed: true, status: 'finished'});
  const archive = path.join(store, 'shop/targets/staging/current/bundle.tar.gz');
  expect(
    createHash('sha256')
      .update(await readFile(archive))
      .digest('hex'),
  ).toBe(result.archive.sha256);
  expect((await run('tar', ['-xzOf', archive, 'bld/static/index.html'])).stdout).toBe(page);
}

describe('the installed package', () => {
  let installed: string;

  /** Runs the installed binary with an environment of its own. */
  const mycli = (...args: readonly string[]) =>
    run(path.join(host, 'node_modules/.bin/mycli'), args, {cwd: host, env: {PATH: process.env.PATH, HOME: host}});

  beforeAll(() => {
    installed = path.join(host, 'node_modules/mycli');
  });

  test('has a binary that tells its version and explains a command', async () => {
    const {version} = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {version: string};
    expect((await mycli('--version')).stdout).toContain(`mycli/${version} `);
    expect((await mycli('bundle:build', '--help')).stdout).toContain('--build-directory');
  });

  test('has no script, and brings none that npm would run', async () => {
    expect(JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'))).not.toHaveProperty('scripts');
    const lock = JSON.parse(await readFile(path.join(host, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, {hasInstallScript?: true}>;
    };
    const scripted = Object.entries(lock.packages).filter(([, {hasInstallScript}]) => hasInstallScript === true);
    expect(scripted.map(([place]) => place)).toEqual([]);
  });

  test('shows the message and the functions of an error that a program does not catch, also in a pipe', async () => {
    const readme = await readFile(path.join(root, 'README.md'), 'utf8');
    const file = path.join(host, 'example.mjs');
    await writeFile(file, /```ts\n(.*?)```/s.exec(readme)?.[1] ?? 'no example');
    const {code, stderr} = await runCli(file, [], {cwd: host, env: {RUNTIME_KEY: 'key'}});
    expect(code).toBe(1);
    expect(stderr).toContain(`InputError: The build folder ${path.join(host, 'build')} does not exist.\n`);
    expect(stderr).toMatch(/^ +at async planBundle \(/m);
    expect(stderr).toContain("code: 'ERR_BUILD_DIRECTORY'");
    expect(stderr.length).toBeLessThan(5000);
  });

  test('has entries that can be imported', async () => {
    const script = `
      import {pushRuntimeBundle} from 'mycli';
      import {createRateLimitMiddleware} from 'mycli/rate-limit';
      import {startLocalRuntime} from 'mycli/testing';
      import manifest from 'mycli/package.json' with {type: 'json'};
      import schema from 'mycli/schemas/bundle-push.schema.json' with {type: 'json'};
      import document from 'mycli/openapi.json' with {type: 'json'};
      console.log(typeof pushRuntimeBundle, typeof createRateLimitMiddleware, typeof startLocalRuntime, manifest.name);
      console.log(schema.title, document.openapi);`;
    const {stdout} = await run(process.execPath, ['--input-type=module', '--eval', script], {cwd: host});
    expect(stdout).toBe('function function function mycli\nmycli bundle:push --json 3.1.1\n');
  });

  test('has types that a strict program compiles against', async () => {
    await writeFile(path.join(host, 'consumer.ts'), consumer);
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2023'],
      module: 'NodeNext',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [path.join(root, 'node_modules/@types')],
    };
    await writeFile(path.join(host, 'tsconfig.json'), JSON.stringify({compilerOptions, files: ['consumer.ts']}));
    const tsc = path.join(root, 'node_modules/@typescript/native/bin/tsc');
    const {stdout} = await run(process.execPath, [tsc, '-p', host]).catch(
      (error: unknown) => error as {stdout: string},
    );
    expect(stdout).toBe('');
  });

  test('declares every package that its types import, from its entries on', async () => {
    const {dependencies, exports} = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
      exports: Record<string, string | {types: string}>;
    };
    const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.types]));
    const declarations = new Set(entries.map((file) => path.join(installed, file)));
    const imported = new Set<string>();
    for (const file of declarations) {
      const text = await readFile(file, 'utf8');
      for (const [, name = ''] of text.matchAll(/(?:from |import\()['"]([^'"]+)/g)) {
        if (name.startsWith('.')) declarations.add(path.join(path.dirname(file), name.replace(/\.js$/, '.d.ts')));
        else if (/^[@\w]/.test(name) && !name.startsWith('node:')) imported.add(name);
      }
    }
    expect(declarations.size).toBeGreaterThan(50);
    expect([...imported].filter((name) => !(name in dependencies))).toEqual([]);
  });

  test('brings at most 200 packages and 30 MB', async () => {
    const entries = await readdir(path.join(host, 'node_modules'), {recursive: true, withFileTypes: true});
    const manifests = entries.filter(
      ({name, parentPath}) =>
        name === 'package.json' && /[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+$/.test(parentPath),
    );
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(files.map(({name, parentPath}) => stat(path.join(parentPath, name))));
    // What they take of a disk: whole blocks.
    const bytes = sizes.reduce((sum, {size}) => sum + Math.ceil(size / 4096) * 4096, 0);
    expect(manifests.length).toBeGreaterThan(40);
    expect(manifests.length).toBeLessThanOrEqual(200);
    expect(bytes).toBeLessThanOrEqual(30e6);
  });

  test('contains what it needs to run and to be read, and nothing else', async () => {
    expect((await readdir(installed)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'dist',
      'docs',
      'examples',
      'llms.txt',
      'oclif.manifest.json',
      'package.json',
      'skills',
      'templates',
    ]);
  });
});

describe('a plugin that is linked', () => {
  let mycli: Mycli;
  let store: string;

  beforeAll(async () => {
    store = path.join(folder, 'linked-store');
    // Alone: the plugin must not need a mycli beside it.
    await install(path.join(folder, 'alone'), pluginTarball);
    mycli = mycliOf('linking');
  });

  test('is not known before', async () => {
    expect((await backends(mycli)).map(({name}) => name)).toEqual(['api', 'legacy']);
    const {code, stdout} = await mycli(['bundle:push', '--project', 'shop', ...connection(store), '--json']);
    expect({code, error: JSON.parse(stdout).error}).toMatchObject({code: 3, error: {code: 'ERR_BACKEND_UNKNOWN'}});
  });

  test('brings its backend with plugins:link', async () => {
    const plugin = path.join(folder, 'alone/node_modules/mycli-plugin-directory');
    expect(await mycli(['plugins:link', '--no-install', plugin])).toMatchObject({code: 0});
    expect(await backends(mycli)).toContainEqual(
      expect.objectContaining({
        ...{name: 'directory', plugin: 'mycli-plugin-directory', version: '0.1.0'},
        ...{configured: false, missing: ['directory']},
      }),
    );
  });

  test('takes a push and deploys it', () => expectPush(mycli, store));

  test('is gone after plugins:uninstall, and back after plugins:install of its tarball', async () => {
    expect(await mycli(['plugins:uninstall', 'mycli-plugin-directory'])).toMatchObject({code: 0});
    expect((await backends(mycli)).map(({name}) => name)).toEqual(['api', 'legacy']);
    expect(await mycli(['plugins:install', `file://${pluginTarball}`])).toMatchObject({code: 0});
    expect((await backends(mycli)).map(({name}) => name)).toEqual(['api', 'legacy', 'directory']);
  });

  test('is updated, listed, inspected and reset, with the npm that Node brings', async () => {
    expect(await mycli(['plugins:update'])).toMatchObject({code: 0});
    expect((await mycli(['plugins'])).stdout).toContain('mycli-plugin-directory 0.1.0');
    expect((await mycli(['plugins:inspect', 'mycli-plugin-directory'])).stdout).toContain('version 0.1.0');
    const {stdout} = await mycli(['plugins', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({name: 'mycli-plugin-directory', type: 'user'}));
    expect(await mycli(['plugins:reset'])).toMatchObject({code: 0});
    expect((await backends(mycli)).map(({name}) => name)).toEqual(['api', 'legacy']);
  });

  test.each(['file:///nowhere.tgz', 'mycli-plugin-acme'])('is not installed without npm: %s', async (plugin) => {
    const {code, stderr} = await mycli(['plugins:install', plugin], {PATH: folder});
    expect(stderr).toContain('npm is not in PATH.');
    expect(code).toBe(3);
  });

  test.each([
    ['package-lock.json', 'npm'],
    ['yarn.lock', 'yarn'],
  ])('is linked with a %s only with %s, or without its dependencies', async (lockFile, program) => {
    const plugin = path.join(folder, `locked-with-${program}`);
    await cp(path.join(folder, 'alone/node_modules/mycli-plugin-directory'), plugin, {recursive: true});
    await writeFile(path.join(plugin, lockFile), '');
    const {code, stderr} = await mycli(['plugins:link', plugin], {PATH: folder});
    expect(stderr).toContain(`not found: ${program}`);
    expect(code).toBe(1);
    expect(await mycli(['plugins:link', plugin, '--no-install'], {PATH: folder})).toMatchObject({code: 0});
  });
});

describe('a plugin that a project has among its dependencies', () => {
  let mycli: Mycli;

  beforeAll(async () => {
    await run('npm', ['install', ...installOptions, pluginTarball], {cwd: host});
    mycli = mycliOf('project');
  });

  test('takes a push and deploys it, without being linked', () =>
    expectPush(mycli, path.join(folder, 'project-store')));

  test('is left out with MYCLI_SKIP_PLUGINS', async () => {
    const names = (await backends(mycli, {MYCLI_SKIP_PLUGINS: '1'})).map(({name}) => name);
    expect(names).toEqual(['api', 'legacy']);
  });
});

describe('a plugin made with @oclif/core 5', () => {
  test('brings its command and its backend, whose errors are those of a backend', async () => {
    const mycli = mycliOf('newer-oclif');
    const plugin = path.join(folder, 'newer-oclif-plugin');
    await cp(path.join(root, 'test/fixtures/plugins/mycli-plugin-other-core'), plugin, {recursive: true});
    for (const file of ['backends.js', 'commands/old.js']) {
      const text = await readFile(path.join(plugin, file), 'utf8');
      await writeFile(path.join(plugin, file), text.replace('oclif-core-3', '@oclif/core'));
    }
    // Core 5 wants Node 22. On Node 20 it warns, and works.
    await run('npm', ['install', ...installOptions, '--engine-strict=false', '@oclif/core@5'], {cwd: plugin});
    expect(await mycli(['plugins:link', '--no-install', plugin])).toMatchObject({code: 0});
    expect(JSON.parse((await mycli(['old', '--json'])).stdout)).toEqual({how: 'well'});
    const {code, stderr} = await mycli(['bundle:push', '--project', 'shop', '--runtime-backend', 'old']);
    expect(stderr).toContain('The old backend failed while uploading the bundle: the old one is closed.');
    expect(code).toBe(7);
  });
});

describe('a plugin that backend:create has written', () => {
  /** Installs what its package.json names, without npm: mycli as the link that it becomes, the rest as ours. */
  async function installDependencies(plugin: string): Promise<void> {
    const {dependencies, devDependencies} = JSON.parse(await readFile(path.join(plugin, 'package.json'), 'utf8'));
    const modules = path.join(plugin, 'node_modules');
    const link = async (name: string, target: string) => {
      await mkdir(path.dirname(path.join(modules, name)), {recursive: true});
      await symlink(target, path.join(modules, name));
    };
    const mycliPackage = String(devDependencies.mycli).replace('file:', '');
    expect(path.resolve(plugin, mycliPackage)).toBe(path.join(host, 'node_modules/mycli'));
    for (const name of Object.keys({...dependencies, ...devDependencies})) {
      await link(name, name === 'mycli' ? path.resolve(plugin, mycliPackage) : path.join(root, 'node_modules', name));
    }
    await link('.bin', path.join(root, 'node_modules/.bin'));
  }

  test('passes its own tests, and brings its backend', async () => {
    const name = 'typed';
    const mycli = mycliOf(`creating-${name}`);
    const plugin = path.join(folder, 'created', name);
    const {code, stdout, stderr} = await mycli(['backend:create', name, '--dir', plugin, '--json']);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    const {next, files} = JSON.parse(stdout);
    expect(next.slice(1)).toEqual([
      ...['npm install', 'npm test', 'mycli plugins:link --no-install .'],
      `mycli backend:list --runtime-backend ${name}`,
    ]);
    expect((await readdir(plugin, {recursive: true})).map((file) => file.replaceAll(path.sep, '/'))).toEqual(
      expect.arrayContaining(files),
    );
    await installDependencies(plugin);
    const tested = await run('npm', ['test'], {cwd: plugin, env: {PATH: process.env.PATH, HOME: folder}});
    // `#` in the TAP that Node 20 prints without a terminal, `ℹ` in what later ones print.
    expect(tested.stdout).toMatch(/^[#ℹ] pass [2-9]\d$/m);
    expect(tested.stdout).toMatch(/^[#ℹ] skipped 0$/m);
    expect(await mycli(['plugins:link', '--no-install', plugin])).toMatchObject({
      ...{code: 0, stderr: expect.not.stringContaining('Warning')},
    });
    expect(await backends(mycli)).toContainEqual(
      expect.objectContaining({
        ...{name, plugin: `mycli-plugin-${name}`, version: '0.1.0'},
        ...{configured: false, missing: ['url', 'token']},
      }),
    );
  });
});
