import {Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {BlockStream, ReadMemory, slabBytes, freeWhenWritten} from '../../../src/bundle/archive/memory.js';

async function cut(blocks: BlockStream, ...chunks: readonly string[]): Promise<string[]> {
  for (const chunk of chunks) blocks.write(chunk);
  blocks.end();
  const texts: string[] = [];
  for await (const block of blocks as AsyncIterable<Buffer>) texts.push(block.toString());
  return texts;
}

test('blocks have equal sizes however the bytes arrive; only the last is shorter, and none is empty', async () => {
  expect(await cut(new BlockStream(4), 'ab', 'cdefghij', 'k')).toEqual(['abcd', 'efgh', 'ijk']);
  expect(await cut(new BlockStream(4), 'abcd', 'efgh')).toEqual(['abcd', 'efgh']);
  expect(await cut(new BlockStream(4))).toEqual([]);
});

test('a recycled block is filled again if it is a full one', async () => {
  const blocks = new BlockStream(4);
  const whole = Buffer.alloc(4);
  blocks.recycle(whole);
  blocks.recycle(Buffer.alloc(3));
  expect(await cut(blocks, 'abcd', 'efgh', 'ij')).toEqual(['abcd', 'efgh', 'ij']);
  expect(whole.toString()).toBe('efgh');
});

test('each chunk is reported once its bytes are in blocks', async () => {
  const copied: string[] = [];
  const blocks = new BlockStream(4, (chunk) => copied.push(chunk.toString()));
  expect(await cut(blocks, 'ab', 'cdefghij', 'k')).toEqual(['abcd', 'efgh', 'ijk']);
  expect(copied).toEqual(['ab', 'cdefghij', 'k']);
});

test('small pieces share a slab, and do not overlap', () => {
  const memory = new ReadMemory();
  const [one, other] = [memory.take(10), memory.take(20)];
  expect([one.length, other.length]).toEqual([10, 20]);
  expect(other.buffer).toBe(one.buffer);
  expect(other.byteOffset).toBe(one.byteOffset + 10);
});

test('a slab is reused once all of it was given back, in any pieces', () => {
  const memory = new ReadMemory();
  const first = memory.take(slabBytes);
  const second = memory.take(slabBytes);
  expect(second.buffer).not.toBe(first.buffer);
  memory.giveBack(first.subarray(0, 100));
  expect(memory.take(slabBytes).buffer).not.toBe(first.buffer);
  memory.giveBack(first.subarray(100));
  expect(memory.take(slabBytes).buffer).toBe(first.buffer);
});

test('the current slab starts over once none of it is in use', () => {
  const memory = new ReadMemory();
  const {buffer} = memory.take(100);
  memory.giveBack(memory.take(slabBytes - 100));
  expect(memory.take(slabBytes).buffer).not.toBe(buffer);
  const alone = new ReadMemory();
  const whole = alone.take(slabBytes);
  alone.giveBack(whole);
  expect(alone.take(slabBytes).buffer).toBe(whole.buffer);
});

test('empty pieces need no memory, and foreign memory is ignored', () => {
  const memory = new ReadMemory();
  expect(memory.take(0).length).toBe(0);
  const taken = memory.take(slabBytes);
  memory.giveBack(Buffer.alloc(slabBytes));
  expect(memory.take(slabBytes).buffer).not.toBe(taken.buffer);
});

test('an empty piece given back late does not free a slab twice', () => {
  const memory = new ReadMemory();
  const first = memory.take(slabBytes);
  const nothing = memory.take(0);
  expect(nothing.buffer).toBe(first.buffer);
  memory.take(slabBytes);
  memory.giveBack(first);
  memory.giveBack(nothing);
  const [again, another] = [memory.take(slabBytes), memory.take(slabBytes)];
  expect(again.buffer).toBe(first.buffer);
  expect(another.buffer).not.toBe(first.buffer);
});

/** A stream that writes a chunk when it is told to. */
function slowWritable(): {readonly stream: Writable; write(): void} {
  const waiting: (() => void)[] = [];
  const stream = new Writable({write: (_chunk, _encoding, done) => void waiting.push(done)});
  return {stream, write: () => waiting.shift()?.()};
}

test('memory is reused once its content was written, not before', () => {
  const {stream, write} = slowWritable();
  let given = 0;
  const reused: Buffer[] = [];
  const free = freeWhenWritten(
    stream,
    () => given,
    (memory) => reused.push(memory),
  );
  const chunks = [Buffer.alloc(5, 'a'), Buffer.alloc(7, 'b'), Buffer.alloc(0)] as const;
  for (const chunk of chunks.slice(0, 2)) {
    stream.write(chunk);
    given += chunk.length;
    free(chunk);
  }
  expect(reused).toEqual([]);
  write();
  free(chunks[2]);
  expect(reused).toEqual([chunks[0]]);
  write();
  free(chunks[2]);
  expect(reused.slice(1)).toEqual([chunks[1], chunks[2], chunks[2]]);
});
