import {setImmediate} from 'node:timers/promises';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import type {StreamSource} from '../types.js';

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
export function sourceSegment(source: StreamSource): Segment {
  return {size: source.size, read: () => readExactly(source)};
}

/** The bytes of a source as base64, encoded while they are read. */
export function base64Segment(source: StreamSource): Segment {
  return {size: 4 * Math.ceil(source.size / 3), read: () => readAhead(encodeBase64(readExactly(source)))};
}

/** Bytes that are encoded at a time: texts of this size cost the garbage collector next to nothing. */
const groupBytes = 48 * 1024;
/** Bytes of the encoded chunks: those of 22 such texts, a block of 1 MiB, and of the group that began in the chunk before. */
const encodedBytes = 22 * (groupBytes / 3) * 4 + 4;

/**
 * Encodes into two buffers in turns: fresh ones would keep the garbage collector busier than the encoder. A chunk is good
 * until the next but one is asked for.
 */
async function* encodeBase64(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [encoded, other] = [Buffer.allocUnsafe(encodedBytes), Buffer.allocUnsafe(encodedBytes)];
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    // Only whole groups of 3 bytes can be encoded without padding.
    let start = rest.length === 0 ? 0 : Math.min(3 - rest.length, chunk.length);
    rest = Buffer.concat([rest, chunk.subarray(0, start)]);
    if (rest.length > 0 && rest.length < 3) continue;
    let length = encoded.write(rest.toString('base64'), 'latin1');
    const end = chunk.length - ((chunk.length - start) % 3);
    for (; start < end; start += groupBytes) {
      if (length + (groupBytes / 3) * 4 > encodedBytes) {
        yield encoded.subarray(0, length);
        [encoded, other] = [other, encoded];
        length = 0;
      }
      const text = chunk.toString('base64', start, Math.min(start + groupBytes, end));
      length += encoded.write(text, length, 'latin1');
    }
    if (length > 0) {
      yield encoded.subarray(0, length);
      [encoded, other] = [other, encoded];
    }
    rest = Buffer.from(chunk.subarray(end));
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** Makes the next chunk while the connection takes the one before. */
async function* readAhead(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let next = chunks.next();
  try {
    for (let chunk = await next; !chunk.done; chunk = await next) {
      next = setImmediate().then(() => chunks.next());
      // It is awaited in its turn; a failure before that must not count as unhandled.
      next.catch(() => undefined);
      yield chunk.value;
    }
  } finally {
    await chunks.return(undefined);
  }
}

// Content-Length was announced: a source that holds less would stall the request, one that holds more would break it.
async function* readExactly(source: StreamSource): AsyncGenerator<Buffer> {
  const {size} = source;
  let read = 0;
  try {
    for await (const chunk of source.read()) {
      const bytes = asBuffer(chunk);
      read += bytes.length;
      if (read > size) break;
      yield bytes;
    }
  } catch (error) {
    throw isRuntimeCliError(error) ? error : changed(`cannot be read: ${String(error)}`, error);
  }
  if (read !== size) throw changed(`was ${size} bytes long and now is ${read > size ? 'longer' : `only ${read}`}`);
}

/** The same memory. */
function asBuffer({buffer, byteOffset, byteLength}: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function changed(what: string, cause?: unknown): Error {
  return createError('ERR_FILE_CHANGED', `the file that is being sent ${what}`, {
    suggestions: ['Let nothing write to the file during the upload, and try again.'],
    cause,
  });
}
