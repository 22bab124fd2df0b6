import {createReadStream as createFileStream} from 'node:fs';
import {open} from 'node:fs/promises';
import {lend} from '../archive/lent-chunks.js';
import type {Bundle} from '../types.js';

/** Bytes of one read. */
const readBytes = 512 * 1024;

/** Adds to a bundle the ways to read its archive. */
export function withReaders(bundle: Omit<Bundle, 'createReadStream' | 'read'>): Bundle {
  const {path} = bundle;
  const createReadStream: Bundle['createReadStream'] = ({start = 0} = {}) =>
    createFileStream(path, {start, highWaterMark: readBytes});
  // Whoever copies the bundle and puts a stream of their own into the copy must not find that it is not used.
  const readable = Object.defineProperty({...bundle, createReadStream}, 'read', {value: () => read(path)});
  return lend(readable, () => read(path, {reuse: true}));
}

/** Reads ahead: one buffer is filled while the other is looked at. With `reuse` there are two, used in turns. */
async function* read(path: string, {reuse = false} = {}): AsyncGenerator<Buffer> {
  const handle = await open(path);
  const fill = (buffer: Buffer) => {
    const filled = handle.read(buffer);
    // It is awaited in its turn; a failure before that must not count as unhandled.
    filled.catch(() => undefined);
    return filled;
  };
  try {
    let spare: Buffer | undefined;
    let filling = fill(Buffer.allocUnsafeSlow(readBytes));
    for (;;) {
      const {bytesRead, buffer} = await filling;
      if (bytesRead === 0) return;
      filling = fill(spare ?? Buffer.allocUnsafeSlow(readBytes));
      yield buffer.subarray(0, bytesRead);
      if (reuse) spare = buffer;
    }
  } finally {
    // It waits for the read that is under way.
    await handle.close();
  }
}
