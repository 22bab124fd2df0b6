import {execFile} from 'node:child_process';
import {access, mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {env, startRegistry} from './registry.js';

const plugin = fileURLToPath(new URL('..', import.meta.url));
const binary = join(plugin, '../../bin/run.js');

/** The documents of commands, in a project with this backend. */
async function openProject(url: string) {
  const folder = await mkdtemp(join(tmpdir(), 'mycli-oci-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  const linked = {name: 'mycli-plugin-oci', root: plugin, type: 'link'};
  const files = {
    'data/mycli/package.json': JSON.stringify({private: true, oclif: {schema: 1, plugins: [linked]}}),
    'mycli.config.json': JSON.stringify({projectSlug: 'shop', runtimeBackend: 'oci', backends: {oci: {url}}}),
    'build/index.html': 'hello',
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), {recursive: true});
    await writeFile(join(folder, path), content);
  }
  const surroundings = {PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: join(folder, 'data'), ...env};
  return {
    write: (path: string, content: string) => writeFile(join(folder, path), content),
    async mycli<Document>(...args: readonly string[]): Promise<Document> {
      const options = {cwd: folder, env: surroundings};
      const {stdout} = await promisify(execFile)(process.execPath, [binary, ...args, '--json'], options);
      return JSON.parse(stdout) as Document;
    },
  };
}

interface Listed {
  readonly bundleId: string;
  readonly sha256: string;
}

test('a bundle is pushed, deployed, rolled back and deleted; the garbage collection removes its blob and no other', async () => {
  await using registry = await startRegistry();
  const {write, mycli} = await openProject(`${registry.url}/shops`);
  const push = () => mycli<{bundleId: string}>('push', 'build', '--static', '--target', 'staging', '--wait');
  const first = await push();
  await write('build/index.html', 'hello again');
  const second = await push();
  await mycli('rollback', '--target', 'staging');
  const {deployments} = await mycli<{deployments: readonly {bundleId: string}[]}>(
    'bundle:history',
    '--target',
    'staging',
  );
  expect(deployments.map(({bundleId}) => bundleId)).toEqual([first, second, first].map(({bundleId}) => bundleId));

  const list = async () => (await mycli<{bundles: readonly Listed[]}>('bundle:list')).bundles;
  const files = (await list()).map(({sha256}) =>
    join(registry.files, 'blobs/sha256', sha256.slice(0, 2), sha256, 'data'),
  );
  const [ofSecond = '', ofFirst = ''] = files;
  await expect(mycli('bundle:delete', first.bundleId, '--yes')).rejects.toMatchObject({code: 7});
  await mycli('bundle:delete', second.bundleId, '--yes');
  expect((await list()).map(({bundleId}) => bundleId)).toEqual([first.bundleId]);
  await access(ofSecond);
  await registry.collectGarbage();
  await access(ofFirst);
  await expect(access(ofSecond)).rejects.toThrow('ENOENT');
});
