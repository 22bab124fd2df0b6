import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {posix} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createGunzip} from 'node:zlib';
import type {Extract, Header} from 'tar-stream';
import {Digest} from '../archive/digest.js';
import type {PackResult} from '../types.js';
import {entryPath, layoutProblem, type LayoutEntry, type LayoutProblem} from './archive-layout.js';
import {TarGuard} from './tar-guard.js';

/** An entry of an archive. */
interface ArchiveEntry {
  /** Without `.` and empty parts. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Digest of the content, hex, if it was asked for. A link has none. */
  readonly sha256?: string | undefined;
  readonly executable: boolean;
  /** Target of a symbolic link. For a hard link, the target of an equivalent symbolic link. */
  readonly linkTarget?: string | undefined;
}

/** The contents of an archive. */
export interface ArchiveContents extends PackResult {
  readonly compressed: boolean;
  /** Everything but directories, in the order of the archive. */
  readonly entries: readonly ArchiveEntry[];
  /** One buffer per entry with the wanted name. Only the first has its content, the others are empty. */
  readonly wanted: readonly Buffer[];
}

/** Maximum bytes of a wanted entry. */
const maxWanted = 1024 * 1024;
/** Maximum entries of an archive, since all of them are kept in memory. */
const maxEntries = 200_000;
/** Limits below which an archive is not a bomb: bytes uncompressed, or uncompressed bytes per byte of the archive. */
const unsuspicious = {bytes: 1.5 * 1024 ** 3, ratio: 200};

/** Options for reading an archive. */
interface ReadArchiveOptions {
  /** Name of the entry to return the content of. */
  readonly wanted?: string | undefined;
  /** Folder that the links in it must not leave. @default the archive */
  readonly root?: string | undefined;
  /** Whether to compute the digest of each entry. @default false */
  readonly digests?: boolean | undefined;
  /** Whether a manifest confirms how large its content is. @default false */
  readonly isTrusted?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads an archive from start to end: its digests, its entries, and the content of those named `wanted`. Memory grows
 * with the number of entries, not with their size. Unpacks nothing. Refuses archives that would be dangerous to unpack
 * or that programs read differently.
 * @throws Error if it cannot be read, is not a tar archive, is damaged, truncated or followed by other data, is a bomb,
 * or has entries that lead out of it; `signal.reason` if aborted.
 */
export async function readArchive(path: string, options: ReadArchiveOptions = {}): Promise<ArchiveContents> {
  const {wanted = '', root = '', digests = false, isTrusted = false, signal} = options;
  const {
    default: {extract},
  } = await import('tar-stream');
  const compressed = await isGzip(path);
  const {size: archiveSize} = await stat(path);
  const archive = new Digest();
  const content = new Digest();
  const parser = extract();
  const {entries, layout, found} = collectEntries(parser, {wanted, digests});
  const file = createReadStream(path, {highWaterMark: maxWanted});
  const tar = (bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
    new TarGuard().of(content.of(isTrusted ? bytes : metered(bytes, archiveSize)));
  try {
    if (compressed) {
      const gunzip = createGunzip();
      await pipeline(file, (bytes) => archive.of(bytes), gunzip, tar, parser, {signal});
      // zlib ignores trailing data, unless it is another member.
      if (gunzip.bytesWritten !== archiveSize) throw behindGzip();
    } else await pipeline(file, (bytes) => tar(archive.of(bytes)), parser, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    // Nothing reads the trailing data that zlib skips, so the file is closed early.
    throw error instanceof Error && error.name === 'AbortError' ? behindGzip() : error;
  }
  const problem = layoutProblem(layout, {root, mayRepeat: true, unmistakable: wanted || undefined});
  if (problem) throw new Error(describeLayout(problem));
  return {
    compressed,
    entries,
    wanted: found.map((chunks) => Buffer.concat(chunks)),
    size: archive.size,
    sha256: archive.hex(),
    contentSha256: content.hex(),
  };
}

function behindGzip(): Error {
  return new Error('there is data after the end of its gzip stream');
}

/**
 * Size and digest of a file.
 * @throws Error if it cannot be read, or if aborted.
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

interface CollectedEntries {
  readonly entries: readonly ArchiveEntry[];
  /** All entries, including directories. */
  readonly layout: readonly LayoutEntry[];
  readonly found: readonly (readonly Buffer[])[];
}

function collectEntries(
  parser: Extract,
  {wanted, digests}: {readonly wanted: string; readonly digests: boolean},
): CollectedEntries {
  const entries: ArchiveEntry[] = [];
  const layout: LayoutEntry[] = [];
  const found: Buffer[][] = [];
  parser.on('entry', (header, body, next) => {
    const {size, mode, type} = header;
    const name = entryPath(header.name) ?? '';
    const linkTarget = linkTargetOf(header);
    const shown = shownLink(header, name);
    const executable = linkTarget === undefined && (mode & 0o100) !== 0;
    const isDirectory = type === 'directory';
    const hash = digests && !isDirectory && linkTarget === undefined ? createHash('sha256') : undefined;
    const entry = {name, size, executable, ...(shown !== undefined && {linkTarget: shown})};
    // An entry with a digest is added once its content is read.
    if (!isDirectory && hash === undefined) entries.push(entry);
    // The root of the archive does not count as an entry.
    if (name !== '') layout.push({path: name, type: layoutType(type), linkTarget});
    // The parser reports the error too.
    body.on('error', () => undefined);
    const refusal =
      layout.length > maxEntries ? `it has more than ${String(maxEntries)} entries` : entryProblem(header, name);
    if (refusal !== undefined || (name === wanted && size > maxWanted)) {
      parser.destroy(new Error(refusal ?? `${name} in it has more than ${String(maxWanted)} bytes`));
      return;
    }
    const isWanted = !isDirectory && name !== '' && name === wanted;
    const chunks: Buffer[] = [];
    // Only the first is kept. The others are just counted.
    const isKept = isWanted && found.length === 0;
    body.on('data', (chunk) => {
      if (!Buffer.isBuffer(chunk)) return;
      hash?.update(chunk);
      if (isKept) chunks.push(chunk);
    });
    body.on('end', () => {
      if (hash) entries.push({...entry, sha256: hash.digest('hex')});
      next();
    });
    if (isWanted) found.push(chunks);
  });
  return {entries, layout, found};
}

function layoutType(type: Header['type']): LayoutEntry['type'] {
  return type === 'directory' || type === 'symlink' || type === 'link' ? type : 'file';
}

/** Puts a problem of a layout into words. */
export function describeLayout({kind, entry: {path, type}, parent = ''}: LayoutProblem): string {
  const shown = JSON.stringify(path);
  switch (kind) {
    case 'twice':
      return `it contains ${shown} twice, and not as a file both times`;
    case 'below':
      return `${shown} in it is inside ${JSON.stringify(parent)}, which is not a folder`;
    case 'mistakable':
      return `some systems take ${shown} in it for its configuration`;
    case 'leads-out':
      return type === 'link'
        ? `${shown} in it is a hard link that does not resolve to a file inside the archive`
        : `${shown} in it is a link that does not resolve inside the archive`;
  }
}

/** The target of a symbolic or hard link. */
function linkTargetOf({type, linkname}: LinkHeader): string | undefined {
  if (type !== 'symlink' && type !== 'link') return undefined;
  // It is null for a link without a target, although the type does not say so.
  return linkname || '';
}

/** What a header says of a link. */
type LinkHeader = {readonly [Member in 'type' | 'linkname']?: string | null | undefined};

/** The target of a link as bundles show it: of a hard link, that of an equivalent symbolic link. */
export function shownLink(header: LinkHeader, name: string): string | undefined {
  const target = linkTargetOf(header);
  if (header.type !== 'link') return target;
  return posix.relative(posix.dirname(`/${name}`), `/${target ?? ''}`);
}

/** Why an entry would be dangerous to unpack, if it would. */
function entryProblem(header: Header, path: string): string | undefined {
  const {name, type} = header;
  const shown = JSON.stringify(name.slice(0, 200));
  if (entryPath(name) === undefined || (path === '' && type !== 'directory'))
    return `it has an unsafe entry name, ${shown}`;
  switch (type) {
    case 'symlink':
    case 'link':
    case 'file':
    case 'contiguous-file':
    case 'directory':
      return undefined;
    default:
      return `${shown} in it is not a file, a folder or a link`;
  }
}

/** Passes on the bytes of a tar. Throws once there are so many that it must be a bomb. */
async function* metered(chunks: AsyncIterable<Buffer>, archiveSize: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > Math.max(unsuspicious.bytes, unsuspicious.ratio * archiveSize)) {
      throw new Error(
        `it unpacks to far more than its ${String(archiveSize)} bytes, and there is no manifest next to it that confirms this`,
      );
    }
    yield chunk;
  }
}

/**
 * Whether a file is gzip rather than tar.
 * @throws Error if it is neither, or cannot be read.
 */
export async function isGzip(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const {buffer} = await handle.read(Buffer.alloc(512), 0, 512, 0);
    if (buffer.readUInt16BE() === 0x1f8b) return true;
    if (buffer.toString('latin1', 257, 262) === 'ustar') return false;
    throw new Error('it is not a gzip or tar file');
  } finally {
    await handle.close();
  }
}
