import {execFileSync} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {chmod, readFile, readdir, readlink, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {expect, test} from 'vitest';
import {openBundle, planBundle, writeBundle, type Bundle, type BundlePlanOptions} from '../../../src/bundle/index.js';
import type {BundleEntry} from '../../../src/bundle/types.js';
import {makeFolder, writeTree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
const large = randomBytes(1_500_001);
const contents: Readonly<Record<string, Buffer>> = {
  'empty.txt': Buffer.alloc(0),
  'large.bin': large,
  'server/render.js': Buffer.from('render();\n'),
  'ssr.js': Buffer.from('export default 1;\n'),
  'static/app.js': Buffer.from('app();\n'),
};

async function build(
  options: Partial<BundlePlanOptions> = {},
): Promise<{readonly bundle: Bundle; readonly cwd: string}> {
  const cwd = await makeFolder({...smallBuild, 'build/large.bin': large, 'build/empty.txt': ''});
  await symlink('../ssr.js', join(cwd, 'build/server/link.js'));
  await chmod(join(cwd, 'build/ssr.js'), 0o755);
  const plan = await planBundle(planOptions(cwd, {ssrOnly: ['ssr.js'], ssrShared: ['static/**'], ...options}));
  return {bundle: await writeBundle(plan, {path: join(cwd, 'bundle'), manifest: true}), cwd};
}

async function entriesOf(bundle: Bundle): Promise<readonly BundleEntry[]> {
  const entries: BundleEntry[] = [];
  for await (const entry of bundle.entries()) entries.push(entry);
  return entries;
}

async function failureOf(bundle: Bundle): Promise<unknown> {
  return entriesOf(bundle).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each([
  ['v1', {format: 'v1'}],
  ['v2', {rootDir: 'r', configPath: 'c/d'}],
] as const)('the entries of a %s bundle are its files as they were packed', async (_format, options) => {
  const {bundle, cwd} = await build(options);
  // The files on disk do not matter any more.
  await writeTree(cwd, {'build/ssr.js': 'changed', 'build/static/app.js': ''});
  for (const one of [bundle, await openBundle(bundle.path)]) {
    const entries = await entriesOf(one);
    expect(entries.map(({path}) => path)).toEqual(bundle.files.map(({path}) => path));
    expect(entries.map(({path, category}) => [path, category])).toEqual([
      ['empty.txt', 'static'],
      ['large.bin', 'static'],
      ['server/link.js', 'static'],
      ['server/render.js', 'static'],
      ['ssr.js', 'ssrOnly'],
      ['static/app.js', 'shared'],
    ]);
    for (const {path, size, linkTarget, executable, sha256: digest, open} of entries) {
      const content = contents[path] ?? Buffer.alloc(0);
      expect([path, size, digest, executable]).toEqual([path, content.length, sha256(content), path === 'ssr.js']);
      expect(linkTarget).toBe(path === 'server/link.js' ? '../ssr.js' : undefined);
      expect((await buffer(open())).equals(content)).toBe(true);
    }
  }
});

test('entries are opened in any order, again, and at the same time', async () => {
  const {bundle} = await build();
  const entries = await entriesOf(bundle);
  const reversed = entries.toReversed();
  for (const {path, open} of [...reversed, ...entries]) {
    expect((await buffer(open())).equals(contents[path] ?? Buffer.alloc(0))).toBe(true);
  }
  const all = await Promise.all(entries.map(({open}) => buffer(open())));
  expect(all.map(sha256)).toEqual(entries.map((entry) => entry.sha256));
});

test('the archive of another program has entries, too', async () => {
  const config = JSON.stringify({ssrOnly: ['ssr.js'], ssrShared: [], ssrParameters: {}});
  const folder = await makeFolder({
    'bld/.runtime/config.json': config,
    'bld/ssr.js': 'ssr',
    'bld/a/b.txt': 'b',
    'outside.txt': 'not of the bundle',
  });
  const path = join(await makeFolder(), 'archive.tar.gz');
  execFileSync('tar', ['-czf', path, '-C', folder, './bld', 'outside.txt']);
  const entries = await entriesOf(await openBundle(path));
  expect(new Map(entries.map((entry) => [entry.path, entry.sha256]))).toEqual(
    new Map([
      ['ssr.js', sha256('ssr')],
      ['a/b.txt', sha256('b')],
    ]),
  );
});

test('an archive that changes is an error, never other content', async () => {
  const {bundle} = await build({format: 'v1'});
  const entries = await entriesOf(bundle);
  const archive = await readFile(bundle.path);
  const at = archive.indexOf('app();');
  archive.write('APP();', at);
  await writeFile(bundle.path, archive);
  const app = entries.find(({path}) => path === 'static/app.js');
  if (app === undefined) throw new Error('there is no such entry');
  await expect(buffer(app.open())).rejects.toMatchObject({code: 'ERR_ARCHIVE_INVALID'});
  expect(await failureOf(bundle)).toMatchObject({
    code: 'ERR_ARCHIVE_INVALID',
    message: `The archive ${bundle.path} is invalid: its sha256 is not ${bundle.sha256}.`,
  });
});

test('an archive that is not what its manifest says is an error', async () => {
  const {bundle} = await build();
  const {path} = bundle;
  const [file, ...others] = bundle.files;
  if (file === undefined) throw new Error('the bundle is empty');
  const wrong: readonly (readonly [Bundle['files'], string])[] = [
    [others, '"empty.txt" in it is not the file of the bundle'],
    [[{...file, size: 7}, ...others], '"empty.txt" in it is not the file of the bundle'],
    [[{...file, linkTarget: 'ssr.js'}, ...others], '"empty.txt" in it is not the file of the bundle'],
    [[...bundle.files, {...file, path: 'more'}], '"more" is not in it'],
  ];
  for (const [files, reason] of wrong) {
    const stated = await openBundle(path);
    const manifest = JSON.parse(await readFile(`${path}.json`, 'utf8')) as object;
    await writeFile(
      `${path}.json`,
      JSON.stringify({
        ...manifest,
        files: files.map((one) => ({
          ...one,
          category: 'static',
          sha256: one.linkTarget === undefined ? '0'.repeat(64) : undefined,
        })),
      }),
    );
    const lying = await openBundle(path);
    expect(lying.sha256).toBe(stated.sha256);
    expect(await failureOf(lying)).toMatchObject({message: `The archive ${path} is invalid: ${reason}.`});
  }
});

test('an abort ends it with its reason, and an early end leaves no file open', async () => {
  const {bundle} = await build();
  const controller = new AbortController();
  const reason = new Error('enough');
  const reading = async () => {
    for await (const {path} of bundle.entries({signal: controller.signal}))
      if (path === 'empty.txt') controller.abort(reason);
  };
  await expect(reading()).rejects.toBe(reason);
  for await (const {open} of bundle.entries()) {
    const stream = open();
    stream.destroy();
    break;
  }
  const openFiles = async () => {
    const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
    return (await Promise.all(links)).filter((link) => link === bundle.path);
  };
  await expect.poll(openFiles).toEqual([]);
});

test('a part of the archive is read with its first and its last byte', async () => {
  const {bundle} = await build();
  const archive = await readFile(bundle.path);
  const {createReadStream} = bundle;
  expect((await buffer(createReadStream({start: 3, end: 9}))).equals(archive.subarray(3, 10))).toBe(true);
  expect((await buffer(createReadStream({end: 0}))).equals(archive.subarray(0, 1))).toBe(true);
  expect((await buffer(createReadStream({start: 5, end: 1e9}))).equals(archive.subarray(5))).toBe(true);
});

test('memory does not grow with the files', async () => {
  const cwd = await makeFolder({'build/ssr.js': ''});
  await writeFile(join(cwd, 'build/zeros.bin'), Buffer.alloc(16 * 1024 * 1024));
  const plan = await planBundle(planOptions(cwd, {ssrOnly: ['ssr.js'], ssrShared: []}));
  const bundle = await writeBundle(plan, {path: join(cwd, 'bundle')});
  let largest = 0;
  let bytes = 0;
  for await (const {open} of bundle.entries()) {
    for await (const chunk of open()) {
      bytes += (chunk as Buffer).length;
      largest = Math.max(largest, (chunk as Buffer).length);
    }
  }
  expect(bytes).toBe(16 * 1024 * 1024);
  expect(largest).toBeLessThanOrEqual(64 * 1024);
});
