import {rmSync} from 'node:fs';
import {lstat, mkdtemp, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {outputError} from '../errors/system-failure.js';
import {isAlive, isOwn, ownPid, processSpace} from './ownership.js';

/** A private folder, gone when the work is done. */
export interface TemporaryDirectory {
  /** Absolute when the parent is. */
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
  /** Removes it at once, for a process that is ending. */
  removeSync(): void;
}

/** `mycli-<pid>-<where that counts>-<random>`; an older version's names do not say where. */
const leftoverName = /^mycli-(\d+)-(?:([0-9a-f]{8})-)?[A-Za-z0-9]{6}$/;
/** After this long a folder is a leftover whose process cannot be looked for from here, milliseconds. */
const abandonedAfter = 24 * 60 * 60 * 1000;

/**
 * Makes a folder that nobody else can look into, `mycli-<pid>-<where that counts>-<random>` in `parent`.
 * @param pid The process that removes it. Once that is dead, `sweepTemporaryDirectories` does.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be made.
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
 * Removes what killed runs of the same user left in `parent`: private folders of this name whose process is dead. That
 * can only be known of processes that count as ours do: those of other containers and machines that share the folder
 * are left for a day. Never follows a link, never fails: what cannot be removed stays for the next run.
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

/** Makes a private folder in `parent`, after removing what killed runs left there. */
export async function createSweptDirectory(parent: string, pid: number = ownPid): Promise<TemporaryDirectory> {
  await sweepTemporaryDirectories(parent);
  return createTemporaryDirectory(parent, pid);
}
