import {createReadStream} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import {createGunzip} from 'node:zlib';
import type {Header} from 'tar-stream';
import type {Digest} from '../archive/digest.js';

interface TarPart {
  readonly header: Header;
  /** What is not read is skipped when the next entry is requested. */
  readonly content: AsyncIterable<Buffer>;
}

interface ReadTarOptions {
  /** Get the bytes of the archive, and those of the tar in it. */
  readonly digests?: {readonly archive: Digest; readonly tar?: Digest} | undefined;
  /** Called while it unpacks, to throw if it must be a bomb. */
  readonly checkSize?: ((unpackedBytes: number, archiveBytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes per read. Several archives may be read at the same time. */
const readBytes = 64 * 1024;

/**
 * Reads a tar, gzipped or not, from its start, entry by entry. Memory grows neither with its size nor with that of its
 * entries.
 * @throws Error if it cannot be read, is not a tar, is damaged, truncated, followed by other data or a bomb; an
 * `AbortError` if aborted.
 */
export async function* readTar(
  path: string,
  {digests, checkSize, signal}: ReadTarOptions = {},
): AsyncGenerator<TarPart, void> {
  const {
    default: {extract},
  } = await import('tar-stream');
  const {size} = await stat(path);
  const gunzip = (await isGzip(path)) ? createGunzip({chunkSize: readBytes}) : undefined;
  const parser = extract();
  const file = createReadStream(path, {highWaterMark: readBytes});
  const hashed = (bytes: AsyncIterable<Buffer>) => digests?.archive.of(bytes) ?? bytes;
  const checked = (bytes: AsyncIterable<Buffer>) =>
    withEndMark(digests?.tar?.of(bytes) ?? bytes, (unpacked) => checkSize?.(unpacked, size));
  const feeding = gunzip
    ? pipeline(file, hashed, gunzip, checked, parser, {signal})
    : pipeline(file, hashed, checked, parser, {signal});
  // Awaited below. Until then, a failure must not count as unhandled.
  feeding.catch(() => undefined);
  try {
    for await (const entry of parser) {
      yield {header: entry.header, content: buffersOf(entry)};
      entry.resume();
    }
    await feeding;
    // zlib ignores trailing data, unless it is another member.
    if (gunzip && gunzip.bytesWritten !== size) throw behindGzip();
  } catch (error) {
    // Nothing reads the trailing data that zlib skips, so the file is closed early.
    throw error instanceof Error && error.name === 'AbortError' && signal?.aborted !== true ? behindGzip() : error;
  } finally {
    parser.destroy();
    await feeding.catch(() => undefined);
  }
}

function behindGzip(): Error {
  return new Error('there is data after the end of its gzip stream');
}

/** The library's streams do not tell the type of their chunks. */
async function* buffersOf(chunks: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) if (Buffer.isBuffer(chunk)) yield chunk;
}

/** A tar ends with as many zeros. */
const endMarkBytes = 1024;

/**
 * Passes on the bytes of a tar, telling their number so far.
 * @throws Error if they do not end with the mark, without which entries may be missing.
 */
async function* withEndMark(
  chunks: AsyncIterable<Buffer>,
  onBytes: (unpackedBytes: number) => void,
): AsyncGenerator<Buffer> {
  let unpacked = 0;
  let zeros = 0;
  for await (const chunk of chunks) {
    unpacked += chunk.length;
    onBytes(unpacked);
    const lastByte = chunk.findLastIndex((byte) => byte !== 0);
    zeros = lastByte === -1 ? zeros + chunk.length : chunk.length - 1 - lastByte;
    yield chunk;
  }
  if (zeros < endMarkBytes) throw new Error('it is truncated: its end-of-archive marker is missing');
}

/** The first bytes of a file, at most `count`. */
export async function readStart(path: string, count: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** What a file is, by its first 512 bytes; undefined if it is neither. */
export function archiveKind(head: Buffer): 'gzip' | 'tar' | undefined {
  if (head.toString('hex', 0, 2) === '1f8b') return 'gzip';
  return head.toString('latin1', 257, 262) === 'ustar' ? 'tar' : undefined;
}

/**
 * Whether a file is gzip rather than tar.
 * @throws Error if it is neither, or cannot be read.
 */
export async function isGzip(path: string): Promise<boolean> {
  const kind = archiveKind(await readStart(path, 512));
  if (kind === undefined) throw new Error('it is not a gzip or tar file');
  return kind === 'gzip';
}
