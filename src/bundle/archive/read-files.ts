import {closeSync, constants, fstatSync, openSync, readSync, type Stats} from 'node:fs';
import {open, type FileHandle} from 'node:fs/promises';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {showPath} from '../files/entry-names.js';
import {slabBytes, type ReadMemory} from './memory.js';
import {asSentence} from '../../errors/sentence.js';

/** A file as found when the bundle was planned. */
export interface PlannedFile {
  /** Absolute. */
  readonly source: string;
  /** Bytes. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Files up to this size are read in one go. */
export const smallFileBytes = slabBytes;
/** Buffer for reading past the expected end of a file. Its content is never used. */
const oneByte = Buffer.alloc(1);
/** If a link or a pipe has replaced the file, neither follow it nor wait for it. Windows has neither flag. */
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0);

/**
 * Reads a small file in one go, synchronously: waiting for a thread would take longer than reading.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` if it no longer matches the plan.
 */
export function readWholeFile(file: PlannedFile, memory: ReadMemory): Buffer {
  try {
    const descriptor = openSync(file.source, openFlags);
    try {
      const before = fstatSync(descriptor);
      verifyStats(file, before);
      const buffer = memory.take(file.size);
      let length = 0;
      for (let read = -1; read !== 0 && length < file.size; length += read) {
        read = readSync(descriptor, buffer, length, file.size - length, null);
      }
      verifySize(file, length + readSync(descriptor, oneByte, 0, 1, null));
      verifyUntouched(file, before, fstatSync(descriptor));
      return buffer;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw unreadableError(file, error);
  }
}

/** A large file, with its stats when it was opened. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/**
 * Opens a large file.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` if it no longer matches the plan.
 */
export async function openFile(file: PlannedFile): Promise<OpenFile> {
  try {
    const handle = await open(file.source, openFlags);
    try {
      const stats = await handle.stat();
      verifyStats(file, stats);
      return {handle, stats};
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw unreadableError(file, error);
  }
}

/**
 * Reads exactly the planned number of bytes, then verifies that there are no more and that the file was not modified
 * meanwhile.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` if there are fewer or more, or the file was modified.
 */
export async function* readChunks(
  file: PlannedFile,
  {handle, stats}: OpenFile,
  memory: ReadMemory,
): AsyncGenerator<Buffer> {
  try {
    for (let position = 0; position < file.size;) {
      const buffer = memory.take(Math.min(slabBytes, file.size - position));
      const {bytesRead} = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) verifySize(file, position);
      position += bytesRead;
      memory.giveBack(buffer.subarray(bytesRead));
      yield buffer.subarray(0, bytesRead);
    }
    const {bytesRead} = await handle.read(oneByte, 0, 1, file.size);
    verifySize(file, file.size + bytesRead);
    verifyUntouched(file, stats, await handle.stat());
  } catch (error) {
    throw unreadableError(file, error);
  }
}

function verifyStats(file: PlannedFile, stats: Stats): void {
  if (!stats.isFile()) throw changedError(file, 'it is no longer a regular file');
  verifySize(file, stats.size);
  if (stats.mtimeMs !== file.modifiedMs) throw changedError(file, 'it was modified after the build was scanned');
}

/**
 * Bytes read during a write belong to no version of the file. A tool may reset the modification time, but not the
 * change time, which also differs if another file was renamed over it.
 */
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
  if (code === 'ENOENT' || code === 'ENOTDIR') return changedError(file, 'it disappeared', error);
  if (code === 'ELOOP') return changedError(file, 'it became a symbolic link', error);
  return createError('ERR_FILE_CHANGED', asSentence(`${showPath(file.source)} cannot be read: ${reasonOf(error)}`), {
    suggestions: ['Make the file readable, or exclude it with --ignore PATTERN.'],
    cause: error,
  });
}

function changedError({source}: PlannedFile, what: string, cause?: unknown): RuntimeCliError {
  return createError('ERR_FILE_CHANGED', `${showPath(source)} changed while the bundle was being built: ${what}.`, {
    suggestions: ['Wait for other programs to finish writing to the build directory, then try again.'],
    details: {file: source},
    cause,
  });
}
