import {spawnSync} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {readdir, readlink, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {digestFile, readArchive, type ScannedArchive} from '../../../src/bundle/prebuilt/read-archive.js';
import {isGzip} from '../../../src/bundle/prebuilt/read-tar.js';
import {withReaders} from '../../../src/bundle/prebuilt/bundle-readers.js';
import type {Bundle} from '../../../src/bundle/types.js';
import {rawEntry, rawTar, unclearEntries, type HostileEntry} from '../../local-runtime/archives.js';
import {makeFolder} from '../../folder.js';

const MiB = 1024 * 1024;
const endOfTar = Buffer.alloc(1024);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function fileOf(bytes: Buffer): Promise<string> {
  return join(await makeFolder({archive: bytes}), 'archive');
}

async function read(bytes: Buffer, wanted = 'wanted'): Promise<ScannedArchive> {
  return readArchive(await fileOf(bytes), {wanted});
}

async function readEntries(...entries: readonly HostileEntry[]): Promise<ScannedArchive> {
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
        {name: 'bld/hard', size: 0, executable: false, linkTarget: 'a.js'},
      ],
      wanted: undefined,
    });
  });

  test('with the content of the requested entry; the first, if there are several', async () => {
    const content = 'w'.repeat(MiB);
    const {wanted} = await readEntries(
      {name: 'other', content: 'o'.repeat(MiB + 1)},
      {name: 'wanted', content},
      {name: 'wanted', content: 'again'},
    );
    expect(String(wanted)).toBe(content);
  });

  test('with names as they are unpacked', async () => {
    const {entries} = await readEntries({name: './', type: 'directory'}, {name: './bld//./a', content: 'x'});
    expect(entries).toMatchObject([{name: 'bld/a'}]);
  });

  test('of any length, even if its end marker arrives in two pieces', async () => {
    // A file is read 1 MiB at a time: the last piece has half of the mark.
    const tar = await rawTar({name: 'bld/a', content: 'x'.repeat(MiB - 1024)});
    expect(tar.length).toBe(MiB + 512);
    expect((await read(tar)).entries).toHaveLength(1);
    await expect(read(tar.subarray(0, -512))).rejects.toThrow('it is truncated');
  });

  test('that compresses very well, if it is small', async () => {
    const tar = await rawTar({name: 'bld/zeros', content: '\0'.repeat(2 * MiB)});
    const bytes = gzipSync(tar);
    expect(bytes.length).toBeLessThan(tar.length / 300);
    expect((await read(bytes)).entries).toMatchObject([{size: 2 * MiB}]);
  });
});

describe('an archive is refused', () => {
  const link = (name: string, linkname: string): HostileEntry => ({name, type: 'symlink', linkname});
  const hardLink = (name: string, linkname: string): HostileEntry => ({name, type: 'link', linkname});
  const unsafeNames = [
    ...['../evil', 'bld/../bld/evil', 'bld/a\\b', 'bld\\..\\evil', '/etc/evil', '\\evil'],
    ...['c:/evil', 'C:evil.txt', 'Z:\\evil', `bld/${'n'.repeat(4093)}`, `bld/${'n'.repeat(100)}\0`],
  ];
  const unsafeTargets = ['/etc/passwd', 'C:\\x', '../../x', '..\\..\\x', 'n'.repeat(4097), ''];
  const leadsOut = '"bld/l" in it is a link that does not resolve inside the archive';

  test.each<readonly [what: string, entries: readonly HostileEntry[], reason: string]>([
    ...unsafeNames.map((name) => {
      const shown = JSON.stringify(name.slice(0, 200));
      return [`the name ${shown}`, [{name: 'bld/a'}, {name}], `it has an unsafe entry name, ${shown}`] as const;
    }),
    ['a directory that climbs', [{name: '../evil/', type: 'directory'}], 'it has an unsafe entry name, "../evil/"'],
    ...unsafeTargets.flatMap((target) => [
      [`a link to ${target}`, [link('bld/l', target)], leadsOut] as const,
      [`a hard link to ${target}`, [hardLink('bld/l', target)], '"bld/l" in it is a hard link that does not'] as const,
    ]),
    // Its target starts at the root.
    ['a hard link that climbs', [hardLink('bld/l', '../x')], 'a hard link that does not resolve'],
    ['a hard link to a link', [link('a', 'b'), hardLink('h', 'a')], 'a hard link that does not resolve'],
    ['a link through another one', [link('bld/a', '..'), link('bld/l', 'a/../..')], leadsOut],
    ['links in a circle', [link('a', 'b'), link('b', 'a')], 'a link that does not resolve inside'],
    ['a file below a link', [link('a', 'b'), {name: 'a/x', content: 'x'}], '"a/x" in it is inside "a"'],
    ['a file below a later link', [{name: 'a/x', content: 'x'}, link('a', 'b')], '"a/x" in it is inside "a"'],
    ['a file below a file', [{name: 'a'}, {name: 'a/b/c'}], '"a/b/c" in it is inside "a"'],
    ['a link twice', [link('a', 'b'), link('a', 'c')], 'it contains "a" twice'],
    ['a link in the place of a file', [{name: 'a'}, link('./a', 'c')], 'it contains "a" twice'],
    ...(['block-device', 'character-device', 'fifo'] as const).map(
      (type) => [`a ${type}`, [{name: 'bld/x', type}], '"bld/x" in it is not a file, a folder or a link'] as const,
    ),
    ['a wanted entry that is too large', [{name: 'wanted', content: 'w'.repeat(MiB + 1)}], 'more than 1048576 bytes'],
  ])('for %s', async (_what, entries, reason) => {
    await expect(readEntries(...entries)).rejects.toThrow(reason);
  });

  test('but not for links that lead anywhere inside, as a file system follows them', async () => {
    const links = [link('a/b', '..'), link('c', 'a/b/a'), link('d', 'nowhere'), link('a/e', '../c/b')];
    expect((await readEntries(...links, link('bld/l', '../x'))).entries).toHaveLength(5);
  });

  test('but not for names and targets that only look like it', async () => {
    const {entries} = await readEntries(
      {name: 'bld/..a/b..', content: 'x'},
      {name: 'bld/C:/x', content: 'x'},
      {name: 'CC:/x', content: 'x'},
      {name: 'bld/l', type: 'symlink', linkname: './..a'},
    );
    expect(entries).toHaveLength(4);
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
      await expect(read(bytes)).rejects.toThrow('it is not a gzip or tar file');
    }
  });

  test('when it is gzip but not tar', async () => {
    await expect(read(gzipSync('no tar'.repeat(1000)))).rejects.toThrow('Invalid tar header');
  });

  test('for too many entries', async () => {
    const entry = (await rawTar({name: 'bld/a'})).subarray(0, 512);
    const tar = Buffer.concat([Buffer.alloc(200_001 * 512, entry), endOfTar]);
    await expect(read(gzipSync(tar, {level: 1}))).rejects.toThrow('it has more than 200000 entries');
  });
});

test.each(['gnu', 'pax'])('an archive of GNU tar with a long name and a long target is read (%s)', async (format) => {
  const [file, target] = [`${'n'.repeat(120)}/${'f'.repeat(120)}`, 't'.repeat(150)];
  const folder = await makeFolder({[`bld/${file}`]: 'x'});
  await symlink(target, join(folder, 'bld/link'));
  const {stdout} = spawnSync('tar', ['-cf', '-', `--format=${format}`, '--sort=name', '-C', folder, 'bld']);
  const {entries} = await read(stdout);
  expect(entries).toMatchObject([
    {name: 'bld/link', linkTarget: target},
    {name: `bld/${file}`, size: 1},
  ]);
});

test.each<readonly [string, HostileEntry, string]>([
  ['a header of its own that is too large', {name: 'a', pax: {comment: 'c'.repeat(5_000_000)}}, 'exceeds max size'],
  ['too many characters of names', {name: 'a', linkname: 'n'.repeat(3_000_000), type: 'symlink'}, 'add up to more'],
])('an archive is refused for %s', async (_what, entry, reason) => {
  await expect(read(gzipSync(await rawTar(...Array<HostileEntry>(12).fill(entry))))).rejects.toThrow(reason);
});

test.each(Object.entries(unclearEntries))('an archive is refused for %s', async (_what, entries) => {
  const tar = Buffer.concat([await rawTar({name: 'bld/ssr.js', content: 'x'}), endOfTar]);
  await expect(read(Buffer.concat([...entries, tar]))).rejects.toThrow(/ambiguous|renames|below 0/);
});

test('a comment for all entries, as git archive writes it, is not refused', async () => {
  const comment = rawEntry('pax', {type: 'g', content: '16 comment=0123\n'});
  expect((await read(Buffer.concat([comment, await rawTar({name: 'a', content: 'x'})]))).entries).toHaveLength(1);
});

test.each([0, 1000])('an archive is refused for a second gzip stream, after %i bytes of the tar or all', async (at) => {
  const tar = await rawTar({name: 'a', content: 'x'});
  const [first, second] = at === 0 ? [tar, tar] : [tar.subarray(0, at), tar.subarray(at)];
  await expect(read(Buffer.concat([gzipSync(first), gzipSync(second)]))).rejects.toThrow('after the end of its gzip');
});

test('data after the gzip stream is refused', async () => {
  const tar = await rawTar({name: 'bld/a', content: 'x'});
  for (const more of ['more', '\0more']) {
    await expect(read(Buffer.concat([gzipSync(tar), Buffer.from(more)]))).rejects.toThrow();
  }
});

test('gzip and tar are recognized by their first bytes, and the file is closed', async () => {
  const tar = await rawTar({name: 'bld/a'});
  const [plain, compressed] = [await fileOf(tar), await fileOf(gzipSync(tar))];
  expect(await isGzip(plain)).toBe(false);
  expect(await isGzip(compressed)).toBe(true);
  const open = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  expect(open.filter((path) => path === plain || path === compressed)).toEqual([]);
});

describe('an aborted signal stops reading with its reason', () => {
  const reason = new Error('stopped');
  const signal = AbortSignal.abort(reason);

  test('of an archive', async () => {
    await expect(readArchive(await fileOf(await rawTar({name: 'a'})), {signal})).rejects.toBe(reason);
  });

  test('for a digest', async () => {
    await expect(digestFile(await fileOf(Buffer.from('abc')), signal)).rejects.toMatchObject({name: 'AbortError'});
  });
});

test('a file is counted and hashed', async () => {
  const bytes = Buffer.alloc(3 * MiB + 7, 'abc');
  expect(await digestFile(await fileOf(bytes))).toEqual({size: bytes.length, sha256: sha256(bytes)});
});

test.each([0, 1, 512 * 1024, 1_700_001])('an archive of %d bytes is read, from any byte', async (size) => {
  const content = randomBytes(size);
  const {createReadStream} = withReaders({path: await fileOf(content)} as Bundle);
  expect((await buffer(createReadStream())).equals(content)).toBe(true);
  expect((await buffer(createReadStream({start: 1}))).equals(content.subarray(1))).toBe(true);
});
