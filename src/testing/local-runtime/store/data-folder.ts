/* eslint-disable no-restricted-globals -- who lives is a fact of the system, not a setting */
import {lstat, readdir, readFile, rm, writeFile} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a runtime that is given no folder makes and removes one itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import {systemCode} from '../../../errors/system-failure.js';
import {makePrivateDirectory} from '../../../files/make-directory.js';
import {createSiblingDirectory, isAlive} from '../../../files/temporary-directory.js';
import {createError} from '../../../errors/index.js';

/** A folder that this runtime alone works in. */
export interface DataFolder {
  /** Absolute. */
  readonly path: string;
  /** Lets others have it; a temporary one is removed. */
  close(): Promise<void>;
}

/** `lock-<pid>-<when the process was started>` */
const lockName = /^lock-(\d+)-(\d*)$/;

/**
 * Opens a folder for one runtime, or makes a temporary one, after removing those that killed runtimes left.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when another runtime has it; Error of the system when it cannot be used.
 */
export async function openDataFolder(dataDirectory: string | undefined): Promise<DataFolder> {
  if (dataDirectory === undefined) {
    const temporary = await createSiblingDirectory(tmpdir());
    return {path: temporary.path, close: () => temporary.remove()};
  }
  const folder = path.resolve(dataDirectory);
  await makePrivateDirectory(folder);
  const lock = await lockFolder(folder);
  return {path: folder, close: () => rm(lock, {force: true})};
}

/**
 * Puts a file into the folder whose name says which process has it: it means nothing once that process has ended, however
 * it did. Two that start at the same moment may refuse each other; never do both begin.
 */
async function lockFolder(folder: string): Promise<string> {
  const own = `lock-${String(process.pid)}-${(await startOf(process.pid)) ?? ''}`;
  const lock = path.join(folder, own);
  await writeFile(lock, '', {flag: 'wx', mode: 0o600}).catch((error: unknown) => {
    throw systemCode(error) === 'EEXIST' ? inUse(folder, process.pid) : error;
  });
  for (const name of await readdir(folder)) {
    const [, pid, start] = lockName.exec(name) ?? [];
    if (pid === undefined || start === undefined || name === own) continue;
    const file = path.join(folder, name);
    if (!(await isLock(file))) continue;
    if (await isRunning(Number(pid), start)) {
      await rm(lock, {force: true});
      throw inUse(folder, Number(pid));
    }
    await rm(file, {force: true});
  }
  return lock;
}

/** Whether it is a lock and not a file, folder or link of somebody else's by such a name. */
async function isLock(file: string): Promise<boolean> {
  const stats = await lstat(file).catch(() => undefined);
  return stats?.isFile() === true && stats.size === 0;
}

/** Whether it is still the process that wrote the lock: numbers are given again, in containers nearly always. */
async function isRunning(pid: number, start: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const now = await startOf(pid);
  return start === '' || now === undefined || now === start;
}

/** When a process was started, on systems with `/proc`; `ended` when it only waits for its parent to take note. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => '');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? 'ended' : fields[18];
}

function inUse(folder: string, pid: number): Error {
  return createError(
    'ERR_OPTION_INVALID',
    `the data folder ${folder} is in use by the runtime with process id ${String(pid)}`,
    {
      suggestions: ['End that one first, or choose another data folder.'],
    },
  );
}
