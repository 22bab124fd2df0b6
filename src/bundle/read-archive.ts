import {createReadStream} from 'node:fs';
import {open} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import type {Extract} from 'tar-stream';
import {createGunzip} from 'node:zlib';
import {Digest} from './digest.js';
import type {PackResult} from './types.js';

/** An entry of an archive. */
export interface ArchiveEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly executable: boolean;
  /** Of a symbolic link. */
  readonly linkTarget?: string | undefined;
}

/** What an archive was found to hold. */
export interface ArchiveContents extends PackResult {
  readonly compressed: boolean;
  /** Everything but directories, in the order of the archive. */
  readonly entries: readonly ArchiveEntry[];
  /** The contents of each entry that was wanted. */
  readonly wanted: readonly Buffer[];
}

/** Bytes of a wanted entry, at most. */
const maxWanted = 1024 * 1024;
/** A tar ends with two blocks of zeros. */
const endOfTar = Buffer.alloc(1024);

/**
 * Reads an archive from one end to the other: its digests, its entries, and the contents of those by the name of `wanted`.
 * Memory grows with the number of entries, not with their size.
 * @throws Error when it cannot be read, is no tar, is damaged or cut off; `signal.reason` when aborted.
 */
export async function readArchive(path: string, wanted: string, signal?: AbortSignal): Promise<ArchiveContents> {
  const {extract} = await import('tar-stream');
  const compressed = await isGzip(path);
  const archive = new Digest();
  const content = new Digest();
  const tail = new Tail();
  const parser = extract();
  const {entries, found} = collectEntries(parser, wanted);
  const file = createReadStream(path, {highWaterMark: maxWanted});
  const tar = (bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> => tail.of(content.of(bytes));
  try {
    if (compressed) await pipeline(file, (bytes) => archive.of(bytes), createGunzip(), tar, parser, {signal});
    else await pipeline(file, (bytes) => tar(archive.of(bytes)), parser, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  if (!tail.isEndOfTar) throw new Error('it is cut off: it has no end mark');
  return {
    compressed,
    entries,
    wanted: found.map((chunks) => Buffer.concat(chunks)),
    size: archive.size,
    sha256: archive.hex(),
    contentSha256: content.hex(),
  };
}

/**
 * Size and digest of a file.
 * @throws Error when it cannot be read; `signal.reason` when aborted.
 */
export async function digestFile(path: string, signal?: AbortSignal): Promise<Pick<PackResult, 'size' | 'sha256'>> {
  const digest = new Digest();
  const file = createReadStream(path, {highWaterMark: maxWanted});
  const read = async (bytes: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of bytes) digest.update(chunk);
  };
  await pipeline(file, read, {signal});
  return {size: digest.size, sha256: digest.hex()};
}

function collectEntries(
  parser: Extract,
  wanted: string,
): {readonly entries: readonly ArchiveEntry[]; readonly found: readonly (readonly Buffer[])[]} {
  const entries: ArchiveEntry[] = [];
  const found: Buffer[][] = [];
  parser.on('entry', ({name, size, mode, type, linkname}, body, next) => {
    const linkTarget = type === 'symlink' ? linkname : undefined;
    const executable = linkTarget === undefined && (mode & 0o100) !== 0;
    if (type !== 'directory') entries.push({name, size, executable, ...(linkTarget !== undefined && {linkTarget})});
    // The parser tells of it too.
    body.on('error', () => undefined);
    if (name === wanted && size > maxWanted) {
      parser.destroy(new Error(`${name} in it has more than ${String(maxWanted)} bytes`));
      return;
    }
    const chunks: Buffer[] = [];
    body.on('data', (chunk) => {
      if (name === wanted && Buffer.isBuffer(chunk)) chunks.push(chunk);
    });
    body.on('end', next);
    if (name === wanted) found.push(chunks);
  });
  return {entries, found};
}

async function isGzip(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const {buffer} = await handle.read(Buffer.alloc(512), 0, 512, 0);
    if (buffer.readUInt16BE() === 0x1f8b) return true;
    if (buffer.toString('latin1', 257, 262) === 'ustar') return false;
    throw new Error('it is neither a gzip nor a tar file');
  } finally {
    await handle.close();
  }
}

/** Keeps the last bytes of what passes: a tar that was cut off between two entries is found by its missing end alone. */
class Tail {
  #bytes: Buffer = Buffer.alloc(0);

  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      const whole = chunk.length >= endOfTar.length ? chunk : Buffer.concat([this.#bytes, chunk]);
      this.#bytes = Buffer.from(whole.subarray(-endOfTar.length));
      yield chunk;
    }
  }

  get isEndOfTar(): boolean {
    return this.#bytes.equals(endOfTar);
  }
}
