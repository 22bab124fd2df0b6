import {createReadStream} from 'node:fs';
import {posix} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import type {Header} from 'tar-stream';
import {Digest} from '../archive/digest.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {asSentence} from '../../text/sentence.js';
import type {PackResult} from '../types.js';
import {safeEntryPath, layoutProblem, type LayoutEntry, type LayoutProblem} from './archive-layout.js';
import {isGzip, readTar} from './read-tar.js';

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

export interface ScannedArchive extends PackResult {
  readonly compressed: boolean;
  /** Everything but directories, in the order of the archive. */
  readonly entries: readonly ArchiveEntry[];
  /** The content of the first entry with the wanted name. */
  readonly wanted?: Buffer | undefined;
}

/** Bytes of a wanted entry. */
const maxWanted = 1024 * 1024;
const maxEntries = 200_000;
/** Characters of all their names and targets, which are kept in memory. */
const maxNames = 32 * 1024 * 1024;
/** Below these limits, an archive without a manifest is not a bomb. */
const unsuspicious = {bytes: 1.5 * 1024 ** 3, ratio: 200};

/** @throws Error if so much cannot be meant. */
export function refuseBomb(unpackedBytes: number, archiveBytes: number): void {
  if (unpackedBytes <= Math.max(unsuspicious.bytes, unsuspicious.ratio * archiveBytes)) return;
  throw new Error(
    `it unpacks to far more than its ${String(archiveBytes)} bytes, and there is no manifest next to it that confirms this`,
  );
}

interface ReadArchiveOptions {
  /** Name of the entry to return the content of. */
  readonly wanted?: string | undefined;
  /** Folder that the links in it must not leave. @default the archive */
  readonly root?: string | undefined;
  /** Whether to compute the digest of each entry. @default false */
  readonly digests?: boolean | undefined;
  /** Whether hard links and repeated paths are refused, as services do. @default false */
  readonly strict?: boolean | undefined;
  /** Whether a manifest confirms how large its content is. @default false */
  readonly isTrusted?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads an archive from start to end. Memory grows with the number of its entries, not their size.
 * @throws Error as `readTar`, and if it would be dangerous to unpack; `signal.reason` if aborted.
 */
export async function readArchive(path: string, options: ReadArchiveOptions = {}): Promise<ScannedArchive> {
  const {wanted, root = '', digests = false, strict = false, isTrusted = false, signal} = options;
  const [archive, tar] = [new Digest(), new Digest()];
  const compressed = await isGzip(path);
  const entries: ArchiveEntry[] = [];
  const layout: LayoutEntry[] = [];
  let found: Buffer | undefined;
  let names = 0;
  try {
    const checkSize = isTrusted ? undefined : refuseBomb;
    for await (const {header, content} of readTar(path, {digests: {archive, tar}, checkSize, signal})) {
      const {size, mode, type} = header;
      const name = checkedPath(header);
      if (strict && type === 'link') throw new Error(`${JSON.stringify(name)} in it is a hard link`);
      names += name.length + (linkTargetOf(header) ?? '').length;
      if (names > maxNames) throw new Error(`its names add up to more than ${String(maxNames)} characters`);
      // The root of the archive does not count as an entry.
      if (name !== '') layout.push({path: name, type: layoutType(type), linkTarget: linkTargetOf(header)});
      if (layout.length > maxEntries) throw new Error(`it has more than ${String(maxEntries)} entries`);
      if (type === 'directory') continue;
      const linkTarget = shownLink(header, name);
      const isWanted = name === wanted;
      if (isWanted && size > maxWanted) throw new Error(`${name} in it has more than ${String(maxWanted)} bytes`);
      const bytes = isWanted ? await buffer(content) : undefined;
      found ??= bytes;
      entries.push({
        name,
        size,
        executable: linkTarget === undefined && (mode & 0o100) !== 0,
        ...(digests &&
          linkTarget === undefined && {sha256: (await new Digest().read(bytes ? [bytes] : content)).hex()}),
        ...(linkTarget !== undefined && {linkTarget}),
      });
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  const problem = layoutProblem(layout, {root, mayRepeat: !strict});
  if (problem) throw new Error(describeLayout(problem));
  const {size} = archive;
  return {compressed, size, sha256: archive.hex(), contentSha256: tar.hex(), entries, wanted: found};
}

export function invalidArchive(path: string, reason: string, cause?: unknown): RuntimeCliError {
  return createError('ERR_ARCHIVE_INVALID', asSentence(`The archive ${path} is invalid: ${reason}`), {
    suggestions: [['Check that the file is complete, or build it again with ', {run: ['bundle:build']}]],
    cause,
  });
}

/** Reads an archive that the user named. @throws RuntimeCliError `ERR_ARCHIVE_INVALID`; `signal.reason` if aborted. */
export async function readable<Result>(
  path: string,
  {signal}: Pick<ReadArchiveOptions, 'signal'>,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    signal?.throwIfAborted();
    if (systemCode(error) === 'EISDIR') {
      throw createError('ERR_ARCHIVE_INVALID', `${path} is a folder, not an archive.`, {
        suggestions: [
          ['To list what a push of it sends, run ', {run: ['bundle:push', path, '--dry-run']}],
          ['To build an archive of it, run ', {run: ['bundle:build', path]}],
        ],
        cause: error,
      });
    }
    if (systemCode(error) !== 'ENOENT') throw invalidArchive(path, reasonOf(error), error);
    throw createError('ERR_ARCHIVE_INVALID', `The archive ${path} does not exist.`, {
      suggestions: [['Check the path, or build it with ', {run: ['bundle:build', '--output', 'FILE']}]],
      cause: error,
    });
  }
}

export async function digestFile(path: string, signal?: AbortSignal): Promise<Pick<PackResult, 'size' | 'sha256'>> {
  const digest = new Digest();
  const file = createReadStream(path, {highWaterMark: 1024 * 1024});
  await pipeline(file, (bytes: AsyncIterable<Buffer>) => digest.read(bytes), {signal});
  return {size: digest.size, sha256: digest.hex()};
}

function layoutType(type: Header['type']): LayoutEntry['type'] {
  return type === 'directory' || type === 'symlink' || type === 'link' ? type : 'file';
}

function describeLayout({kind, entry: {path, type}, parent = ''}: LayoutProblem): string {
  const shown = JSON.stringify(path);
  if (kind === 'twice') return `it contains ${shown} twice`;
  if (kind === 'below') return `${shown} in it is inside ${JSON.stringify(parent)}, which is not a folder`;
  return type === 'link'
    ? `${shown} in it is a hard link that does not resolve to a file inside the archive`
    : `${shown} in it is a link that does not resolve inside the archive`;
}

/** The target of a symbolic or hard link. It is null for a link without one, although the type does not say so. */
function linkTargetOf({type, linkname}: Header): string | undefined {
  return type === 'symlink' || type === 'link' ? linkname || '' : undefined;
}

/** The target of a link as bundles show it: of a hard link, that of an equivalent symbolic link. */
function shownLink(header: Header, name: string): string | undefined {
  const target = linkTargetOf(header);
  return header.type === 'link' ? posix.relative(posix.dirname(`/${name}`), `/${target ?? ''}`) : target;
}

const acceptedTypes: ReadonlySet<unknown> = new Set(['symlink', 'link', 'file', 'contiguous-file', 'directory']);

/** @throws Error for an entry that would be dangerous to unpack. */
function checkedPath({name, type}: Header): string {
  const path = safeEntryPath(name);
  const shown = JSON.stringify(name.slice(0, 200));
  if (path === undefined || (path === '' && type !== 'directory'))
    throw new Error(`it has an unsafe entry name, ${shown}`);
  if (!acceptedTypes.has(type)) throw new Error(`${shown} in it is not a file, a folder or a link`);
  return path;
}
