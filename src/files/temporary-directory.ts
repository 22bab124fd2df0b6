import {rmSync} from 'node:fs';
import {lstat, mkdtemp, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {outputError} from '../errors/system-failure.js';
import {isAlive, isOwn, ownPid, processSpace} from './ownership.js';

/** A private temporary folder. */
export interface TemporaryDirectory {
  /** Absolute if the parent is. */
  readonly path: string;
  /** Removes it and everything in it. */
  remove(): Promise<void>;
  /** Removes it synchronously, for a process that is exiting. */
  removeSync(): void;
}

/** `mycli-<pid>-<process space>-<random>`; older versions had no process space. */
const leftoverName = /^mycli-(\d+)-(?:([0-9a-f]{8})-)?[A-Za-z0-9]{6}$/;
/** Milliseconds after which a folder counts as left behind if we cannot check its process. */
const abandonedAfter = 24 * 60 * 60 * 1000;

/**
 * Creates the folder `mycli-<pid>-<process space>-<random>` in `parent`, accessible only to its owner.
 * @param pid The process that will remove it. If it dies, `sweepTemporaryDirectories` does.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be created.
 */
export async function createTemporaryDirectory(parent: string, pid: number): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(parent, `mycli-${String(pid)}-${await processSpace()}-`)).catch((error: unknown) => {
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
 * Removes what killed runs of the same user left in `parent`: private folders with such a name whose process is dead.
 * That can only be checked in our own process space, so folders of other containers and machines are kept for a day.
 * Never follows a link and never fails: what cannot be removed is left for the next run.
 */
export async function sweepTemporaryDirectories(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const here = await processSpace();
  for (const name of names) {
    const [, pid, where] = leftoverName.exec(name) ?? [];
    if (pid === undefined || (where === here && isAlive(Number(pid)))) continue;
    const path = join(parent, name);
    if (await isOwnDirectory(path, where === here ? 0 : abandonedAfter))
      await rm(path, {recursive: true, force: true}).catch(() => undefined);
  }
}

async function isOwnDirectory(path: string, minAge: number): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isDirectory() || Date.now() - stats.mtimeMs < minAge) return false;
  return isOwn(stats, 0o077);
}

/** Creates a private folder in `parent` after removing what killed runs left there. */
export async function createSweptDirectory(parent: string, pid: number = ownPid): Promise<TemporaryDirectory> {
  await sweepTemporaryDirectories(parent);
  return createTemporaryDirectory(parent, pid);
}
