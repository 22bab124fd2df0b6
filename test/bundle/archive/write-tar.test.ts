import {once} from 'node:events';
import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {ReadMemory} from '../../../src/bundle/archive/memory.js';
import type {TarEntry} from '../../../src/bundle/archive/tar-entries.js';
import {writeTar} from '../../../src/bundle/archive/write-tar.js';

const options = {memory: new ReadMemory(), modifiedAt: new Date(0), onBytes: () => undefined};

function entry(name: string): TarEntry {
  return {kind: 'content', name, content: Buffer.from('content')};
}

test('an entry that the library rejects destroys the destination with the error', async () => {
  const destination = new PassThrough();
  const failed = once(destination, 'error');
  await writeTar([entry('a'), entry(''), entry('b')], destination.resume(), options);
  expect(await failed).toEqual([expect.objectContaining({message: expect.stringContaining('name')})]);
});

test('no more entries are requested once the destination is destroyed', async () => {
  const destination = new PassThrough();
  destination.destroy();
  let asked = 0;
  function* entries(): Generator<TarEntry> {
    for (; asked < 100; asked += 1) yield entry(String(asked));
  }
  await writeTar(entries(), destination, options);
  expect(asked).toBe(0);
});
