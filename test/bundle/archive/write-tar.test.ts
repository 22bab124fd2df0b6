import {once} from 'node:events';
import {buffer} from 'node:stream/consumers';
import {TarArchive, type EntryData} from 'archiver';
import fc from 'fast-check';
import {extract, type Header} from 'tar-stream';
import {expect, test} from 'vitest';
import {blockBytes} from '../../../src/bundle/archive/blocks.js';
import {tarSize} from '../../../src/bundle/archive/archive-size.js';
import type {TarEntry} from '../../../src/bundle/archive/tar-entries.js';
import {commonHeader, longHeaders, writeHeader} from '../../../src/bundle/archive/tar-header.js';
import {writeTar} from '../../../src/bundle/archive/write-tar.js';

const modifiedAt = new Date('2001-02-03T04:05:06Z');
const MiB = 1024 * 1024;

function content(name: string, size: number): TarEntry {
  return {kind: 'content', name, content: Buffer.alloc(size, `${name} `)};
}

/** What archiver makes of the same entries, alone. */
async function archiverTar(entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = new TarArchive();
  for (const entry of entries) {
    const data = {name: entry.name, date: modifiedAt};
    const link = {...data, mode: 0o755, type: 'symlink', linkname: entry.kind === 'link' ? entry.target : ''};
    if (entry.kind === 'content') archive.append(entry.content, {...data, mode: 0o644});
    else archive.append('', link as EntryData);
  }
  const [tar] = await Promise.all([buffer(archive), archive.finalize()]);
  return tar;
}

/** What another reader finds in headers. */
async function readHeaders(headers: Buffer): Promise<Header> {
  const reader = extract();
  const found = once(reader, 'entry') as Promise<[Header]>;
  reader.write(headers);
  const [header] = await found;
  return header;
}

const part = fc.oneof(
  fc.stringMatching(/^[!-.0-9;-[\]-~]{1,40}$/),
  fc.stringMatching(/^[a-zé漢\u{1F600}]{1,40}$/u),
  fc.constantFrom(1, 50, 99, 100, 101, 154, 155, 156).map((length) => 'n'.repeat(length)),
);
const path = fc
  .array(
    part.filter((name) => !['.', '..'].includes(name)),
    {minLength: 1, maxLength: 6},
  )
  .map((parts) => parts.join('/'));
const entry: fc.Arbitrary<TarEntry> = fc.oneof(
  fc
    .tuple(path, fc.constantFrom(0, 1, 511, 512, 513, MiB - 1536, MiB - 1024, MiB - 512, MiB, 2 * MiB + 1))
    .map(([name, size]) => content(name, size)),
  fc.record({kind: fc.constant('link' as const), name: path, target: path}),
);

test('any entries give the same bytes as with archiver alone, in whole blocks, as many as announced', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, {maxLength: 8}), async (entries) => {
      const blocks: Buffer[] = [];
      for await (const block of writeTar(entries, {modifiedAt})) blocks.push(block);
      const tar = Buffer.concat(blocks);
      expect(tar.equals(await archiverTar(entries))).toBe(true);
      expect(tar.length).toBe(await tarSize(entries, modifiedAt));
      expect(blocks.slice(0, -1).every(({length}) => length === blockBytes)).toBe(true);
      expect(blocks.at(-1)?.length).toBeGreaterThan(0);
    }),
    {numRuns: 60},
  );
});

test('so do more long names than archiver is given at a time, between others', async () => {
  const entries = Array.from({length: 350}, (_, index) =>
    content(`${index % 3 === 0 ? 'n' : 'é'}${String(index)}`, 700),
  );
  const tar = await buffer(writeTar(entries, {modifiedAt}));
  expect(tar.equals(await archiverTar(entries))).toBe(true);
  expect(tar.length).toBe(await tarSize(entries, modifiedAt));
});

test.each([
  [8 * 1024 * MiB - 1, 0x37],
  [8 * 1024 * MiB, 0x80],
  [123_456_789_012_345, 0x80],
])('a header holds a size of %i bytes, in octal digits if they suffice', async (size, first) => {
  const file = (name: string): TarEntry => ({kind: 'file', name, source: '', size, modifiedMs: 0, executable: true});
  const short = Buffer.alloc(512, 'x');
  writeHeader(short, file('name'), commonHeader(modifiedAt));
  const [long = short] = (await longHeaders([file('é')], modifiedAt)).values();
  const expected = {type: 'file', mode: 0o755, size, mtime: modifiedAt, uid: 0, gid: 0};
  expect(await readHeaders(short)).toMatchObject({...expected, name: 'name'});
  expect(await readHeaders(long)).toMatchObject({...expected, name: 'é'});
  expect([short[124], long.subarray(-512)[124]]).toEqual([first, first]);
});

test('archiver is asked for names and targets that are not ASCII, or for which there is not enough room', async () => {
  const isLong = async (entry: TarEntry): Promise<boolean> => (await longHeaders([entry], modifiedAt)).has(entry);
  expect(await isLong(content('n'.repeat(100), 0))).toBe(false);
  expect(await isLong(content('n'.repeat(101), 0))).toBe(true);
  expect(await isLong(content(`${'d'.repeat(155)}/${'n'.repeat(100)}`, 0))).toBe(false);
  expect(await isLong(content(`${'d'.repeat(156)}/${'n'.repeat(100)}`, 0))).toBe(true);
  expect(await isLong(content(`d/${'n'.repeat(101)}`, 0))).toBe(true);
  expect(await isLong(content('é', 0))).toBe(true);
  expect(await isLong({kind: 'link', name: 'n', target: 't'.repeat(100)})).toBe(false);
  expect(await isLong({kind: 'link', name: 'n', target: 't'.repeat(101)})).toBe(true);
});

test('an entry that archiver rejects is an error', async () => {
  await expect(longHeaders([content('', 1), content('é', 1)], modifiedAt)).resolves.toHaveProperty('size', 1);
  await expect(longHeaders([{kind: 'link', name: '', target: 'é'}], modifiedAt)).rejects.toThrow('name');
});

test('everything else gets a turn between two blocks, and while there are many small entries', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const read = async (entries: readonly TarEntry[]): Promise<number> => {
    turns = 0;
    for await (const block of writeTar(entries, {modifiedAt})) expect(block.length).toBeGreaterThan(0);
    return turns;
  };
  expect(await read([content('large', 10 * MiB)])).toBeGreaterThanOrEqual(10);
  const small = Array.from({length: 1000}, (_, index) => content(String(index), 0));
  expect(await read(small)).toBeGreaterThanOrEqual(10);
  isDone = true;
});

test('no more entries are requested than are looked at together', async () => {
  let asked = 0;
  function* entries(): Generator<TarEntry> {
    for (; asked < 1000; asked += 1) yield content(String(asked), MiB / 4);
  }
  const tar = writeTar(entries(), {modifiedAt});
  expect(asked).toBe(0);
  await tar.next();
  await tar.return(undefined);
  expect(asked).toBeLessThanOrEqual(100);
});
