import {createWriteStream} from 'node:fs';
import {lstat, rename} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import type {Writable} from 'node:stream';
import {createError} from '../errors/index.js';
import {outputError, systemCode} from './failure.js';
import {createSiblingDirectory} from './temporary-directory.js';

/**
 * Writes a file that is either complete or not there: `write` gets a stream into a private folder beside it, and the file
 * takes its place when `write` has ended.
 * @param mode Permissions of the file, before the umask.
 * @throws RuntimeCliError `ERR_OUTPUT` naming `path`; whatever `write` fails with.
 */
export async function writeAtomically<Result>(
  path: string,
  mode: number,
  write: (stream: Writable) => Promise<Result>,
): Promise<Result> {
  await verifyReplaceable(path);
  const directory = await createSiblingDirectory(dirname(path));
  const temporary = join(directory.path, basename(path));
  const stream = createWriteStream(temporary, {flags: 'wx', mode});
  // `write` may fail before it listens.
  stream.on('error', () => undefined);
  try {
    const result = await write(stream);
    await rename(temporary, path);
    return result;
  } catch (error) {
    stream.destroy();
    throw systemCode(error) === undefined ? error : outputError(path, error);
  } finally {
    await directory.remove();
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
