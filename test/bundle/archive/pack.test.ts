import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {createWriteStream} from 'node:fs';
import {
  chmod,
  mkdir,
  readFile,
  readdir,
  readlink,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {Writable} from 'node:stream';
import {gunzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {
  packBundle,
  planBundle,
  streamBundle,
  type BundlePlan,
  type BundlePlanOptions,
} from '../../../src/bundle/index.js';
import {compiled} from '../../compiled.js';
import {makeFolder, writeTree} from '../../folder.js';
import {pack, planOptions, smallBuild} from '../project.js';

/** Larger than what is read in one piece, and not a multiple of anything. */
const largeSize = 1_300_001;

const everything = {ssrOnly: ['**/*'], ssrShared: []};

async function plan(cwd: string, options: Partial<BundlePlanOptions> = {}): Promise<BundlePlan> {
  return planBundle(planOptions(cwd, {...everything, ...options}));
}

/** What GNU tar says of an archive, a line an entry. */
function list(archive: Buffer, ...options: string[]): string[] {
  return execFileSync('tar', ['-tf', '-', '--quoting-style=literal', ...options], {input: archive, encoding: 'utf8'})
    .split('\n')
    .slice(0, -1);
}

async function unpack(archive: Buffer, ...options: string[]): Promise<string> {
  const folder = await makeFolder();
  execFileSync('tar', ['-xf', '-', '-C', folder, ...options], {input: archive, stdio: ['pipe', 'pipe', 'inherit']});
  return folder;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('the archive', () => {
  test('for v1 is a tar in {projectSlug}/bld, with the digests of its bytes', async () => {
    const cwd = await makeFolder({...smallBuild, 'build/.runtime/config.json': '{}'});
    const result = await pack(await plan(cwd, {format: 'v1'}));
    expect(list(result.bytes)).toEqual([
      'shop/bld/.runtime/config.json',
      'shop/bld/server/render.js',
      'shop/bld/ssr.js',
      'shop/bld/static/app.js',
    ]);
    expect(result).toMatchObject({
      size: result.bytes.length,
      sha256: sha256(result.bytes),
      contentSha256: sha256(result.bytes),
    });
  });

  test('for v2 is a gzipped tar in rootDir, with one configuration in its sorted place', async () => {
    const cwd = await makeFolder({
      ...smallBuild,
      'build/conf/x.json': '{"ssrOnly": ["old"], "kept": {"b": 1, "a": 2}}',
    });
    const bundle = await plan(cwd, {
      rootDir: 'deep/root',
      configPath: 'conf/x.json',
      bundleMetadata: {ccOverrides: ['c']},
    });
    const result = await pack(bundle);
    expect(list(result.bytes, '-z')).toEqual([
      'deep/root/conf/x.json',
      'deep/root/server/render.js',
      'deep/root/ssr.js',
      'deep/root/static/app.js',
    ]);
    const folder = await unpack(result.bytes, '-z');
    const config = await readFile(join(folder, 'deep/root/conf/x.json'), 'utf8');
    expect(JSON.parse(config)).toEqual({
      ...everything,
      ssrParameters: {SSRFunctionNodeVersion: '24.x'},
      bundleMetadata: {ccOverrides: ['c']},
      kept: {a: 2, b: 1},
    });
    expect(config.indexOf('"a"')).toBeLessThan(config.indexOf('"b"'));
    expect(result.size).toBe(result.bytes.length);
    expect(result.sha256).toBe(sha256(result.bytes));
    expect(result.contentSha256).toBe(sha256(gunzipSync(result.bytes)));
  });

  test('has fixed owners, modes and dates', async () => {
    const cwd = await makeFolder(smallBuild);
    await chmod(join(cwd, 'build/ssr.js'), 0o4777);
    await symlink('../ssr.js', join(cwd, 'build/server/link'));
    const {bytes} = await pack(await plan(cwd, {format: 'v1'}));
    const lines = list(bytes, '-v', '--numeric-owner', '--utc', '--full-time');
    expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual([
      'lrwxr-xr-x 0/0 0 1985-10-26 08:15:00 shop/bld/server/link -> ../ssr.js',
      '-rw-r--r-- 0/0 10 1985-10-26 08:15:00 shop/bld/server/render.js',
      '-rwxr-xr-x 0/0 18 1985-10-26 08:15:00 shop/bld/ssr.js',
      '-rw-r--r-- 0/0 7 1985-10-26 08:15:00 shop/bld/static/app.js',
    ]);
    const dated = await pack(await plan(cwd, {format: 'v1', env: {SOURCE_DATE_EPOCH: '86400'}}));
    expect(list(dated.bytes, '-v', '--utc').every((line) => line.includes('1970-01-02 00:00'))).toBe(true);
  });

  test.each(['v1', 'v2'] as const)('keeps empty folders (%s)', async (format) => {
    const cwd = await makeFolder(smallBuild);
    const names = ['logs', 'deep/'.repeat(30).slice(0, -1), 'n'.repeat(91), 'é'];
    for (const name of names) await mkdir(join(cwd, 'build', name), {recursive: true});
    const bundle = await plan(cwd, {format});
    const {bytes} = await pack(bundle);
    if (format === 'v1') expect((await streamBundle(bundle)).bundle.size).toBe(bytes.length);
    const compressed = format === 'v2' ? ['-z'] : [];
    const paths = list(bytes, ...compressed);
    expect(paths).toEqual([...paths].sort());
    const lines = list(bytes, '-v', ...compressed).map((line) => line.replace(/ .* /, ' '));
    for (const name of names) expect(lines).toContain(`drwxr-xr-x ${format === 'v1' ? 'shop/bld' : 'bld'}/${name}/`);
  });
});

describe('the same content gives the same bytes', () => {
  const tree = {...smallBuild, 'build/large.bin': Buffer.alloc(largeSize, 'large file '), 'build/run.sh': '#!'};

  test('whatever the dates, the umask, the order of creation and the folder', async () => {
    const first = await makeFolder(tree);
    await chmod(join(first, 'build/run.sh'), 0o755);
    const expected = await pack(await plan(first));

    const second = await makeFolder(Object.fromEntries(Object.entries(tree).reverse()));
    // As a umask of 0o077 leaves them. It cannot be set in a thread, where mutation tests run.
    for (const path of Object.keys(tree)) await chmod(join(second, path), 0o600);
    await chmod(join(second, 'build/run.sh'), 0o700);
    await utimes(join(second, 'build/ssr.js'), 1, 1);
    const again = await pack(await plan(second));
    expect(again.sha256).toBe(expected.sha256);
    expect(
      (await pack(await plan(second, {format: 'v1'}))).bytes.equals(
        (await pack(await plan(first, {format: 'v1'}))).bytes,
      ),
    ).toBe(true);
  });

  test('whatever the order of keys in the configuration', async () => {
    const cwd = await makeFolder(tree);
    const one = await pack(await plan(cwd, {ssrParameters: {a: 1, b: {c: 2, d: 3}}}));
    const other = await pack(await plan(cwd, {ssrParameters: {b: {d: 3, c: 2}, a: 1}}));
    expect(one.sha256).toBe(other.sha256);
    expect((await pack(await plan(cwd, {ssrParameters: {a: 2}}))).sha256).not.toBe(one.sha256);
  });

  test('the digest of the content does not depend on the compression', async () => {
    const cwd = await makeFolder(tree);
    const [stored, best] = [
      await pack(await plan(cwd, {compressionLevel: 0})),
      await pack(await plan(cwd, {compressionLevel: 9})),
    ];
    expect(stored.contentSha256).toBe(best.contentSha256);
    expect(best.size).toBeLessThan(stored.size / 10);
  });
});

test('a file that vanished since it was planned is an error that names it, with many entries queued', async () => {
  const names = Array.from({length: 200}, (_, index) => `build/f${String(index).padStart(3, '0')}.js`);
  const cwd = await makeFolder(Object.fromEntries(names.map((name) => [name, 'x'.repeat(5000)])));
  const bundle = await plan(cwd);
  await unlink(join(cwd, 'build/f150.js'));
  await expect(pack(bundle)).rejects.toMatchObject({
    code: 'ERR_FILE_CHANGED',
    message: expect.stringContaining('f150.js'),
  });
});

describe('packing', () => {
  test('reports the bytes packed, up to the total', async () => {
    const large = 5 * 1024 * 1024;
    const cwd = await makeFolder({...smallBuild, 'build/large.bin': Buffer.alloc(large)});
    const bundle = await plan(cwd);
    const told: number[] = [];
    await pack(bundle, {
      onProgress: ({transferred, total}) => (expect(total).toBe(bundle.totalBytes), told.push(transferred)),
    });
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told).toHaveLength(large / (256 * 1024));
    expect(told.at(-1)).toBe(large + 35);
  });

  test('rejects with the error of a progress callback', async () => {
    const cwd = await makeFolder(smallBuild);
    const thrown = new Error('the callback is broken');
    await expect(
      pack(await plan(cwd), {
        onProgress: () => {
          throw thrown;
        },
      }),
    ).rejects.toBe(thrown);
  });

  test('rejects with the error of its destination, and closes its files', async () => {
    const cwd = await makeFolder({...smallBuild, 'build/large.bin': Buffer.alloc(5 * largeSize, 'x')});
    const full = new Error('no room');
    let written = 0;
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.length;
        done(written > 1_500_000 ? full : null);
      },
    });
    await expect(packBundle(await plan(cwd, {format: 'v1'}), destination)).rejects.toBe(full);
    const open = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readFileName(fd)));
    expect(open.filter((name) => name.startsWith(cwd))).toEqual([]);
  });

  test('into a file that cannot be opened is an error, not a crash', async () => {
    const cwd = await makeFolder(smallBuild);
    const bundle = await plan(cwd);
    const destination = createWriteStream(join(cwd, 'missing/out.tar'));
    await expect(packBundle(bundle, destination)).rejects.toMatchObject({code: 'ENOENT'});
  });
});

async function readFileName(fd: string): Promise<string> {
  return readlink(`/proc/self/fd/${fd}`).catch(() => '');
}

/**
 * Packs in a process of its own; prints digest and peak memory in MiB. Not `maxRSS`, which a process inherits from its
 * parent.
 */
const packAlone = `
  const [module, cwd, format] = process.argv.slice(1);
  const {createWriteStream, readFileSync} = await import('node:fs');
  const {planBundle, packBundle} = await import(module);
  const options = {format, cwd, env: {}, now: () => new Date(), message: 'm', projectSlug: 'shop', ssrOnly: ['**'], ssrShared: []};
  const {sha256} = await packBundle(await planBundle(options), createWriteStream('/dev/null'));
  const [, peak] = /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  console.log(JSON.stringify({sha256, peak: peak / 1024}));
`;

function runAlone(
  args: readonly [module: string, cwd: string, format: string],
  env: Readonly<Record<string, string>> = {},
): {sha256: string; peak: number} {
  const options = ['--max-old-space-size=96', '--input-type=module', '-e', packAlone];
  const output = execFileSync(process.execPath, [...options, ...args], {
    encoding: 'utf8',
    env: {...process.env, ...env},
  });
  return JSON.parse(output) as {sha256: string; peak: number};
}

test('memory does not grow with the bundle', async () => {
  const cwd = await makeFolder(smallBuild);
  for (const name of ['a.bin', 'b.bin']) {
    await writeFile(join(cwd, 'build', name), '');
    await truncate(join(cwd, 'build', name), 200 * 1024 * 1024);
  }
  expect(runAlone([await compiled('src/bundle/index.ts'), cwd, 'v1']).peak).toBeLessThan(300);
});

test('the bytes do not depend on the number of threads', async () => {
  const lines = Array.from({length: 200_000}, (_, index) => `const v${index} = ${index * 7};`);
  const cwd = await makeFolder(smallBuild);
  await writeTree(cwd, {'build/text.js': lines.join('\n')});
  const args = [await compiled('src/bundle/index.ts'), cwd, 'v2'] as const;
  const one = runAlone(args, {UV_THREADPOOL_SIZE: '1'});
  expect(runAlone(args, {UV_THREADPOOL_SIZE: '8'}).sha256).toBe(one.sha256);
});
