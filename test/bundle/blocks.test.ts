import {expect, test} from 'vitest';
import {BlockStream} from '../../src/bundle/blocks.js';

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
  blocks.recycle(whole);
  blocks.recycle(Buffer.alloc(3));
  expect(await cut(blocks, 'abcd', 'efgh', 'ij')).toEqual(['abcd', 'efgh', 'ij']);
  expect(whole.toString()).toBe('efgh');
});
