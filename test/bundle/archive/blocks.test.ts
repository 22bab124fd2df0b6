import {Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {BlockPool, OpenBlock, blockBytes, freeWhenWritten} from '../../../src/bundle/archive/blocks.js';

test('a pool hands out what it was given back, if it is a whole block', () => {
  const pool = new BlockPool();
  const block = pool.take();
  expect(block.length).toBe(blockBytes);
  expect(pool.take()).not.toBe(block);
  pool.giveBack(block);
  pool.giveBack(block.subarray(1));
  expect(pool.take()).toBe(block);
  expect(pool.take()).not.toBe(block);
});

test('an open block gives room until it is full, and then that of the next one', () => {
  const open = new OpenBlock(new BlockPool());
  expect(open.rest()).toBeUndefined();
  expect(open.room(10).fill('a').length).toBe(10);
  expect(open.advance(10)).toBeUndefined();
  const room = open.room(2 * blockBytes);
  expect(room.length).toBe(blockBytes - 10);
  room.fill('b');
  expect(open.advance(room.length)?.toString()).toBe('a'.repeat(10) + 'b'.repeat(blockBytes - 10));
  open.room(1).fill('c');
  open.advance(1);
  expect(open.rest()?.toString()).toBe('c');
  expect(open.rest()).toBeUndefined();
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
