import type {Stats} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';

/**
 * Reads a text file of the user's, without its byte order mark. Only a regular file: reading a named pipe would wait
 * for its writer, past every signal.
 * @param maxBytes of the file.
 * @throws Error of the system when it cannot be read; Error when it is not a regular file or too large.
 */
export async function readTextFile(path: string, maxBytes = Infinity): Promise<string> {
  const {size} = await verifyRegularFile(path);
  if (size > maxBytes) throw new Error(`it has ${size} bytes, more than ${maxBytes}`);
  return readText(path);
}

/**
 * Reads the text of a file that the user has asked for by `@FILE`, without its byte order mark. It may be a pipe, such
 * as the shell makes of `<(command)`.
 * @throws Error of the system when it cannot be read.
 */
export async function readText(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
}

/** @throws Error of the system when there is nothing at `path`; Error when it is not a regular file. */
export async function verifyRegularFile(path: string): Promise<Stats> {
  const stats = await stat(path);
  if (stats.isFile()) return stats;
  throw new Error('it is not a regular file');
}
