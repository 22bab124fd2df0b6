import {Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {freeWhenWritten} from '../../../src/bundle/archive/written-memory.js';

/** A stream that writes a chunk when it is told to. */
function slowWritable(): {readonly stream: Writable; write(): void} {
  const waiting: (() => void)[] = [];
  const stream = new Writable({write: (_chunk, _encoding, done) => void waiting.push(done)});
  return {stream, write: () => waiting.shift()?.()};
}

test('memory is used again when what is in it was written, not before', () => {
  const {stream, write} = slowWritable();
  let given = 0;
  const reused: Buffer[] = [];
  const free = freeWhenWritten(stream, {given: () => given, reuse: (memory) => reused.push(memory) > 0});
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

test('memory that cannot be used again is given back, without a garbage collection', async () => {
  const free = freeWhenWritten(new Writable(), {given: () => 0, reuse: () => false});
  const before = process.memoryUsage().arrayBuffers;
  const size = 256 * 1024 * 1024;
  const memory = Buffer.allocUnsafeSlow(size);
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(size / 2);
  free(memory);
  expect(memory.length).toBe(0);
  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(size / 2);
});

test('a part of the pool of small buffers stays what it is: others look at it', () => {
  const free = freeWhenWritten(new Writable(), {given: () => 0, reuse: () => false});
  const [small, other] = [Buffer.from('small'), Buffer.from('other')];
  free(small);
  expect([small.toString(), other.toString()]).toEqual(['small', 'other']);
});
