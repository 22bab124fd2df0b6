import {createError, isRuntimeCliError} from '../../errors/index.js';
import type {ByteSource} from '../types.js';

/** A stretch of a body: how many bytes, and the bytes, from the start each time. */
export interface Segment {
  readonly size: number;
  read(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** A text. */
export function textSegment(text: string): Segment {
  const bytes = Buffer.from(text);
  return {size: bytes.length, read: () => [bytes]};
}

/** The bytes of a source. */
export function sourceSegment(source: ByteSource): Segment {
  return {size: source.size, read: () => readExactly(source)};
}

/** The bytes of a source as base64, encoded while they are read. */
export function base64Segment(source: ByteSource): Segment {
  return {size: 4 * Math.ceil(source.size / 3), read: () => encodeBase64(readExactly(source))};
}

async function* encodeBase64(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    // Only whole groups of 3 bytes can be encoded without padding.
    const whole = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
    rest = Buffer.from(bytes.subarray(whole));
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

// Content-Length was announced: a source that holds less would stall the request, one that holds more would break it.
async function* readExactly(source: ByteSource): AsyncGenerator<Buffer> {
  const {size} = source;
  let read = 0;
  try {
    for await (const chunk of source.createReadStream()) {
      const bytes = Buffer.from(chunk as Uint8Array);
      read += bytes.length;
      if (read > size) break;
      yield bytes;
    }
  } catch (error) {
    throw isRuntimeCliError(error) ? error : changed(`cannot be read: ${String(error)}`, error);
  }
  if (read !== size) throw changed(`was ${size} bytes long and now is ${read > size ? 'longer' : `only ${read}`}`);
}

function changed(what: string, cause?: unknown): Error {
  return createError('ERR_FILE_CHANGED', `the file that is being sent ${what}`, {
    suggestions: ['Let nothing write to the file during the upload, and try again.'],
    cause,
  });
}
