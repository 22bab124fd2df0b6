import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {systemCode} from '../errors/system-failure.js';

/**
 * Makes a folder that only its owner can use, and those above it that are not there. Unlike Node's recursive `mkdir`, it
 * ends where a folder is there and nothing can be made in it for want of an entry (`ENOENT` under /proc): Node's asks for ever.
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
