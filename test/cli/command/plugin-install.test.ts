import {execFile} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readdir, readFile, utimes} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {makeFolder} from '../../folder.js';
import {binary, runCli} from '../spawn-cli.js';

const name = 'mycli-plugin-hello';
/** Two versions of a plugin. The second one needs a package that does not exist. */
const packages = {
  good: {version: '1.0.0', dependencies: {}},
  bad: {version: '2.0.0', dependencies: {'mycli-nothing-there': '1.0.0'}},
};

/** A registry with the plugin, whose archives are in `root`. */
async function startRegistry(root: string): Promise<string> {
  const server = createServer((request, response) => {
    const {url = ''} = request;
    const origin = `http://${String(request.headers.host)}`;
    const versions = Object.entries(packages).map(([folder, {version, dependencies}]) => {
      const dist = {tarball: `${origin}/${folder}/${name}-${version}.tgz`};
      return [version, {name, version, dependencies, dist}] as const;
    });
    const document = {name, 'dist-tags': {latest: '1.0.0'}, versions: Object.fromEntries(versions)};
    if (url.endsWith('.tgz')) void readFile(join(root, url)).then((content) => response.end(content));
    else if (url === `/${name}`) response.end(JSON.stringify(document));
    else response.writeHead(404).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
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
  const env = {
    ...{HOME: root, XDG_DATA_HOME: join(root, 'data'), PATH: process.env['PATH'] ?? ''},
    ...{npm_config_registry: await startRegistry(root), npm_config_update_notifier: 'false'},
  };
  for (const folder of Object.keys(packages))
    await promisify(execFile)('npm', ['pack', '--silent'], {cwd: join(root, folder), env});
  const install = (version: string) => runCli(binary, ['plugins:install', `${name}@${version}`], {cwd: root, env});
  const installed = await install('1.0.0');
  expect(installed.code, installed.stderr).toBe(0);
  const hello = async () => (await runCli(binary, ['hello'], {cwd: root, env})).stdout;
  expect(await hello()).toBe('hello\n');
  const left = join(root, 'data/mycli/mycli-1-abcdef');
  await mkdir(left, {mode: 0o700});
  await utimes(left, 0, 0);
  expect((await install('2.0.0')).code).not.toBe(0);
  expect(await hello()).toBe('hello\n');
  expect((await readdir(join(root, 'data/mycli'))).filter((entry) => entry.startsWith('mycli-'))).toEqual([]);
}, 120_000);
