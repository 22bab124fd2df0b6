import {randomBytes} from 'node:crypto';
import {setImmediate} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {createRequestBodies, type BodyOptions} from '../../src/http/index.js';
import type {CreateBody} from '../../src/http/rate-limit/index.js';
import type {StreamSource} from '../../src/http/types.js';

const MiB = 1024 * 1024;

function open({context}: BodyOptions): AsyncGenerator<Uint8Array> {
  const {createBody} = context as {readonly createBody: CreateBody};
  return createBody(1);
}

function base64Body(source: StreamSource): AsyncGenerator<Uint8Array> {
  return open(createRequestBodies().base64Json({value: {}, field: 'data', source}));
}

test('the chunks of a base64 body stay as they are while the connection accepts them', async () => {
  const content = randomBytes(5 * MiB + 1);
  const source: StreamSource = {
    size: content.length,
    async *read() {
      for (let start = 0; start < content.length; start += MiB) {
        yield content.subarray(start, start + MiB);
        await setImmediate();
      }
    },
  };
  const pieces: Buffer[] = [];
  for await (const piece of base64Body(source)) {
    const before = Buffer.from(piece);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(before.equals(piece)).toBe(true);
    pieces.push(before);
  }
  expect(Buffer.concat(pieces).toString()).toBe(`{"data":"${content.toString('base64')}"}`);
});

test('a body that nobody reads to its end closes its source', async () => {
  let closed = false;
  const source: StreamSource = {
    size: 3 * MiB,
    async *read() {
      try {
        for (let piece = 0; piece < 3; piece++) {
          await setImmediate();
          yield Buffer.alloc(MiB);
        }
      } finally {
        closed = true;
      }
    },
  };
  const body = base64Body(source);
  await body.next();
  await body.next();
  expect(closed).toBe(false);
  await body.return(undefined);
  expect(closed).toBe(true);
});
