import {createHash} from 'node:crypto';
import {readdir, readlink} from 'node:fs/promises';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {digestFile, isGzip, readArchive, type ArchiveContents} from '../../src/bundle/read-archive.js';
import {rawTar, type HostileEntry} from '../testing/local-runtime/archives.js';
import {makeFolder} from './project.js';

const MiB = 1024 * 1024;
const endOfTar = Buffer.alloc(1024);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function fileOf(bytes: Buffer): Promise<string> {
  return join(await makeFolder({archive: bytes}), 'archive');
}

async function read(bytes: Buffer, wanted = 'wanted'): Promise<ArchiveContents> {
  return readArchive(await fileOf(bytes), wanted);
}

async function readEntries(...entries: readonly HostileEntry[]): Promise<ArchiveContents> {
  return read(await rawTar(...entries));
}

describe('an archive is read', () => {
  test.each([false, true])('with its digests and its entries, directories aside (gzip: %s)', async (compressed) => {
    const tar = await rawTar(
      {name: 'bld/', type: 'directory'},
      {name: 'bld/a.js', content: 'abc', mode: 0o644},
      {name: 'bld/run.sh', content: '#!', mode: 0o744},
      {name: 'bld/others.sh', content: '#!', mode: 0o677},
      {name: 'bld/contiguous', content: 'x', type: 'contiguous-file', mode: 0o644},
      {name: 'bld/link', type: 'symlink', linkname: 'a.js', mode: 0o777},
      {name: 'bld/hard', type: 'link', linkname: 'bld/a.js', mode: 0o755},
    );
    const bytes = compressed ? gzipSync(tar) : tar;
    expect(await read(bytes)).toStrictEqual({
      compressed,
      size: bytes.length,
      sha256: sha256(bytes),
      contentSha256: sha256(tar),
      entries: [
        {name: 'bld/a.js', size: 3, executable: false},
        {name: 'bld/run.sh', size: 2, executable: true},
        {name: 'bld/others.sh', size: 2, executable: false},
        {name: 'bld/contiguous', size: 1, executable: false},
        {name: 'bld/link', size: 0, executable: false, linkTarget: 'a.js'},
        {name: 'bld/hard', size: 0, executable: false, linkTarget: 'bld/a.js'},
      ],
      wanted: [],
    });
  });

  test('with the content of what is wanted; of a second one it is only known that it is there', async () => {
    const content = 'w'.repeat(MiB);
    const {wanted} = await readEntries(
      {name: 'other', content: 'o'.repeat(MiB + 1)},
      {name: 'wanted', content},
      {name: 'wanted', content: 'again'},
    );
    expect(wanted.map(String)).toEqual([content, '']);
  });

  test('with links that say nothing', async () => {
    const {entries} = await readEntries({name: 'bld/link', type: 'symlink', linkname: ''});
    expect(entries).toMatchObject([{name: 'bld/link', linkTarget: ''}]);
  });

  test('of any length: its end mark may come in two pieces', async () => {
    // A file is read 1 MiB at a time: the last piece has half of the mark.
    const tar = await rawTar({name: 'bld/a', content: 'x'.repeat(MiB - 1024)});
    expect(tar.length).toBe(MiB + 512);
    expect((await read(tar)).entries).toHaveLength(1);
    await expect(read(tar.subarray(0, -512))).rejects.toThrow('it does not end with an end mark');
  });

  test('that compresses very well, as long as it is small', async () => {
    const tar = await rawTar({name: 'bld/zeros', content: '\0'.repeat(2 * MiB)});
    const bytes = gzipSync(tar);
    expect(bytes.length).toBeLessThan(tar.length / 300);
    expect((await read(bytes)).entries).toMatchObject([{size: 2 * MiB}]);
  });

  test('with names as long as a system takes', async () => {
    const name = `bld/${'n'.repeat(4092)}`;
    expect((await readEntries({name, content: 'x'})).entries).toMatchObject([{name}]);
  });
});

describe('an archive is refused', () => {
  test.each([
    ['a name that climbs', {name: '../evil'}],
    ['a name that climbs and comes back', {name: 'bld/../bld/evil'}],
    ['a name with backslashes that climbs', {name: 'bld\\..\\evil'}],
    ['an absolute name', {name: '/etc/evil'}],
    ['an absolute name with a backslash', {name: '\\evil'}],
    ['a name with a drive', {name: 'c:/evil'}],
    ['a name with a drive and a backslash', {name: 'Z:\\evil'}],
    ['a name that is too long', {name: `bld/${'n'.repeat(4093)}`}],
    ['a name with a NUL', {name: `bld/${'n'.repeat(100)}\0`}],
    ['a directory that climbs', {name: '../evil/', type: 'directory'}],
  ] as const)('for %s', async (_what, entry) => {
    const shown = JSON.stringify(entry.name.slice(0, 200));
    await expect(readEntries({name: 'bld/a'}, entry)).rejects.toThrow(`it has the unsafe name ${shown}`);
  });

  test.each([
    ['absolute', '/etc/passwd'],
    ['of a drive', 'C:\\x'],
    ['that climbs out of the archive', '../../x'],
    ['that climbs by backslashes', '..\\..\\x'],
    ['that is too long', 'n'.repeat(4097)],
  ])('for a link %s', async (_what, linkname) => {
    await expect(readEntries({name: 'bld/l', type: 'symlink', linkname})).rejects.toThrow(
      '"bld/l" in it is a link that leads out of it',
    );
    await expect(readEntries({name: 'bld/l', type: 'link', linkname})).rejects.toThrow(
      '"bld/l" in it is a hard link that leads out of it',
    );
  });

  test('for a hard link that climbs, even out of its own folder only: its target is seen from the top', async () => {
    expect((await readEntries({name: 'bld/l', type: 'symlink', linkname: '../x'})).entries).toHaveLength(1);
    await expect(readEntries({name: 'bld/l', type: 'link', linkname: '../x'})).rejects.toThrow('hard link');
  });

  test('but not for names and targets that only look like it', async () => {
    const {entries} = await readEntries(
      {name: 'bld/..a/b..', content: 'x'},
      {name: 'bld/C:/x', content: 'x'},
      {name: 'CC:/x', content: 'x'},
      {name: 'C:x', content: 'x'},
      {name: 'bld/l', type: 'symlink', linkname: './..a'},
    );
    expect(entries).toHaveLength(5);
  });

  test.each(['block-device', 'character-device', 'fifo'] as const)('for a %s', async (type) => {
    await expect(readEntries({name: 'bld/x', type})).rejects.toThrow(
      '"bld/x" in it is neither a file nor a folder nor a link',
    );
  });

  test('for a wanted entry that is too large to be held', async () => {
    await expect(readEntries({name: 'wanted', content: 'w'.repeat(MiB + 1)})).rejects.toThrow(
      'wanted in it has more than 1048576 bytes',
    );
  });

  test.each([
    ['without its end mark', (tar: Buffer) => tar.subarray(0, -1024)],
    ['with half of its end mark', (tar: Buffer) => tar.subarray(0, -512)],
    ['with something behind it', (tar: Buffer) => Buffer.concat([tar, Buffer.from('more')])],
  ])('%s', async (_what, change) => {
    const tar = await rawTar({name: 'bld/a', content: 'x'});
    for (const bytes of [change(tar), gzipSync(change(tar))]) await expect(read(bytes)).rejects.toThrow();
  });

  test('when it is neither gzip nor tar', async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('text'), Buffer.alloc(10_240, 'text')]) {
      await expect(read(bytes)).rejects.toThrow('it is neither a gzip nor a tar file');
    }
  });

  test('when it is gzip of no tar', async () => {
    await expect(read(gzipSync('no tar'.repeat(1000)))).rejects.toThrow('Invalid tar header');
  });

  test('for more entries than are held', async () => {
    const entry = (await rawTar({name: 'bld/a'})).subarray(0, 512);
    const tar = Buffer.concat([Buffer.alloc(200_001 * 512, entry), endOfTar]);
    await expect(read(gzipSync(tar, {level: 1}))).rejects.toThrow('it has more than 200000 entries');
  });
});

test('gzip and tar are told apart by what they begin with, and the file is closed again', async () => {
  const tar = await rawTar({name: 'bld/a'});
  const [plain, compressed] = [await fileOf(tar), await fileOf(gzipSync(tar))];
  expect(await isGzip(plain)).toBe(false);
  expect(await isGzip(compressed)).toBe(true);
  const open = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  expect(open.filter((path) => path === plain || path === compressed)).toEqual([]);
});

describe('an aborted signal ends the reading with its reason', () => {
  const reason = new Error('stopped');
  const signal = AbortSignal.abort(reason);

  test('of an archive', async () => {
    await expect(readArchive(await fileOf(await rawTar({name: 'a'})), 'wanted', signal)).rejects.toBe(reason);
  });

  test('for a digest', async () => {
    await expect(digestFile(await fileOf(Buffer.from('abc')), signal)).rejects.toMatchObject({name: 'AbortError'});
  });
});

test('a file is counted and hashed', async () => {
  const bytes = Buffer.alloc(3 * MiB + 7, 'abc');
  expect(await digestFile(await fileOf(bytes))).toEqual({size: bytes.length, sha256: sha256(bytes)});
});
