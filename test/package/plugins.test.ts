import {createHash} from 'node:crypto';
import {mkdir, mkdtemp, readFile, readdir, readlink, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {runCli, type Ended} from '../cli/spawn-cli.js';
import {foldersOf, install, pack, packDirectoryPlugin, root, run} from './install.js';

const page = '<h1>Lamp &amp; Leaf</h1>';

/** A mycli that was installed somewhere, with a folder of its own for what oclif keeps. */
type Mycli = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;

let folder: string;
let hostTarball: string;
let pluginTarball: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'mycli-plugins-'));
  [hostTarball, pluginTarball] = await Promise.all([
    pack(root, path.join(folder, 'host')),
    packDirectoryPlugin(path.join(folder, 'plugin')),
  ]);
  const build = path.join(folder, 'shop/build');
  await mkdir(path.join(build, 'static'), {recursive: true});
  await writeFile(path.join(build, 'ssr.js'), 'export default () => "hello";\n');
  await writeFile(path.join(build, 'static/index.html'), page);
}, 180_000);

afterAll(() => rm(folder, {recursive: true, force: true}));

/** Installs tarballs into an empty folder, and gives the mycli in it. */
async function installed(name: string, ...tarballs: readonly string[]): Promise<Mycli> {
  const place = path.join(folder, name);
  await install(place, ...tarballs);
  const script = path.join(place, 'node_modules/mycli/bin/run.js');
  return (args, env) => runCli(script, args, {cwd: path.join(folder, 'shop'), env: {...foldersOf(place), ...env}});
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

describe('a plugin that is linked', {timeout: 120_000}, () => {
  let mycli: Mycli;
  let store: string;

  beforeAll(async () => {
    store = path.join(folder, 'linked-store');
    // Alone: the plugin must not need a mycli beside it.
    await install(path.join(folder, 'alone'), pluginTarball);
    mycli = await installed('linking', hostTarball);
  }, 120_000);

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
        ...{configured: false, missing: ['directory (--backend-option directory=PATH)']},
      }),
    );
  });

  test('takes a push and deploys it', () => expectPush(mycli, store));

  test('deploys the newest bundle again, and another one after it', async () => {
    expect(await mycli(['bundle:push', '--project', 'shop', ...connection(store)])).toMatchObject({code: 0});
    const target = ['--project', 'shop', '--target', 'production', ...connection(store)];
    expect(await mycli(['bundle:deploy', 'latest', ...target])).toMatchObject({code: 0});
    expect(await readlink(path.join(store, 'shop/targets/production/current'))).toBe('../../2');
    expect(await mycli(['bundle:deploy', '1', ...target])).toMatchObject({code: 0});
    expect(await readlink(path.join(store, 'shop/targets/production/current'))).toBe('../../1');
  });

  test('gives pushes that run side by side bundles of their own', async () => {
    const push = () => mycli(['bundle:push', '--project', 'busy', ...connection(store), '--json']);
    const ids = (await Promise.all([push(), push(), push()])).map(({stdout}) => JSON.parse(stdout).bundleId);
    expect(ids.sort()).toEqual([1, 2, 3]);
    expect((await readdir(path.join(store, 'busy'))).sort()).toEqual(['1', '2', '3', 'incoming']);
    expect(await readdir(path.join(store, 'busy/incoming'))).toEqual([]);
  });

  test('names its option when it has a wrong value', async () => {
    const {code, stdout} = await mycli(['bundle:push', '--project', 'shop', ...connection('here'), '--json']);
    const {error} = JSON.parse(stdout);
    expect({code, error}).toMatchObject({code: 3, error: {code: 'ERR_OPTION_INVALID'}});
    expect(error.message).toContain('directory: must be an absolute path');
  });

  test('is gone after plugins:uninstall, and back after plugins:install of its tarball', async () => {
    expect(await mycli(['plugins:uninstall', 'mycli-plugin-directory'])).toMatchObject({code: 0});
    expect((await backends(mycli)).map(({name}) => name)).toEqual(['api', 'legacy']);
    expect(await mycli(['plugins:install', `file://${pluginTarball}`])).toMatchObject({code: 0});
    expect((await backends(mycli)).map(({name}) => name)).toEqual(['api', 'legacy', 'directory']);
  });
});

describe('a plugin that a project has among its dependencies', {timeout: 120_000}, () => {
  let mycli: Mycli;

  beforeAll(async () => {
    mycli = await installed('project', hostTarball, pluginTarball);
  }, 120_000);

  test('takes a push and deploys it, without being linked', () =>
    expectPush(mycli, path.join(folder, 'project-store')));

  test('is left out with MYCLI_SKIP_PLUGINS', async () => {
    const names = (await backends(mycli, {MYCLI_SKIP_PLUGINS: '1'})).map(({name}) => name);
    expect(names).toEqual(['api', 'legacy']);
  });
});
