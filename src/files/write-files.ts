import {createWriteStream} from 'node:fs';
import {mkdir, stat, lstat, rename, open, readFile} from 'node:fs/promises';
import {dirname, basename, join} from 'node:path';
import type {Writable} from 'node:stream';
import {createError} from '../errors/index.js';
import {systemCode, outputError} from '../errors/system-failure.js';
import {createSweptDirectory} from './temporary-directory.js';

/**
 * Makes a folder that only its owner can use, and those above it that are not there. Unlike Node's recursive `mkdir`,
 * it ends where a folder is there and nothing can be made in it for want of an entry (`ENOENT` under /proc): Node's
 * asks for ever.
 * @throws Error of the system when it cannot be made.
 */
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
    // It is there, or somebody else was quicker; on a read-only volume the complaint is another one.
    if ((await stat(path).catch(() => undefined))?.isDirectory() !== true) throw error;
  }
}

/** A file that is complete, in a private folder beside the place where it belongs. */
export interface StagedFile<Result> {
  /** What writing it resolved to. */
  readonly result: Result;
  /**
   * Moves it into its place, at once.
   * @throws RuntimeCliError `ERR_OUTPUT` naming its path.
   */
  place(): Promise<void>;
  /** Removes the private folder, and the file when it is still there. */
  discard(): Promise<void>;
}

/** Bytes that wait to be written: small pieces go to the disk together. */
const queuedBytes = 1024 * 1024;

/**
 * Writes a file that takes the place of `path` later, in one step: `write` gets the stream. Whoever asks for it
 * discards it.
 * @param mode Permissions of the file, before the umask.
 * @throws RuntimeCliError `ERR_OUTPUT` naming `path`; whatever `write` fails with. Nothing is left then.
 */
export async function stageFile<Result>(
  path: string,
  mode: number,
  write: (stream: Writable) => Promise<Result>,
): Promise<StagedFile<Result>> {
  await verifyReplaceable(path);
  const directory = await createSweptDirectory(dirname(path));
  const temporary = join(directory.path, basename(path));
  const stream = createWriteStream(temporary, {flags: 'wx', mode, highWaterMark: queuedBytes});
  // `write` may fail before it listens.
  stream.on('error', () => undefined);
  try {
    return {
      result: await write(stream),
      place: () =>
        rename(temporary, path).catch((error: unknown) => {
          throw outputError(path, error);
        }),
      discard: () => directory.remove(),
    };
  } catch (error) {
    stream.destroy();
    await directory.remove();
    throw systemCode(error) === undefined ? error : outputError(path, error);
  }
}

/** A rename would put a file in the place of a device or a link. */
async function verifyReplaceable(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.isFile()) return;
  throw createError('ERR_OUTPUT', `${path} cannot be written: it exists and is not a regular file.`, {
    suggestions: ['Pass a different file, or - for stdout.'],
  });
}

/**
 * Replaces a file, at once or not at all, with one that only its owner can read. Its folder is there; what killed runs
 * left in that is removed.
 * @param beforeReplacing what may still stop it, with nothing changed
 */
export async function replacePrivateFile(
  path: string,
  content: string,
  beforeReplacing: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const directory = await createSweptDirectory(dirname(path));
  const temporary = join(directory.path, basename(path));
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await beforeReplacing();
    await rename(temporary, path);
  } finally {
    await directory.remove();
  }
}

/**
 * Reads such a file, which holds JSON; nothing when there is none. Invalid JSON is `undefined`: JSON's own complaint
 * would repeat a part of it.
 * @throws Error of the system when it cannot be read.
 */
export async function readPrivateFile(path: string): Promise<{readonly value: unknown} | undefined> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return {value: JSON.parse(content)};
  } catch {
    return {value: undefined};
  }
}
