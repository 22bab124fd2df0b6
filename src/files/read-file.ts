import type {Stats} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {parseJson} from '../text/json.js';

/**
 * Reads one of the user's text files, without its byte order mark. It must be a regular file: reading a named pipe
 * would block until it has a writer, regardless of signals.
 * @param maxBytes size limit
 */
export async function readTextFile(path: string, maxBytes = Infinity): Promise<string> {
  const {size} = await verifyRegularFile(path);
  if (size > maxBytes) throw new Error(`it has ${size} bytes, more than ${maxBytes}`);
  return readText(path);
}

/**
 * Reads one of the user's JSON files.
 * @throws Error if it cannot be read, or is not JSON
 */
export async function readJsonFile(path: string): Promise<unknown> {
  return parseJson(await readTextFile(path));
}

/** Reads a file that the user named with `@FILE`, without its byte order mark. It may be a pipe, as in `<(command)`. */
export async function readText(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
}

/** Whether there is anything at a path. A link counts when what it leads to is there. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

export async function verifyRegularFile(path: string): Promise<Stats> {
  const stats = await stat(path);
  if (stats.isFile()) return stats;
  throw new Error('it is not a regular file');
}
