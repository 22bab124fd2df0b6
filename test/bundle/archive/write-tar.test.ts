import {appendFileSync, statSync} from 'node:fs';
import {readdir, readlink} from 'node:fs/promises';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {TarArchive, type EntryData} from 'archiver';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {TarEntry} from '../../../src/bundle/archive/tar-entries.js';
import {blockBytes, writeTar} from '../../../src/bundle/archive/write-tar.js';
import {makeFolder} from '../../folder.js';

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
    .tuple(
      path,
      fc.constantFrom(0, 1, 511, 512, 513, ...[1536, 1024, 512, 0].map((less) => blockBytes - less), 2 * MiB + 1),
    )
    .map(([name, size]) => content(name, size)),
  fc.record({kind: fc.constant('link' as const), name: path, target: path}),
);

test('a tar has the same bytes as with archiver alone, in whole blocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, {maxLength: 8}), async (entries) => {
      const blocks: Buffer[] = [];
      for await (const block of writeTar(entries, {modifiedAt})) blocks.push(block);
      const tar = Buffer.concat(blocks);
      expect(tar.equals(await archiverTar(entries))).toBe(true);
      expect(blocks.slice(0, -1).every(({length}) => length === blockBytes)).toBe(true);
      expect(blocks.at(-1)?.length).toBeGreaterThan(0);
    }),
    // One of them fills its block.
    {numRuns: 60, examples: [[[content('n', blockBytes - 1536)]]]},
  );
});

test('more entries than archiver holds at a time are written in their order', async () => {
  const entries = Array.from({length: 350}, (_, index) =>
    content(`${index % 3 === 0 ? 'n' : 'é'}${String(index)}`, 700),
  );
  expect((await buffer(writeTar(entries, {modifiedAt}))).equals(await archiverTar(entries))).toBe(true);
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** An endless build. Tells how many of its entries were asked for. */
function endless(size: number) {
  const asked = {count: 0};
  function* entries(): Generator<TarEntry> {
    for (;;) yield content(String(asked.count++), size);
  }
  return {asked, entries: entries()};
}

test('a tar lets only so many entries wait as fit into memory', async () => {
  const {asked, entries} = endless(MiB / 4);
  const tar = writeTar(entries, {modifiedAt});
  expect((await tar.next()).value).toHaveLength(blockBytes);
  await turns(100);
  expect(asked.count).toBeLessThan(100);
  await tar.return(undefined);
});

async function largeFile(bytes: number): Promise<Extract<TarEntry, {kind: 'file'}>> {
  const source = join(await makeFolder({file: Buffer.alloc(bytes)}), 'file');
  const {size, mtimeMs} = statSync(source);
  return {kind: 'file', name: 'file', source, size, modifiedMs: mtimeMs, executable: false};
}

test('many large files are no warning of a leak', async () => {
  const file = await largeFile(MiB);
  const files: TarEntry[] = Array.from({length: 20}, (_, index) => ({...file, name: `file-${index}`}));
  const warnings: Error[] = [];
  const keep = (warning: Error): void => void warnings.push(warning);
  process.on('warning', keep);
  const {length} = await buffer(writeTar(files, {modifiedAt}));
  process.off('warning', keep);
  expect(length).toBe(20 * (MiB + 512) + 1024);
  expect(warnings).toEqual([]);
});

test.each([
  ['at once', 300_000, 0],
  ['after a while', 3 * MiB, 50],
])('a reader that stops early, %s, ends it all: no file stays open', async (_when, bytes, count) => {
  const file = await largeFile(bytes);
  const tar = writeTar(Array<TarEntry>(10).fill(file), {modifiedAt});
  expect((await tar.next()).value).toHaveLength(blockBytes);
  await turns(count);
  await tar.return(undefined);
  await turns(50);
  const descriptors = await readdir('/proc/self/fd');
  const open = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(open).not.toContain(file.source);
});

test('a large file that grows while it is read is an error', async () => {
  const file = await largeFile(3 * MiB);
  const grow = (): void => {
    appendFileSync(file.source, 'x');
  };
  await expect(buffer(writeTar([file], {modifiedAt, onBytes: grow}))).rejects.toMatchObject({code: 'ERR_FILE_CHANGED'});
});

test('an entry that archiver rejects is an error', async () => {
  await expect(buffer(writeTar([content('', 1)], {modifiedAt}))).rejects.toThrow('name');
});
