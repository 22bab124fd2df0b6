/* eslint-disable no-restricted-globals -- who lives and who owns a file are facts of the system, not settings */
import {rmSync} from 'node:fs';
import {lstat, mkdtemp, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {outputError, systemCode} from '../errors/system-failure.js';

/** A private folder, gone when the work is done. */
export interface TemporaryDirectory {
  /** Absolute when the parent is. */
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
  /** Removes it at once, for a process that is ending. */
  removeSync(): void;
}

/** `mycli-<pid>-<random>` */
const leftoverName = /^mycli-(\d+)-[A-Za-z0-9]{6}$/;

/**
 * Makes a folder that nobody else can look into, `mycli-<pid>-<random>` in `parent`.
 * @param pid The process that removes it. Once that is dead, `sweepTemporaryDirectories` does.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be made.
 */
export async function createTemporaryDirectory(parent: string, pid: number): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(parent, `mycli-${String(pid)}-`)).catch((error: unknown) => {
    throw outputError(parent, error);
  });
  return {
    path,
    remove: () => rm(path, {recursive: true, force: true}),
    removeSync: () => {
      rmSync(path, {recursive: true, force: true});
    },
  };
}

/**
 * Removes what killed runs of the same user left in `parent`: private folders of this name whose process is dead. Never
 * follows a link, never fails: what cannot be removed stays for the next run.
 */
export async function sweepTemporaryDirectories(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const pid = leftoverName.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(parent, name);
    if (await isOwnDirectory(path)) await rm(path, {recursive: true, force: true}).catch(() => undefined);
  }
}

/** Whether there is a process of this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Someone else's process may not be signalled, but lives.
    return systemCode(error) !== 'ESRCH';
  }
}

async function isOwnDirectory(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isDirectory()) return false;
  // Windows has neither owners nor modes; its temporary folder is the user's own.
  return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
}

/** Makes a folder for the file that will take the place of `path`, after removing what killed runs left beside it. */
export async function createSiblingDirectory(parent: string): Promise<TemporaryDirectory> {
  await sweepTemporaryDirectories(parent);
  return createTemporaryDirectory(parent, process.pid);
}
