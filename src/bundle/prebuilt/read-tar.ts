import {createReadStream} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import {createGunzip} from 'node:zlib';
import type {Header} from 'tar-stream';
import {asRecord} from '../../text/json.js';
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
 * Reads a tar, gzipped or not, entry by entry. Memory grows neither with its size nor with that of its entries.
 * @throws Error if it is not a tar, damaged, truncated, followed by other data or a bomb; an `AbortError` if aborted.
 */
export async function* readTar(
  path: string,
  {digests, checkSize, signal}: ReadTarOptions = {},
): AsyncGenerator<TarPart, void> {
  const {
    default: {extract},
  } = await import('tar-stream');
  const {size} = await stat(path);
  let unpacked = 0;
  const gunzip = (await isGzip(path)) ? createGunzip({chunkSize: readBytes}) : undefined;
  const parser = extract();
  const file = createReadStream(path, {highWaterMark: readBytes});
  const hashed = (bytes: AsyncIterable<Buffer>) => digests?.archive.of(bytes) ?? bytes;
  const checked = (bytes: AsyncIterable<Buffer>) =>
    checkHeaders(
      withEndMark(digests?.tar?.of(bytes) ?? bytes, (bytesSoFar) => {
        unpacked = bytesSoFar;
        checkSize?.(unpacked, size);
      }),
    );
  const feeding = gunzip
    ? pipeline(file, hashed, gunzip, checked, parser, {signal})
    : pipeline(file, hashed, checked, parser, {signal});
  // Awaited below. Until then, a failure must not count as unhandled.
  feeding.catch(() => undefined);
  try {
    for await (const entry of parser) {
      verifyHeader(entry.header);
      yield {header: entry.header, content: buffersOf(entry)};
      entry.resume();
    }
    await feeding;
    // zlib ignores trailing data, unless it is another member.
    if (gunzip && gunzip.bytesWritten !== size) throw behindGzip();
    // The last bytes of a member are the number of its own.
    if (gunzip && (await readAt(path, size - 4, 4)).readUInt32LE() !== unpacked % 2 ** 32) throw behindGzip();
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

/** Some programs skip the size of a folder or a link, and take an empty name for one. @throws Error */
function verifyHeader({name, type, size, pax}: Header): void {
  const isFile = type === 'file' || type === 'contiguous-file';
  const {path, linkpath, size: paxSize} = asRecord(pax);
  const isClear = path !== '' && linkpath !== '' && paxSize === undefined && (isFile || size === 0);
  if (isClear && Number.isSafeInteger(size)) return;
  throw new Error(`the header of ${JSON.stringify(name.slice(0, 200))} in it is ambiguous about its name or size`);
}

const blockBytes = 512;
/** Maximum bytes of the records for all entries. */
const maxRecords = 64 * 1024;
/** A record for all entries that names them or states their size. */
const globalName = /\d (?:[\w.]+\.)?(?:path|linkpath|name|size|realsize)=/;

/** @throws Error for what the parser passes over: a size below 0, and a header that renames all entries after it. */
async function* checkHeaders(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let toKeep = blockBytes;
  let toSkip = 0;
  let isRecords = false;
  for await (const chunk of chunks) {
    for (let at = 0, step = 0; at < chunk.length; at += step) {
      step = Math.min(toSkip || toKeep, chunk.length - at);
      if (toSkip > 0) {
        toSkip -= step;
        continue;
      }
      kept.push(chunk.subarray(at, at + step));
      toKeep -= step;
      if (toKeep > 0) continue;
      const bytes = Buffer.concat(kept);
      kept = [];
      toKeep = blockBytes;
      if (isRecords) {
        if (globalName.test(bytes.toString('latin1'))) throw new Error('a header in it renames all entries after it');
        isRecords = false;
        continue;
      }
      const padded = Math.ceil(sizeOf(bytes) / blockBytes) * blockBytes;
      isRecords = bytes.toString('latin1', 156, 157) === 'g' && padded > 0;
      if (isRecords && padded > maxRecords) throw new Error('a header in it is too long');
      if (isRecords) toKeep = padded;
      else toSkip = padded;
    }
    yield chunk;
  }
}

/** The size in a header: octal, or with the highest bit a binary number, which the next bit makes negative. */
function sizeOf(header: Buffer): number {
  const first = header.readUInt8(124);
  if (first < 0x80) return Number.parseInt(header.toString('latin1', 124, 136), 8) || 0;
  if (first !== 0x80) throw new Error('an entry in it has a size below 0');
  return Number(header.readBigUInt64BE(128));
}

/** The library's streams do not tell the type of their chunks. */
async function* buffersOf(chunks: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) if (Buffer.isBuffer(chunk)) yield chunk;
}

/** A tar ends with as many zeros. */
const endMarkBytes = 1024;

/** @throws Error if a tar does not end with the mark, without which entries may be missing. */
async function* withEndMark(
  chunks: AsyncIterable<Buffer>,
  onBytes: (unpackedBytes: number) => void,
): AsyncGenerator<Buffer> {
  let unpacked = 0;
  let zeros = 0;
  for await (const chunk of chunks) {
    unpacked += chunk.length;
    onBytes(unpacked);
    const end = chunk.subarray(-endMarkBytes);
    const lastByte = end.findLastIndex((byte) => byte !== 0);
    zeros = lastByte === -1 ? zeros + end.length : end.length - 1 - lastByte;
    yield chunk;
  }
  if (zeros < endMarkBytes) throw new Error('it is truncated: its end-of-archive marker is missing');
}

/** The first bytes of a file, at most `count`. */
export async function readStart(path: string, count: number): Promise<Buffer> {
  return readAt(path, 0, count);
}

async function readAt(path: string, position: number, count: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(count), 0, count, position);
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

/** Whether a file is gzip rather than tar. @throws Error if it is neither, or cannot be read. */
export async function isGzip(path: string): Promise<boolean> {
  const kind = archiveKind(await readStart(path, 512));
  if (kind === undefined) throw new Error('it is not a gzip or tar file');
  return kind === 'gzip';
}
