import {rmSync} from 'node:fs';
import {lstat, mkdtemp, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {cannotWrite} from '../errors/system-failure.js';
import {isAlive, isOwn, ownPid, ownPidSpace} from './ownership.js';

/** A private temporary folder. */
export interface TemporaryDirectory {
  /** Absolute if the parent is. */
  readonly path: string;
  /** Removes it and everything in it. */
  remove(): Promise<void>;
  /** Removes it synchronously, for a process that is exiting. */
  removeSync(): void;
}

/** `mycli-<pid>-<PID namespace>-<random>`; older versions had no namespace. */
const leftoverName = /^mycli-(\d+)-(?:([0-9a-f]{8})-)?[A-Za-z0-9]{6}$/;
/** While another program has a file in it open, Windows removes no folder: try again, a little later each time. */
const maxRetries = 5;
/** Milliseconds after which a folder counts as left behind if we cannot check its process. */
const abandonedAfter = 7 * 24 * 60 * 60 * 1000;

/** Creates `mycli-<pid>-<PID namespace>-<random>` in `parent`, for its owner alone. `pid`: who will remove it. */
export async function createTemporaryDirectory(parent: string, pid: number): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(parent, `mycli-${String(pid)}-${ownPidSpace()}-`)).catch(cannotWrite(parent));
  return {
    path,
    remove: () => rm(path, {recursive: true, force: true, maxRetries}),
    removeSync: () => rmSync(path, {recursive: true, force: true, maxRetries}),
  };
}

/**
 * Removes the folders that dead runs of the same user left in `parent`. What another container may still use is kept
 * for a week. Follows no link and never fails: what cannot be removed is left for the next run.
 */
export async function sweepTemporaryDirectories(parent: string): Promise<void> {
  const here = ownPidSpace();
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const [, pid, where] = leftoverName.exec(name) ?? [];
    if (pid === undefined || (where === here && isAlive(Number(pid)))) continue;
    const path = join(parent, name);
    const stats = await lstat(path).catch(() => undefined);
    if (!stats?.isDirectory() || !isOwn(stats, 0o077)) continue;
    if (where === here || Date.now() - stats.mtimeMs > abandonedAfter)
      await rm(path, {recursive: true, force: true}).catch(() => undefined);
  }
}

/** Creates a private folder in `parent` after removing what killed runs left there. */
export async function createSweptDirectory(parent: string): Promise<TemporaryDirectory> {
  await sweepTemporaryDirectories(parent);
  return createTemporaryDirectory(parent, ownPid);
}
