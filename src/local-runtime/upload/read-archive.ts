import {mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Header} from 'tar-stream';
import {entryPath as pathOf, isBelow} from '../../bundle/prebuilt/archive-layout.js';
import {isGzip, readTar} from '../../bundle/prebuilt/read-tar.js';
import {HttpFailure} from '../answer.js';
import type {ArchiveLimits} from '../options.js';

/** An entry of an archive that is safe on its own. */
export interface ArchiveEntry {
  /** Relative, see `entryPath()`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** The verbatim target of a symbolic link. */
  readonly linkTarget?: string | undefined;
}

/** How to read an archive. */
interface ReadArchiveOptions {
  readonly limits: ArchiveLimits;
  /** @default true */
  readonly mayBeGzip?: boolean;
  /** Called for every entry. Content that it does not read is skipped. */
  visit(entry: ArchiveEntry, content: AsyncIterable<Buffer>): Promise<void> | void;
}

/** Archives that are read at the same time. Each takes about a mebibyte, and few of them keep all processors busy. */
const maxReaders = 8;

/** A semaphore: lets some archives be read at a time. Others wait for their turn. */
export class ReadingTurns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async take<T>(read: () => Promise<T>): Promise<T> {
    if (this.#running < maxReaders) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

/**
 * Reads a tar, gzipped or not, entry by entry, without holding it in memory.
 * @throws HttpFailure 422 for another kind of archive, an unsafe path, an entry that is not a file, folder or symbolic
 * link, and a bomb.
 */
export async function readArchive(file: string, {limits, mayBeGzip = true, visit}: ReadArchiveOptions): Promise<void> {
  const checkSize = (unpacked: number, size: number): void => {
    const isSuspicious = unpacked > limits.ratioFreeBytes && unpacked > limits.maxRatio * Math.max(size, 1);
    if (unpacked > limits.maxUnpackedBytes || isSuspicious) {
      throw new HttpFailure(422, `The archive unpacks to far more than its ${String(size)} bytes.`);
    }
  };
  let entries = 0;
  try {
    if (!mayBeGzip && (await isGzip(file))) {
      throw new HttpFailure(422, 'A v1 archive must be an uncompressed tar file, not gzip.');
    }
    for await (const {header, content} of readTar(file, {checkSize})) {
      entries += 1;
      if (entries > limits.maxEntries) {
        throw new HttpFailure(422, `The archive contains more than ${String(limits.maxEntries)} entries.`);
      }
      const entry = archiveEntry(header);
      if (entry) await visit(entry, content);
    }
  } catch (error) {
    throw archiveFailure(error);
  }
}

function archiveEntry({name, type, linkname}: Header): ArchiveEntry | undefined {
  const path = entryPath(name);
  if (path === '') return undefined;
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return {path, type: 'file'};
    case 'directory':
      return {path, type};
    case 'symlink':
      return {path, type, linkTarget: linkname};
    default:
      throw new HttpFailure(
        422,
        `"${path}" in the archive is a ${typeName(type)}. Only files, folders and symbolic links are accepted.`,
      );
  }
}

function typeName(type: Header['type'] | null): string {
  return type === 'link' ? 'hard link' : (type?.replace('-', ' ') ?? 'file of an unknown type');
}

/** Errors of zlib and the tar parser are the client's fault; a failing disk is not. */
function archiveFailure(error: unknown): unknown {
  if (error instanceof HttpFailure || !(error instanceof Error)) return error;
  if ('code' in error && !String(error.code).startsWith('Z_')) return error;
  return new HttpFailure(422, `The archive cannot be read: ${error.message}.`);
}

/**
 * The path of an archive's entry: relative, with `/` between its parts. Empty for the archive's own root.
 * @throws HttpFailure 422 for a path that would leave the folder it is unpacked into, on any platform.
 */
function entryPath(name: string): string {
  const path = pathOf(name);
  if (path !== undefined) return path;
  throw new HttpFailure(422, `The archive contains an unsafe path: ${JSON.stringify(name.slice(0, 200))}.`);
}

/** What to unpack of a bundle, and where. */
interface UnpackOptions {
  /** The folder of the archive that contains the files. */
  readonly root: string;
  /** An empty folder. */
  readonly folder: string;
  readonly limits: ArchiveLimits;
  /** Called with each path, relative to `root`. */
  readonly isWanted: (file: string) => boolean;
}

/** Unpacks those files of a checked archive that are wanted, and nothing else. */
export async function unpackBundle(archive: string, {root, folder, limits, isWanted}: UnpackOptions): Promise<void> {
  const made = new Set<string>();
  const links: {readonly file: string; readonly target: string}[] = [];
  await readArchive(archive, {
    limits,
    async visit(entry, content) {
      const name = entry.path.slice(root.length + 1);
      if (entry.type === 'directory' || !isBelow(entry.path, root) || !isWanted(name)) return;
      const file = path.join(folder, name);
      const parent = path.dirname(file);
      if (!made.has(parent)) await mkdir(parent, {recursive: true, mode: 0o700});
      made.add(parent);
      if (entry.linkTarget === undefined) await writeFile(file, content, {flag: 'wx', mode: 0o600});
      else links.push({file, target: entry.linkTarget});
    },
  });
  // Create links last, so that no file is written through one.
  for (const {file, target} of links) await symlink(target, file);
}
