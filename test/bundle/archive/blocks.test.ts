import {expect, test} from 'vitest';
import {BlockStream} from '../../../src/bundle/archive/blocks.js';

async function cut(blocks: BlockStream, ...chunks: readonly string[]): Promise<string[]> {
  for (const chunk of chunks) blocks.write(chunk);
  blocks.end();
  const texts: string[] = [];
  for await (const block of blocks as AsyncIterable<Buffer>) texts.push(block.toString());
  return texts;
}

test('blocks are of one size, however the bytes come; only the last is shorter, and none is empty', async () => {
  expect(await cut(new BlockStream(4), 'ab', 'cdefghij', 'k')).toEqual(['abcd', 'efgh', 'ijk']);
  expect(await cut(new BlockStream(4), 'abcd', 'efgh')).toEqual(['abcd', 'efgh']);
  expect(await cut(new BlockStream(4))).toEqual([]);
});

test('a block that was given back is filled again, if it is a whole one', async () => {
  const blocks = new BlockStream(4);
  const whole = Buffer.alloc(4);
  expect(blocks.recycle(whole)).toBe(true);
  expect(blocks.recycle(Buffer.alloc(3))).toBe(false);
  expect(await cut(blocks, 'abcd', 'efgh', 'ij')).toEqual(['abcd', 'efgh', 'ij']);
  expect(whole.toString()).toBe('efgh');
});

test('each chunk is told when its bytes are in blocks', async () => {
  const copied: string[] = [];
  const blocks = new BlockStream(4, {onCopied: (chunk) => copied.push(chunk.toString())});
  expect(await cut(blocks, 'ab', 'cdefghij', 'k')).toEqual(['abcd', 'efgh', 'ijk']);
  expect(copied).toEqual(['ab', 'cdefghij', 'k']);
});

test.each([
  [true, SharedArrayBuffer],
  [false, ArrayBuffer],
])('shared %s: blocks are in a %o', async (shared, memory) => {
  const blocks = new BlockStream(4, {shared});
  blocks.end('abcdefghij');
  for await (const block of blocks as AsyncIterable<Buffer>) expect(block.buffer).toBeInstanceOf(memory);
});
