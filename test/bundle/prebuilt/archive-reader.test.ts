import {randomBytes} from 'node:crypto';
import {readdir, readlink, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {expect, test} from 'vitest';
import {withReaders} from '../../../src/bundle/prebuilt/archive-reader.js';
import {readLent} from '../../../src/bundle/archive/lent-chunks.js';
import type {Bundle} from '../../../src/bundle/types.js';
import {makeFolder} from '../project.js';

async function archive(content: Buffer): Promise<string> {
  return join(await makeFolder({file: content}), 'file');
}

function reading(path: string): Required<Pick<Bundle, 'read' | 'createReadStream'>> {
  const {read, createReadStream} = withReaders({path} as Bundle);
  if (read === undefined) throw new Error('the bundle cannot be read');
  return {read, createReadStream};
}

async function openFiles(path: string): Promise<readonly string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((link) => link === path);
}

test.each([0, 1, 512 * 1024, 1024 * 1024, 1_700_001])(
  'an archive of %d bytes is read whole, both ways',
  async (size) => {
    const content = randomBytes(size);
    const path = await archive(content);
    const {read, createReadStream} = reading(path);
    const chunks: Buffer[] = [];
    for await (const chunk of read()) chunks.push(Buffer.from(chunk));
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    expect((await buffer(createReadStream())).equals(content)).toBe(true);
    expect((await buffer(createReadStream({start: 1}))).equals(content.subarray(1))).toBe(true);
    expect(await openFiles(path)).toEqual([]);
  },
);

async function memoryOf(chunks: AsyncIterable<Uint8Array>, content: Buffer): Promise<Set<ArrayBufferLike>> {
  const memory = new Set<ArrayBufferLike>();
  let position = 0;
  for await (const chunk of chunks) {
    await new Promise(setImmediate);
    expect(Buffer.from(chunk).equals(content.subarray(position, position + chunk.length))).toBe(true);
    position += chunk.length;
    memory.add(chunk.buffer);
  }
  expect(position).toBe(content.length);
  return memory;
}

test('lent memory is used again, in turns: a chunk is good until the next is asked for', async () => {
  const content = randomBytes(3_000_000);
  const bundle = withReaders({path: await archive(content), size: content.length} as Bundle);
  const lent = readLent(bundle);
  if (lent === undefined) throw new Error('the bundle lends nothing');
  expect((await memoryOf(lent, content)).size).toBe(2);
  expect((await memoryOf(reading(bundle.path).read(), content)).size).toBe(6);
});

test('a reader that leaves early leaves no file open', async () => {
  const path = await archive(randomBytes(3_000_000));
  for await (const chunk of reading(path).read()) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  expect(await openFiles(path)).toEqual([]);
});

test('an archive that is gone is an error', async () => {
  const path = await archive(Buffer.from('x'));
  await rm(path);
  await expect(reading(path).read()[Symbol.asyncIterator]().next()).rejects.toThrow('ENOENT');
});

test('a copy of a bundle with a stream of its own has no other way to be read', async () => {
  const bundle = withReaders({path: await archive(Buffer.from('x'))} as Bundle);
  expect({...bundle}.read).toBeUndefined();
  expect(readLent({...bundle})).toBeUndefined();
  expect((await buffer({...bundle}.createReadStream())).toString()).toBe('x');
});
