import {createReadStream} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {posix} from 'node:path';
import {pipeline} from 'node:stream/promises';
import type {Extract, Header} from 'tar-stream';
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
  /** The contents of each entry that was wanted; empty from the second on. */
  readonly wanted: readonly Buffer[];
}

/** Bytes of a wanted entry, at most. */
const maxWanted = 1024 * 1024;
/** Entries of an archive, at most: all of them are held. */
const maxEntries = 200_000;
/** Bytes of a name, or of what a link says, at most. */
const maxPathLength = 4096;
/** What is no bomb yet: so many bytes uncompressed, or so many for each byte of the archive. */
const unsuspicious = {bytes: 1.5 * 1024 ** 3, ratio: 200};
/** A tar ends with two blocks of zeros. */
const endOfTar = Buffer.alloc(1024);

/**
 * Reads an archive from one end to the other: its digests, its entries, and the contents of those by the name of `wanted`.
 * Memory grows with the number of entries, not with their size. Nothing is unpacked; an archive that would be a danger to
 * whoever does it is refused.
 * @throws Error when it cannot be read, is no tar, is damaged or cut off, is a bomb, or has entries that lead out of it;
 * `signal.reason` when aborted.
 */
export async function readArchive(path: string, wanted: string, signal?: AbortSignal): Promise<ArchiveContents> {
  const {
    default: {extract},
  } = await import('tar-stream');
  const compressed = await isGzip(path);
  const {size: archiveSize} = await stat(path);
  const archive = new Digest();
  const content = new Digest();
  const tail = new Tail();
  const parser = extract();
  const {entries, found} = collectEntries(parser, wanted);
  const file = createReadStream(path, {highWaterMark: maxWanted});
  const tar = (bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> => tail.of(content.of(metered(bytes, archiveSize)));
  try {
    if (compressed) await pipeline(file, (bytes) => archive.of(bytes), createGunzip(), tar, parser, {signal});
    else await pipeline(file, (bytes) => tar(archive.of(bytes)), parser, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  if (!tail.isEndOfTar)
    throw new Error('it does not end with an end mark: it is cut off, or something was added to it');
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
 * @throws Error when it cannot be read, or when aborted.
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
  parser.on('entry', (header, body, next) => {
    const {name, size, mode, type} = header;
    const linkTarget = linkTargetOf(header);
    const executable = linkTarget === undefined && (mode & 0o100) !== 0;
    if (type !== 'directory') entries.push({name, size, executable, ...(linkTarget !== undefined && {linkTarget})});
    // The parser tells of it too.
    body.on('error', () => undefined);
    const refusal =
      entries.length > maxEntries ? `it has more than ${String(maxEntries)} entries` : entryProblem(header);
    if (refusal !== undefined || (name === wanted && size > maxWanted)) {
      parser.destroy(new Error(refusal ?? `${name} in it has more than ${String(maxWanted)} bytes`));
      return;
    }
    const chunks: Buffer[] = [];
    // One of them is wanted; more are only counted.
    const isKept = name === wanted && found.length === 0;
    body.on('data', (chunk) => {
      if (isKept && Buffer.isBuffer(chunk)) chunks.push(chunk);
    });
    body.on('end', next);
    if (name === wanted) found.push(chunks);
  });
  return {entries, found};
}

/** What a link says, symbolic or hard. */
function linkTargetOf({type, linkname}: Header): string | undefined {
  if (type !== 'symlink' && type !== 'link') return undefined;
  // One that says nothing has null, which the type does not tell.
  return linkname || '';
}

/** Why an entry is a danger to whoever unpacks it, if so. */
function entryProblem(header: Header): string | undefined {
  const {name, type} = header;
  const shown = JSON.stringify(name.slice(0, 200));
  if (leadsOut(name) || name.split(/[/\\]/).includes('..')) return `it has the unsafe name ${shown}`;
  const target = linkTargetOf(header) ?? '';
  switch (type) {
    case 'symlink':
      return leadsOut(target, posix.dirname(name)) ? `${shown} in it is a link that leads out of it` : undefined;
    case 'link':
      return leadsOut(target) ? `${shown} in it is a hard link that leads out of it` : undefined;
    case 'file':
    case 'contiguous-file':
    case 'directory':
      return undefined;
    default:
      return `${shown} in it is neither a file nor a folder nor a link`;
  }
}

/** Whether a path by itself leads out of the archive, seen from one of its folders, on any platform. */
function leadsOut(path: string, folder = ''): boolean {
  if (path.length > maxPathLength || path.includes('\0') || /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path)) return true;
  return posix.join(folder, path.replaceAll('\\', '/')).split('/')[0] === '..';
}

/** Passes the bytes of a tar on, until they are those of a bomb. */
async function* metered(chunks: AsyncIterable<Buffer>, archiveSize: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > Math.max(unsuspicious.bytes, unsuspicious.ratio * archiveSize)) {
      throw new Error(`it unpacks to far more than its ${String(archiveSize)} bytes`);
    }
    yield chunk;
  }
}

/**
 * Whether a file is gzip, not tar.
 * @throws Error when it is neither, or cannot be read.
 */
export async function isGzip(path: string): Promise<boolean> {
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
