/* eslint-disable no-restricted-globals -- who lives and who owns a file are facts of the system, not settings */
import {createHash, randomUUID} from 'node:crypto';
import {rmSync, type Stats} from 'node:fs';
import {lstat, mkdtemp, readdir, readFile, readlink, rm} from 'node:fs/promises';
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

/**
 * What process ids count in: this boot of this machine, and on Linux the namespace. An id from elsewhere, such as
 * another container, says nothing about the processes here.
 */
export async function processSpace(): Promise<string> {
  const facts =
    process.platform === 'linux'
      ? await Promise.all([readFile('/proc/sys/kernel/random/boot_id', 'utf8'), readlink('/proc/self/ns/pid')]).catch(
          // Unknown: then it is nobody else's.
          () => [randomUUID()],
        )
      : [process.platform];
  return createHash('sha256').update(facts.join(' ')).digest('hex').slice(0, 8);
}

async function isOwnDirectory(path: string, minAge: number): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isDirectory() || Date.now() - stats.mtimeMs < minAge) return false;
  return isOwn(stats, 0o077);
}

/** Whether something is this user's, with none of the permissions in `forbidden`. */
export function isOwn({uid, mode}: Pick<Stats, 'uid' | 'mode'>, forbidden: number): boolean {
  // Windows has neither owners nor modes; its temporary folder is the user's own.
  return process.getuid === undefined || (uid === process.getuid() && (mode & forbidden) === 0);
}

/** Makes a folder for the file that will take the place of `path`, after removing what killed runs left beside it. */
export async function createSiblingDirectory(parent: string): Promise<TemporaryDirectory> {
  await sweepTemporaryDirectories(parent);
  return createTemporaryDirectory(parent, process.pid);
}
