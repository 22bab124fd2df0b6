import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {gzip} from '../../../src/bundle/archive/gzip.js';

const MiB = 1024 * 1024;

async function compress(content: Buffer, {level = 6, block = MiB} = {}): Promise<Buffer> {
  const blocks = Array.from({length: Math.ceil(content.length / block)}, (_, index) =>
    content.subarray(index * block, (index + 1) * block),
  );
  const output: Buffer[] = [];
  for await (const piece of gzip(Readable.from(blocks), level)) output.push(piece);
  return Buffer.concat(output);
}

/** Bytes of so many values that a seed gives, the same each time. */
function noise(size: number, seed: number, values: number): Buffer {
  let state = seed;
  return Buffer.from(
    Uint8Array.from({length: size}, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state >>> 24) % values;
    }),
  );
}

const text = Buffer.from(Array.from({length: 120_000}, (_, index) => `const v${index} = ${index * 7};`).join('\n'));

test('the system gzip restores any content of any size at every level; the bytes depend on nothing else', async () => {
  const block = fc.oneof(
    fc.constantFrom(1, 512, 32_767, 32_768, 32_769, 65_536, MiB),
    fc.integer({min: 1, max: 70_000}),
  );
  // Sizes around whole blocks. A small alphabet compresses; of 256 values little is found twice.
  const input = fc
    .record({
      block,
      blocks: fc.nat({max: 9}),
      more: fc.integer({min: -2, max: 2}),
      seed: fc.nat(),
      values: fc.constantFrom(1, 3, 256),
    })
    .map(({block, blocks, more, seed, values}) => {
      const size = Math.max(0, Math.min(blocks, Math.ceil((2 * MiB) / block)) * block + more);
      return {block, content: noise(size, seed, values)};
    });
  await fc.assert(
    fc.asyncProperty(input, fc.integer({min: 0, max: 9}), async ({block, content}, level) => {
      const compressed = await compress(content, {level, block});
      const unpacked = execFileSync('gzip', ['-dc'], {input: compressed, maxBuffer: 64 * MiB});
      expect(unpacked.equals(content)).toBe(true);
      const again = await compress(content, {level, block});
      expect(again.equals(compressed)).toBe(true);
    }),
    {numRuns: 40},
  );
});

test('the header reveals neither the machine nor the time', async () => {
  expect((await compress(text)).subarray(0, 10).toString('hex')).toBe('1f8b08000000000000ff');
});

test('blocks share their dictionary: cutting costs next to nothing', async () => {
  const whole = execFileSync('gzip', ['-6', '-n'], {input: text, maxBuffer: 64 * MiB}).length;
  expect((await compress(text)).length).toBeLessThan(whole * 1.01);
  const repeated = Buffer.alloc(20 * 20_000, randomBytes(20_000));
  expect((await compress(repeated, {block: 40_000})).length).toBeLessThan(25_000);
});

test('incompressible data is stored, between compressed data', async () => {
  const noise = randomBytes(1_000_000);
  const compressed = await compress(Buffer.concat([text, noise, text]));
  const stored = Array.from({length: 90}, (_, index) =>
    noise.subarray(index * 10_000 + 50_000, index * 10_000 + 51_000),
  );
  // A block of stored bytes may end in the middle of one of them.
  expect(stored.filter((bytes) => compressed.includes(bytes)).length).toBeGreaterThan(80);
  expect(compressed.includes(text.subarray(500_000, 500_100))).toBe(false);
  const whole = execFileSync('gzip', ['-6', '-n'], {input: Buffer.concat([text, noise, text]), maxBuffer: 64 * MiB});
  expect(compressed.length).toBeLessThan(whole.length * 1.01);
});

test('repetitions within 32 KiB are found, even of noise', async () => {
  const noise = randomBytes(20_000);
  expect((await compress(Buffer.concat([noise, noise, noise]))).length).toBeLessThan(28_000);
});

test('a failure of the input ends the output with it', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield text.subarray(0, 1000);
    throw new Error('the disk is gone');
  }
  await expect(buffer(gzip(broken(), 6))).rejects.toThrow('the disk is gone');
});
