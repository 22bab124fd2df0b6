import {constants, createWriteStream, lstatSync} from 'node:fs';
import {access, mkdir, rename, stat, writeFile} from 'node:fs/promises';
import {dirname, basename, join, sep} from 'node:path';
import type {Writable} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import {createError} from '../errors/index.js';
import {onWindows} from '../text/platform.js';
import {systemCode, cannotWrite, outputError} from '../errors/system-failure.js';
import {isTrusted} from './ownership.js';
import {readJsonFile} from './read-file.js';
import {createSweptDirectory} from './temporary-directory.js';

/** With its missing parents. Node's recursive `mkdir` never returns below /proc, where a HOME may be. */
export async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makePrivateDirectory(dirname(path));
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, {mode: 0o700});
  } catch (error) {
    // It exists, or another process was faster; on a read-only volume the error is a different one.
    if ((await stat(path).catch(() => undefined))?.isDirectory() !== true) throw error;
  }
}

/** What Windows, and drives and shares that it serves, say while another program has the file open. */
const heldCodes: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);
/** Milliseconds between the attempts to move a file: a virus scanner or a reader lets go of it within two seconds. */
const pauses = [10, 40, 100, 250, 400, 600, 600];

/** Moves a file or folder into place, atomically. Tries for two seconds if another program may have it open. */
export async function moveFile(from: string, to: string): Promise<void> {
  for (const pause of pauses) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (!heldCodes.has(systemCode(error))) throw error;
      await delay(pause);
    }
  }
  await rename(from, to);
}

/** A complete file in a private folder next to its destination. */
export interface StagedFile<Result> {
  /** What `write` resolved to. */
  readonly result: Result;
  /** Moves it to its destination, atomically. @throws RuntimeCliError `ERR_OUTPUT` naming its path. */
  place(): Promise<void>;
  /** Removes the private folder, and the file if it is still there. */
  discard(): Promise<void>;
}

/** Bytes to buffer, so that small chunks are written together. */
const queuedBytes = 1024 * 1024;

/** Writes a file that will replace `path`. The caller must discard it. `mode`: its permissions, before the umask. */
export async function stageFile<Result>(
  path: string,
  mode: number,
  write: (stream: Writable) => Promise<Result>,
): Promise<StagedFile<Result>> {
  verifyRegular(path);
  const directory = await createSweptDirectory(dirname(path));
  const temporary = join(directory.path, basename(path));
  const stream = createWriteStream(temporary, {flags: 'wx', mode, highWaterMark: queuedBytes});
  // `write` may fail before it listens for errors.
  stream.on('error', () => undefined);
  try {
    return {
      result: await write(stream),
      place: () => moveFile(temporary, path).catch(cannotWrite(path)),
      discard: () => directory.remove(),
    };
  } catch (error) {
    stream.destroy();
    await directory.remove();
    throw systemCode(error) === undefined ? error : outputError(path, error);
  }
}

/** Atomically replaces a text file, or creates it. @default mode That of the replaced file. @throws `ERR_OUTPUT` */
export async function replaceTextFile(path: string, text: string, mode?: number): Promise<void> {
  verifyRegular(path);
  const replaced = await stat(path).catch(() => undefined);
  const permissions = mode ?? (replaced === undefined ? 0o666 : replaced.mode & 0o777);
  const directory = await createSweptDirectory(dirname(path));
  const temporary = join(directory.path, basename(path));
  try {
    await writeFile(temporary, text, {flag: 'wx', mode: permissions, flush: true});
    await moveFile(temporary, path);
  } catch (error) {
    throw outputError(path, error);
  } finally {
    await directory.remove();
  }
}

/** Refuses a file that could not be replaced, before any work is done for it. @throws RuntimeCliError `ERR_OUTPUT` */
export async function verifyWritable(path: string, advice?: string): Promise<void> {
  verifyRegular(path, advice);
  await access(join(dirname(path), sep), constants.W_OK).catch(cannotWrite(path));
}

/** Refuses to write to a link, a named pipe, where opening it would block, or a device, which would be replaced. */
export function verifyRegular(path: string, advice = 'Pass a different file, or - for stdout.'): void {
  const isDevice = onWindows && /^(?:con|prn|aux|nul|(?:com|lpt)\d)(?:\.|$)/i.test(basename(path));
  try {
    if (!isDevice && lstatSync(path).isFile()) return;
  } catch {
    // There is nothing, or writing fails for the same reason.
    return;
  }
  throw createError('ERR_OUTPUT', `${path} cannot be written: it exists and is not a regular file.`, {
    suggestions: [advice],
  });
}

/** A JSON file; undefined if it does not exist. The value of invalid JSON is `undefined`: an error would quote it. */
export async function readPrivateFile(path: string): Promise<{readonly value: unknown} | undefined> {
  try {
    if (!isTrusted(path)) throw new Error('it belongs to another user');
    return {value: await readJsonFile(path)};
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return {value: undefined};
    throw error;
  }
}
