import {closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats} from 'node:fs';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {openFilesError, reasonOf, systemCode} from '../../errors/system-failure.js';
import {showPath} from '../../text/entry-names.js';
import {asSentence} from '../../text/sentence.js';

/** A file as found when the bundle was planned. */
export interface PlannedFile {
  /** Absolute. */
  readonly source: string;
  /** Bytes. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** If a link or a pipe has replaced the file, neither follow it nor wait for it. Windows has neither flag. */
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0);

/** Bytes read at a time. */
export const pieceBytes = 256 * 1024;

/** Whether a file is read in several pieces. */
export function isLarge({size}: PlannedFile): boolean {
  return size > pieceBytes;
}

/**
 * Reads a file synchronously: waiting for a thread would take longer. @throws RuntimeCliError `ERR_FILE_CHANGED`
 * @param memory `pieceBytes` to read all pieces into, which has the last of them when the next is asked for.
 */
export function* readFile(file: PlannedFile, memory?: Buffer): Generator<Buffer, void> {
  try {
    const descriptor = openSync(file.source, openFlags);
    try {
      const before = fstatSync(descriptor);
      verifyStats(file, before);
      let left = file.size;
      do {
        // One byte more than there should be shows whether there is more.
        const length = Math.min(left + 1, pieceBytes);
        const piece = memory?.subarray(0, length) ?? Buffer.allocUnsafe(length);
        const read = readSync(descriptor, piece);
        if (read === 0 || read > left) verifySize(file, file.size - left + read);
        left -= read;
        if (read > 0) yield piece.subarray(0, read);
      } while (left > 0);
      verifyUntouched(file, before, fstatSync(descriptor));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw unreadableError(file, error);
  }
}

/** @throws RuntimeCliError `ERR_FILE_CHANGED` if a file no longer matches the plan. */
export function lookAgain(file: PlannedFile): Stats {
  try {
    const stats = lstatSync(file.source);
    verifyStats(file, stats);
    return stats;
  } catch (error) {
    throw unreadableError(file, error);
  }
}

function verifyStats(file: PlannedFile, stats: Stats): void {
  if (stats.isSymbolicLink()) throw changedError(file, 'it became a symbolic link');
  if (!stats.isFile()) throw changedError(file, 'it is no longer a regular file');
  verifySize(file, stats.size);
  if (stats.mtimeMs !== file.modifiedMs) throw changedError(file, 'it was modified after the build was scanned');
}

/** A tool may reset the modification time, but not the change time, which also differs after a rename over the file. */
function verifyUntouched(file: PlannedFile, before: Stats, after: Stats): void {
  verifySize(file, after.size);
  const same = after.mtimeMs === before.mtimeMs && after.ctimeMs === before.ctimeMs && after.ino === before.ino;
  if (!same) throw changedError(file, 'it was modified while it was being read');
}

function verifySize(file: PlannedFile, size: number): void {
  if (size === file.size) return;
  const what = size > file.size ? 'grew' : 'shrank';
  throw changedError(file, `it ${what} from ${String(file.size)} bytes`);
}

function unreadableError(file: PlannedFile, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  const limit = openFilesError(error);
  if (limit !== undefined) return limit;
  if (code === 'ENOENT' || code === 'ENOTDIR') return changedError(file, 'it disappeared', error);
  if (code === 'ELOOP') return changedError(file, 'it became a symbolic link', error);
  return createError('ERR_FILE_CHANGED', asSentence(`${showPath(file.source)} cannot be read: ${reasonOf(error)}`), {
    suggestions: ['Make the file readable, or exclude it in .bundleignore.'],
    cause: error,
  });
}

function changedError({source}: PlannedFile, what: string, cause?: unknown): RuntimeCliError {
  return createError('ERR_FILE_CHANGED', `${showPath(source)} changed while the bundle was being built: ${what}.`, {
    suggestions: ['Wait for other programs to finish writing to the build folder, then try again.'],
    details: {file: source},
    cause,
  });
}
