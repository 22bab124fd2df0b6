import {constants} from 'node:fs';
import {lstat, mkdir, open, type FileHandle} from 'node:fs/promises';
import {createError, type RuntimeCliError} from '../../../errors/index.js';
import {systemCode} from '../../../errors/system-failure.js';

/**
 * Opens a regular file for reading; a link in its place is not followed.
 * @throws Error of the system (`ELOOP` for a link), and RuntimeCliError `ERR_OPTION_INVALID` for what is neither.
 */
export async function openOwnFile(file: string): Promise<FileHandle> {
  // Without waiting for anybody, should it be a pipe.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (stats.isFile()) return handle;
  await handle.close();
  throw notOurs(file, 'file');
}

/** The JSON of a file of its own. @throws Error when it cannot be read, is a link or is not JSON. */
export async function readOwnJson(file: string): Promise<unknown> {
  const handle = await openOwnFile(file);
  try {
    return JSON.parse(await handle.readFile('utf8'));
  } finally {
    await handle.close();
  }
}

/** Makes a folder if it is missing. @throws RuntimeCliError `ERR_OPTION_INVALID` when a link or a file is in its place. */
export async function makeOwnFolder(folder: string): Promise<void> {
  if (await isOwnFolder(folder)) return;
  await mkdir(folder, {mode: 0o700});
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` unless it is a folder, not a link to one. */
export async function verifyOwnFolder(folder: string): Promise<void> {
  if (!(await isOwnFolder(folder))) throw notOurs(folder, 'folder');
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` when it is there and no regular file: a link, say. */
export async function verifyOwnFile(file: string): Promise<void> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats !== undefined && !stats.isFile()) throw notOurs(file, 'file');
}

async function isOwnFolder(folder: string): Promise<boolean> {
  try {
    if ((await lstat(folder)).isDirectory()) return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  throw notOurs(folder, 'folder');
}

function notOurs(path: string, kind: 'file' | 'folder'): RuntimeCliError {
  return createError(
    'ERR_OPTION_INVALID',
    `the data folder holds something else than a ${kind} of its own at ${path}`,
    {
      suggestions: ['Links in a data folder are not followed: choose another data folder, or remove what is there.'],
    },
  );
}
