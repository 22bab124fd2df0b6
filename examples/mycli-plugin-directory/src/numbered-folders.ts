import {randomUUID} from 'node:crypto';
import {lstat, mkdir, readdir, rename, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {systemCode} from './failure.js';

/** Anything unchanged for this long was left by a process that is gone. */
const abandonedAfterMs = 60 * 60 * 1000;

/** The numbers of the numbered folders in `parent`, newest first. */
export async function numbersIn(parent: string): Promise<readonly number[]> {
  return (await namesIn(parent))
    .filter((name) => /^[1-9]\d{0,14}$/.test(name))
    .map(Number)
    .sort((a, b) => b - a);
}

/** The names in a folder; empty if it does not exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Renames the folder `prepared` to the next number in `parent`. The rename is atomic, and never replaces a non-empty
 * folder, so if two processes want the same number, one of them gets the next.
 */
export async function publish(prepared: string, parent: string): Promise<number> {
  await mkdir(parent, {recursive: true});
  const [newest = 0] = await numbersIn(parent);
  for (let number = newest + 1; ; number += 1) {
    try {
      await rename(prepared, join(parent, String(number)));
      return number;
    } catch (error) {
      if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Lets `work` fill a new folder in `incoming`. Removes what remains of it, and what killed processes left. */
export async function withIncoming<Result>(
  incoming: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  await sweep(incoming);
  const folder = join(incoming, randomUUID());
  await mkdir(folder, {recursive: true});
  try {
    return await work(folder);
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

async function sweep(incoming: string): Promise<void> {
  for (const name of await namesIn(incoming)) {
    const folder = join(incoming, name);
    if (Date.now() - (await lastChange(folder)) > abandonedAfterMs) await rm(folder, {recursive: true, force: true});
  }
}

/** When the folder or a file in it was last modified; now if it has just disappeared. */
async function lastChange(folder: string): Promise<number> {
  try {
    const paths = [folder, ...(await readdir(folder)).map((name) => join(folder, name))];
    return Math.max(...(await Promise.all(paths.map((path) => lstat(path)))).map(({mtimeMs}) => mtimeMs));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return Date.now();
    throw error;
  }
}
