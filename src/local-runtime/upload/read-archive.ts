import {mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Header} from 'tar-stream';
import {entryPath, isBelow} from '../../bundle/prebuilt/archive-layout.js';
import {isGzip, readTar} from '../../bundle/prebuilt/read-tar.js';
import {HttpFailure} from '../answer.js';

/** An entry of an archive that is safe on its own. */
export interface ArchiveEntry {
  /** Relative, see `entryPath()`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** The verbatim target of a symbolic link. */
  readonly linkTarget?: string | undefined;
  /** Bytes. */
  readonly size: number;
  /** What is not read is skipped. */
  readonly content: AsyncIterable<Buffer>;
}

const gibibyte = 1024 ** 3;

/** Limits on what an archive may unpack to. One that exceeds them is treated as a bomb. */
export const defaultLimits = {
  entries: 200_000,
  /** Size of the uncompressed tar, in bytes. */
  bytes: 8 * gibibyte,
  /** Compression ratio, only checked above `freeBytes`. */
  ratio: 200,
  freeBytes: 1.5 * gibibyte,
};

/**
 * Reads a tar, gzipped or not, entry by entry, without holding it in memory.
 * @throws HttpFailure 422 for another kind of archive, an unsafe path, an entry that is not a file, folder or symbolic
 * link, and a bomb.
 */
export async function* readArchive(
  file: string,
  {mayBeGzip = true, limits = defaultLimits}: {mayBeGzip?: boolean; limits?: typeof defaultLimits} = {},
): AsyncGenerator<ArchiveEntry, void> {
  const checkSize = (unpacked: number, size: number): void => {
    const isSuspicious = unpacked > limits.freeBytes && unpacked > limits.ratio * Math.max(size, 1);
    if (unpacked > limits.bytes || isSuspicious) {
      throw new HttpFailure(422, `The archive unpacks to far more than its ${size} bytes.`);
    }
  };
  let entries = 0;
  try {
    if (!mayBeGzip && (await isGzip(file))) {
      throw new HttpFailure(422, 'A v1 archive must be an uncompressed tar file, not gzip.');
    }
    for await (const {header, content} of readTar(file, {checkSize})) {
      entries += 1;
      if (entries > limits.entries) {
        throw new HttpFailure(422, `The archive contains more than ${limits.entries} entries.`);
      }
      const entry = archiveEntry(header);
      if (entry.path !== '') yield {...entry, content};
    }
  } catch (error) {
    throw archiveFailure(error);
  }
}

/** @throws HttpFailure 422 for a path that would leave the folder it is unpacked into, on any platform. */
function archiveEntry({name, type, linkname, size}: Header): Omit<ArchiveEntry, 'content'> {
  const path = entryPath(name);
  if (path === undefined) {
    throw new HttpFailure(422, `The archive contains an unsafe path: ${JSON.stringify(name.slice(0, 200))}.`);
  }
  // The archive's own root.
  if (path === '') return {path, type: 'directory', size};
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return {path, type: 'file', size};
    case 'directory':
      return {path, type, size};
    case 'symlink':
      return {path, type, size, linkTarget: linkname};
    default: {
      const kind = type === 'link' ? 'hard link' : type.replace('-', ' ');
      const accepted = 'Only files, folders and symbolic links are accepted.';
      throw new HttpFailure(422, `"${path}" in the archive is a ${kind}. ${accepted}`);
    }
  }
}

/** Errors of zlib and the tar parser are the client's fault; a failing disk is not. */
function archiveFailure(error: unknown): unknown {
  if (error instanceof HttpFailure || !(error instanceof Error)) return error;
  if ('code' in error && !String(error.code).startsWith('Z_')) return error;
  return new HttpFailure(422, `The archive cannot be read: ${error.message}.`);
}

/** What to unpack of a bundle, and where. */
interface UnpackOptions {
  /** The folder of the archive that contains the files. */
  readonly root: string;
  readonly folder: string;
  /** Paths relative to `root`. @default all */
  readonly wanted?: ReadonlySet<string>;
}

/** Unpacks those files of a checked archive that are wanted, and nothing else. */
export async function unpackBundle(archive: string, {root, folder, wanted}: UnpackOptions): Promise<void> {
  const made = new Set<string>();
  const links: {readonly file: string; readonly target: string}[] = [];
  for await (const {path: name, type, linkTarget, content} of readArchive(archive)) {
    const inRoot = name.slice(root.length + 1);
    if (type === 'directory' || !isBelow(name, root) || wanted?.has(inRoot) === false) continue;
    const file = path.join(folder, inRoot);
    const parent = path.dirname(file);
    if (!made.has(parent)) await mkdir(parent, {recursive: true, mode: 0o700});
    made.add(parent);
    if (linkTarget === undefined) await writeFile(file, content, {flag: 'wx', mode: 0o600});
    else links.push({file, target: linkTarget});
  }
  // Create links last, so that no file is written through one.
  for (const {file, target} of links) await symlink(target, file);
}
