import {createHash, randomBytes} from 'node:crypto';
import {watch} from 'node:fs';
import {mkdir, readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../../src/testing.js';
import {makeFolder, writeTree} from '../../folder.js';
import {smallBuild} from '../../bundle/project.js';
import {binary, start, type Ended} from '../../cli/spawn-cli.js';
import {runWarm} from '../../cli/warm-cli.js';

interface Kill {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs the binary and kills it when something has happened in `folder` for the `nth` time; it may be faster. */
async function killAt(nth: number, folder: string, {args, ...options}: Kill): Promise<Ended> {
  let events = 0;
  const watcher = watch(folder, () => {
    events += 1;
    if (events === nth) child.kill('SIGKILL');
  });
  const {child, ended} = start(binary, args, options);
  const outcome = await ended;
  watcher.close();
  return outcome;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
async function service() {
  const runtime = await startLocalRuntime({deploymentSeconds: 0});
  onTestFinished(() => runtime.close());
  const cwd = await makeFolder({...smallBuild, 'build/large.bin': randomBytes(3_000_000), 'tmp/x': '', 'out/x': ''});
  const [temporary, data] = [join(cwd, 'tmp'), join(cwd, 'data')];
  await mkdir(join(data, 'mycli/pushes'), {recursive: true});
  const env = {
    MYCLI_RUNTIME_ORIGIN: runtime.origin,
    MYCLI_API_KEY: runtime.credentials.apiKey,
    MYCLI_PROJECT: 'shop',
    TMPDIR: temporary,
    XDG_DATA_HOME: data,
    XDG_CONFIG_HOME: join(cwd, 'config'),
  };
  const mycli = (...args: readonly string[]) => runWarm(args, {cwd, env});
  return {runtime, cwd, temporary, data, env, mycli};
}

test.each([1, 2, 3, 4])(
  'a build that is killed leaves an archive and its manifest, or no manifest (%i)',
  async (nth) => {
    const {cwd, env, mycli} = await service();
    const [archive, manifest] = [join(cwd, 'out/bundle'), join(cwd, 'out/bundle.json')];
    expect((await mycli('bundle:build', '-m', 'm', '-o', 'out/bundle')).code).toBe(0);
    const old = sha256(await readFile(archive));
    await writeTree(cwd, {'build/large.bin': randomBytes(3_000_000)});
    await killAt(nth, join(cwd, 'out'), {args: ['bundle:build', '-m', 'm', '-o', 'out/bundle'], cwd, env});
    const found = sha256(await readFile(archive));
    if (await isThere(manifest)) {
      expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({sha256: found});
    }
    expect((await mycli('bundle:build', '-m', 'm', '-o', 'out/bundle')).code).toBe(0);
    expect([old, sha256(await readFile(archive))]).toContain(found);
    expect((await readdir(join(cwd, 'out'))).sort()).toEqual(['bundle', 'bundle.json', 'x']);
  },
);

test.each([1, 3, 5])('a killed download leaves a complete file or none (%i)', async (nth) => {
  const {cwd, env, mycli} = await service();
  const pushed = JSON.parse((await mycli('bundle:push', '-m', 'm', '--v2', '--json')).stdout) as {
    archive: {sha256: string};
  };
  const args = ['bundle:download', '1', '-o', 'out/copy', '--force'];
  await killAt(nth, join(cwd, 'out'), {args, cwd, env});
  const copy = join(cwd, 'out/copy');
  if (await isThere(copy)) expect(sha256(await readFile(copy))).toBe(pushed.archive.sha256);
  expect((await mycli(...args)).code).toBe(0);
  expect(sha256(await readFile(copy))).toBe(pushed.archive.sha256);
  expect((await readdir(join(cwd, 'out'))).sort()).toEqual(['copy', 'x']);
});

test.each([
  ['tmp', 1],
  ['data/mycli/pushes', 1],
  ['data/mycli/pushes', 2],
])('a push that is killed leaves nothing that the next one does not sweep (%s, %i)', async (folder, nth) => {
  const {cwd, env, mycli, temporary, data} = await service();
  const args = ['bundle:push', '-m', 'm', '--v2', '--if-changed', '--json'];
  await killAt(nth, join(cwd, folder), {args, cwd, env});
  const {code, stdout} = await mycli(...args, '--force');
  expect(code, stdout).toBe(0);
  expect(await readdir(temporary)).toEqual(['x']);
  const records = join(data, 'mycli/pushes');
  const names = await readdir(records);
  expect(names).toHaveLength(1);
  const {bundleId} = JSON.parse(stdout) as {bundleId: number};
  expect(JSON.parse(await readFile(join(records, String(names[0])), 'utf8'))).toMatchObject({bundleId});
});

test.each([2, 4])('a login that is killed leaves the credentials as they were, or new (%i)', async (nth) => {
  const {cwd, env} = await service();
  const args = ['auth:login', '--no-verify', '--origin', 'https://runtime.example'];
  const folder = join(cwd, 'config/mycli');
  const login = (stdin: string) => runWarm(args, {cwd, env, stdin});
  expect((await login('old')).code).toBe(0);
  await killAt(nth, folder, {args, cwd, env, stdin: 'new'});
  const stored = JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8')) as {origins: object};
  expect(['old', 'new']).toContain(
    Object.values(stored.origins).map((kept: {apiKey: {key: string}}) => kept.apiKey.key)[0],
  );
  expect((await login('newer')).code).toBe(0);
  expect(await readdir(folder)).toEqual(['credentials.json']);
});
