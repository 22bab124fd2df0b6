import {createReadStream as createFileStream} from 'node:fs';
import {open} from 'node:fs/promises';
import type {Bundle} from './types.js';

/** Bytes of one read. */
const readBytes = 512 * 1024;

/** Adds to a bundle the ways to read its archive. */
export function withReaders(bundle: Omit<Bundle, 'createReadStream' | 'read'>): Bundle {
  const {path} = bundle;
  const createReadStream: Bundle['createReadStream'] = ({start = 0} = {}) =>
    createFileStream(path, {start, highWaterMark: readBytes});
  // Whoever copies the bundle and puts a stream of their own into the copy must not find that it is not used.
  return Object.defineProperty({...bundle, createReadStream}, 'read', {value: () => readAgain(path)});
}

/** Reads into two buffers in turns: one is filled while the other is looked at. */
async function* readAgain(path: string): AsyncGenerator<Buffer> {
  const handle = await open(path);
  try {
    const buffers = [Buffer.allocUnsafeSlow(readBytes), Buffer.allocUnsafeSlow(readBytes)] as const;
    const read = (turn: number) => {
      const reading = handle.read(buffers[turn % 2 === 0 ? 0 : 1]);
      // It is awaited in its turn; a failure before that must not count as unhandled.
      reading.catch(() => undefined);
      return reading;
    };
    let reading = read(0);
    for (let turn = 1; ; turn++) {
      const {bytesRead, buffer} = await reading;
      if (bytesRead === 0) return;
      reading = read(turn);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    // It waits for the read that is under way.
    await handle.close();
  }
}
