import {createHash, randomUUID} from 'node:crypto';
import {createWriteStream, constants} from 'node:fs';
import {lstat, readdir, readFile, rm, utimes, writeFile, open, rename, mkdir, type FileHandle} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a runtime that is given no folder makes and removes one itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createError, type RuntimeCliError} from '../../../errors/index.js';
import {systemCode} from '../../../errors/system-failure.js';
import {isAlive, ownPid, processSpace} from '../../../files/ownership.js';
import {createSweptDirectory} from '../../../files/temporary-directory.js';
import {makePrivateDirectory} from '../../../files/write-files.js';

/** A folder that this runtime alone works in. */
export interface DataFolder {
  /** Absolute. */
  readonly path: string;
  /** Lets others have it; a temporary one is removed. */
  close(): Promise<void>;
}

/** `lock-<pid>-<when the process was started>-<where the id counts>`; an older version's names do not say where. */
const lockName = /^lock-(\d+)-(\d*)(?:-([0-9a-f]{8}))?$/;

/**
 * How often a runtime touches its lock, milliseconds: that is all that others see of it from where its process id means
 * nothing.
 */
const touchEveryMs = 2000;
/** After this long without it, the lock was left behind. */
const abandonedMs = 30_000;

/**
 * Opens a folder for one runtime, or makes a temporary one, after removing those that killed runtimes left.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when another runtime has it; Error of the system when it cannot be used.
 */
export async function openDataFolder(dataDirectory: string | undefined): Promise<DataFolder> {
  if (dataDirectory === undefined) {
    const temporary = await createSweptDirectory(tmpdir());
    return {path: temporary.path, close: () => temporary.remove()};
  }
  const folder = path.resolve(dataDirectory);
  await makePrivateDirectory(folder);
  const lock = await lockFolder(folder);
  const touching = setInterval(() => {
    const now = new Date();
    // Who removes the lock of a running runtime has taken the folder away from it.
    utimes(lock, now, now).catch(() => undefined);
  }, touchEveryMs).unref();
  return {
    path: folder,
    close() {
      clearInterval(touching);
      return rm(lock, {force: true});
    },
  };
}

/**
 * Puts a file into the folder whose name says which process has it: it means nothing once that process has ended,
 * however it did. Two that start at the same moment may refuse each other; never do both begin.
 */
async function lockFolder(folder: string): Promise<string> {
  const here = await processSpace();
  const own = `lock-${String(ownPid)}-${(await startOf(ownPid)) ?? ''}-${here}`;
  const lock = path.join(folder, own);
  await writeFile(lock, '', {flag: 'wx', mode: 0o600}).catch((error: unknown) => {
    throw systemCode(error) === 'EEXIST' ? inUse(folder, byProcess(ownPid)) : error;
  });
  for (const name of await readdir(folder)) {
    const [, pid, start, where = here] = lockName.exec(name) ?? [];
    if (pid === undefined || start === undefined || name === own) continue;
    const file = path.join(folder, name);
    const age = await ageOfLock(file);
    if (age === undefined) continue;
    const isHeld = where === here ? await isRunning(Number(pid), start) : age < abandonedMs;
    if (isHeld) {
      await rm(lock, {force: true});
      throw inUse(folder, where === here ? byProcess(Number(pid)) : elsewhere);
    }
    await rm(file, {force: true});
  }
  return lock;
}

/** Milliseconds since a lock was touched; nothing for a file, folder or link of somebody else's by such a name. */
async function ageOfLock(file: string): Promise<number | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  return stats?.isFile() === true && stats.size === 0 ? Date.now() - stats.mtimeMs : undefined;
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

interface Holder {
  readonly who: string;
  readonly suggestion: string;
}

const byProcess = (pid: number): Holder => ({
  who: `the local runtime with process ID ${String(pid)}`,
  suggestion: 'Stop that one first, or choose another data folder.',
});
const elsewhere: Holder = {
  who: 'a local runtime in another container or on another machine',
  suggestion: 'Stop that one first, or choose another data folder. If it was killed, try again in 30 seconds.',
};

function inUse(folder: string, {who, suggestion}: Holder): Error {
  return createError('ERR_OPTION_INVALID', `The data folder ${folder} is in use by ${who}.`, {
    suggestions: [suggestion],
  });
}

/** A file that was stored, hashed on the way. */
export interface StoredFile {
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** Streams `source` into the new file `file`, which is on the disk when this resolves. */
export async function storeStream(source: AsyncIterable<Buffer>, file: string): Promise<StoredFile> {
  const hash = createHash('sha256');
  let size = 0;
  async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  await pipeline(source, hashed, createWriteStream(file, {flags: 'wx', mode: 0o600, flush: true}));
  return {size, sha256: hash.digest('hex')};
}

/** Writes JSON into `file`: after a crash there is either what was there before, or all of `value`. */
export async function writeJsonFile(file: string, value: unknown, temporaryFolder: string): Promise<void> {
  const temporary = path.join(temporaryFolder, `${randomUUID()}.json`);
  try {
    await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`, {flag: 'wx', mode: 0o600, flush: true});
    await moveIntoPlace(temporary, file);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
}

/** Renames, and makes the new name last. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  // Windows knows no way to sync a folder.
  const folder = await open(path.dirname(to), 'r').catch(() => undefined);
  try {
    await folder?.sync().catch(() => undefined);
  } finally {
    await folder?.close();
  }
}

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

/**
 * Makes a folder if it is missing. @throws RuntimeCliError `ERR_OPTION_INVALID` when a link or a file is in its place.
 */
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
  return createError('ERR_OPTION_INVALID', `The data folder is damaged: ${path} is not a regular ${kind}.`, {
    suggestions: ['Remove what is there, or choose another data folder. Links in a data folder are not followed.'],
  });
}
