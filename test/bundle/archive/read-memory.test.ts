import {expect, test} from 'vitest';
import {ReadMemory, slabBytes} from '../../../src/bundle/archive/read-memory.js';

test('small pieces share a slab, and do not overlap', () => {
  const memory = new ReadMemory();
  const [one, other] = [memory.take(10), memory.take(20)];
  expect([one.length, other.length]).toEqual([10, 20]);
  expect(other.buffer).toBe(one.buffer);
  expect(other.byteOffset).toBe(one.byteOffset + 10);
});

test('a slab is used again when all of it was given back, in any pieces', () => {
  const memory = new ReadMemory();
  const first = memory.take(slabBytes);
  const second = memory.take(slabBytes);
  expect(second.buffer).not.toBe(first.buffer);
  memory.giveBack(first.subarray(0, 100));
  expect(memory.take(slabBytes).buffer).not.toBe(first.buffer);
  memory.giveBack(first.subarray(100));
  expect(memory.take(slabBytes).buffer).toBe(first.buffer);
});

test('a slab that is being taken from begins anew when nobody looks at it', () => {
  const memory = new ReadMemory();
  const {buffer} = memory.take(100);
  memory.giveBack(memory.take(slabBytes - 100));
  expect(memory.take(slabBytes).buffer).not.toBe(buffer);
  const alone = new ReadMemory();
  const whole = alone.take(slabBytes);
  alone.giveBack(whole);
  expect(alone.take(slabBytes).buffer).toBe(whole.buffer);
});

test('nothing needs no memory, and memory from elsewhere is left alone', () => {
  const memory = new ReadMemory();
  expect(memory.take(0).length).toBe(0);
  const taken = memory.take(slabBytes);
  memory.giveBack(Buffer.alloc(slabBytes));
  expect(memory.take(slabBytes).buffer).not.toBe(taken.buffer);
});

test('nothing that is given back late does not make a slab free twice: two would read into it', () => {
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
