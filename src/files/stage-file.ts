import {createWriteStream} from 'node:fs';
import {lstat, rename} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import type {Writable} from 'node:stream';
import {createError} from '../errors/index.js';
import {outputError, systemCode} from '../errors/system-failure.js';
import {createSiblingDirectory} from './temporary-directory.js';

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
 * Writes a file that takes the place of `path` later, in one step: `write` gets the stream. Whoever asks for it discards it.
 * @param mode Permissions of the file, before the umask.
 * @throws RuntimeCliError `ERR_OUTPUT` naming `path`; whatever `write` fails with. Nothing is left then.
 */
export async function stageFile<Result>(
  path: string,
  mode: number,
  write: (stream: Writable) => Promise<Result>,
): Promise<StagedFile<Result>> {
  await verifyReplaceable(path);
  const directory = await createSiblingDirectory(dirname(path));
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
  throw createError('ERR_OUTPUT', `${path} cannot be written: there is something that is not a regular file`, {
    suggestions: ['Name another file, or - for stdout.'],
  });
}
