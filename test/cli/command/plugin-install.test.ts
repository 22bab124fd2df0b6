import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readdir, readFile, utimes} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {makeFolder} from '../../folder.js';
import {binary, runCli} from '../spawn-cli.js';
import {surroundings} from '../surroundings.js';

const name = 'mycli-plugin-hello';
/** Two versions of a plugin. The second one needs a package that does not exist. */
const packages = {
  good: {version: '1.0.0', dependencies: {}},
  bad: {version: '2.0.0', dependencies: {'mycli-nothing-there': '1.0.0'}},
  slow: {version: '3.0.0', dependencies: {}},
};

/** A registry with the plugin, whose archives are in `root`. It never sends the slow one, and emits `held`. */
async function startRegistry(root: string) {
  const server = createServer((request, response) => {
    const {url = ''} = request;
    const origin = `http://${String(request.headers.host)}`;
    const versions = Object.entries(packages).map(([folder, {version, dependencies}]) => {
      const dist = {tarball: `${origin}/${folder}/${name}-${version}.tgz`};
      return [version, {name, version, dependencies, dist}] as const;
    });
    const document = {name, 'dist-tags': {latest: '1.0.0'}, versions: Object.fromEntries(versions)};
    if (url.endsWith('3.0.0.tgz')) server.emit('held');
    else if (url.endsWith('.tgz')) void readFile(join(root, url)).then((content) => response.end(content));
    else if (url === `/${name}`) response.end(JSON.stringify(document));
    else response.writeHead(404).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`};
}

test('a failed plugins:install leaves the version that worked, and nothing else, not even of an earlier one that was killed', async () => {
  const command = 'export default {id: "hello", run: async () => console.log("hello"), args: {}, flags: {}};\n';
  const tree = Object.entries(packages).flatMap(([folder, more]) => {
    const manifest = {name, type: 'module', files: ['commands'], oclif: {commands: './commands'}, ...more};
    return [
      [`${folder}/package.json`, JSON.stringify(manifest)],
      [`${folder}/commands/hello.js`, command],
    ] as const;
  });
  const root = await makeFolder(Object.fromEntries(tree));
  const registry = await startRegistry(root);
  const env = {
    ...{HOME: root, XDG_DATA_HOME: join(root, 'data'), PATH: process.env['PATH'] ?? ''},
    ...{npm_config_registry: registry.url, npm_config_update_notifier: 'false'},
  };
  for (const folder of Object.keys(packages))
    await promisify(execFile)('npm', ['pack', '--silent'], {cwd: join(root, folder), env});
  const install = (version: string) => runCli(binary, ['plugins:install', `${name}@${version}`], {cwd: root, env});
  const installed = await install('1.0.0');
  expect(installed.code, installed.stderr).toBe(0);
  expect(installed.stderr).toContain(`${name} has commands but no oclif.manifest.json`);
  const hello = async () => (await runCli(binary, ['hello'], {cwd: root, env})).stdout;
  expect(await hello()).toBe('hello\n');
  const left = join(root, 'data/mycli/mycli-1-abcdef');
  await mkdir(left, {mode: 0o700});
  await utimes(left, 0, 0);
  expect((await install('2.0.0')).code).not.toBe(0);
  expect(await hello()).toBe('hello\n');
  expect((await readdir(join(root, 'data/mycli'))).filter((entry) => entry.startsWith('mycli-'))).toEqual([]);

  // A terminal sends Ctrl-C to npm, too.
  const held = once(registry.server, 'held');
  const args = [binary, 'plugins:install', `${name}@3.0.0`];
  const child = spawn(process.execPath, args, {cwd: root, env: {...surroundings().env, ...env}, detached: true});
  const ended = once(child, 'close');
  await held;
  process.kill(-Number(child.pid), 'SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(await hello()).toBe('hello\n');
}, 120_000);

test('plugins:install: what is no plugin is said and removed, and the version of a newer tarball is told', async () => {
  const packed = (version: string) => JSON.stringify({name, version, oclif: {}});
  const root = await makeFolder({
    'old/package.json': packed('1.0.0'),
    'new/package.json': packed('1.1.0'),
    'plain/package.json': '{"name": "plain", "version": "1.0.0"}',
    'own/package.json': '{"name": "mycli", "version": "9.0.0", "oclif": {}}',
    'first/package.json': '{"name": "first", "version": "1.0.0", "oclif": {}}',
    'second/package.json': '{"name": "second", "version": "1.0.0", "oclif": {}}',
  });
  const env = {
    ...{HOME: root, XDG_DATA_HOME: join(root, 'data'), PATH: process.env['PATH'] ?? ''},
    ...{npm_config_registry: 'http://127.0.0.1:9', npm_config_update_notifier: 'false'},
  };
  await promisify(execFile)('npm', ['pack', '--silent', './old', './new', './plain'], {cwd: root, env});
  const install = (source: string) => runCli(binary, ['plugins:install', source], {cwd: root, env});
  const folder = await install('./plain');
  expect(folder).toMatchObject({code: 2, stderr: expect.stringMatching(/^Error: This is not a plugin: .* no "oclif"/)});
  const tarball = await install('./plain-1.0.0.tgz');
  expect(tarball.code).toBe(2);
  expect(tarball.stderr).toContain('  A plugin of mycli is a package with "oclif" in its package.json.\n');
  const own = await install('./own');
  expect(own).toMatchObject({code: 2, stderr: expect.stringContaining('mycli is not a plugin of itself.')});
  expect(await readdir(join(root, 'data/mycli'))).toEqual([]);
  for (const version of ['1.0.0', '1.1.0'])
    expect((await install(`./${name}-${version}.tgz`)).stderr).toContain(`installed v${version}\n`);
  expect((await install('./first')).code).toBe(0);
  const second = await install('./second');
  expect(second).toMatchObject({code: 2, stderr: expect.stringContaining('mycli plugins:link')});
  const {stdout} = await runCli(binary, ['plugins'], {cwd: root, env});
  expect(stdout).toBe(`first 1.0.0\n${name} 1.1.0\n`);
}, 120_000);
