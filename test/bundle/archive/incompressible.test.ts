import {createCipheriv} from 'node:crypto';
import {expect, test} from 'vitest';
import {IncompressibleDetector, type Run} from '../../../src/bundle/archive/gzip.js';

const KiB = 1024;

/** The same bytes each time, without any pattern. */
function noise(size: number, seed = 0): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16)).update(Buffer.alloc(size));
}

function runs(...blocks: readonly Buffer[]): Run[] {
  const detector = new IncompressibleDetector();
  return blocks.flatMap((block) => [...detector.runs(block)]);
}

/** Random numbers from 0 to 1. */
function fractions(count: number): Buffer {
  const random = noise(4 * count);
  return Buffer.from(Float32Array.from({length: count}, (_, index) => random.readUInt32LE(4 * index) / 2 ** 32).buffer);
}

const text = Buffer.from('export const answer = 42;\n'.repeat(4000));

test('noise is one run, text another, cut between them to 4 KiB', () => {
  expect(runs(noise(256 * KiB))).toEqual([{start: 0, end: 256 * KiB, isIncompressible: true}]);
  expect(runs(text)).toEqual([{start: 0, end: text.length, isIncompressible: false}]);
  const mixed = Buffer.concat([text.subarray(0, 20_000), noise(100_000), text.subarray(0, 20_000)]);
  expect(runs(mixed)).toEqual([
    {start: 0, end: 20_480, isIncompressible: false},
    {start: 20_480, end: 118_784, isIncompressible: true},
    {start: 118_784, end: 140_000, isIncompressible: false},
  ]);
});

test.each([
  ['all values in turns', Buffer.from(Array.from({length: 64 * KiB}, (_, index) => index % 256))],
  ['the same 8 KiB of noise again and again', Buffer.alloc(64 * KiB, noise(8 * KiB))],
  ['the same 30,000 bytes of noise again and again', Buffer.alloc(300_000, noise(30_000)).subarray(30_000)],
  ['base64 of noise', Buffer.from(noise(64 * KiB).toString('base64'))],
  ['bytes of which one in sixteen is zero', noise(64 * KiB).map((byte, index) => (index % 16 === 1 ? 0 : byte))],
  ['numbers of 4 bytes below 2^24', noise(64 * KiB).map((byte, index) => (index % 4 === 3 ? 0 : byte))],
  ['numbers of 8 bytes below 2^56', noise(64 * KiB).map((byte, index) => (index % 8 === 7 ? 0 : byte))],
  ['fractions of 4 bytes', fractions(16 * KiB)],
  [
    '3 colours, of which one has half the values',
    noise(63 * KiB).map((byte, index) => (index % 3 === 1 ? byte >> 1 : byte)),
  ],
])('compressible data is not noise: %s', (_what, block) => {
  const found = runs(noise(30_000), Buffer.from(block));
  expect(found.slice(1).filter(({isIncompressible}) => isIncompressible)).toEqual([]);
});

test('text in any alphabet is compressible, and noise without low bytes is not text', () => {
  const letters = 'Zażółć gęślą jaźń, 日本語のテキスト, Ελληνικά\n'.repeat(2000);
  expect(runs(Buffer.from(letters)).some(({isIncompressible}) => isIncompressible)).toBe(false);
  const high = noise(64 * KiB).map((byte) => 128 + (byte % 73));
  expect(runs(Buffer.from(high))).toHaveLength(1);
  expect(runs(Buffer.concat([noise(64 * KiB), text]))[0]).toMatchObject({start: 0, isIncompressible: true});
});
