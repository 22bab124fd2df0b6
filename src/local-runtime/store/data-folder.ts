import {createHash, randomInt, randomUUID} from 'node:crypto';
import {createWriteStream, constants} from 'node:fs';
import {chmod, lstat, readdir, rm, utimes, writeFile, open, rename, mkdir, type FileHandle} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a runtime without a data folder creates and removes its own
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import {systemCode} from '../../errors/system-failure.js';
import {isRunning, ownPid, processSpace, startOf} from '../../files/ownership.js';
import {createSweptDirectory} from '../../files/temporary-directory.js';
import {makePrivateDirectory} from '../../files/write-files.js';

/** A folder that only this runtime uses. */
export interface DataFolder {
  /** Absolute. */
  readonly path: string;
  /** Releases the folder, and removes it if it is temporary. */
  close(): Promise<void>;
}

/** `lock-<pid>-<start time of the process>-<where the ID is valid>`. Names from older versions lack the last part. */
const lockName = /^lock-(\d+)-(\d*)(?:-([0-9a-f]{8}))?$/;

/**
 * How often a runtime touches its lock, in milliseconds. Where its process ID means nothing, that is the only sign of
 * life.
 */
const touchEveryMs = 2000;
/** A lock that was touched in this time is held. */
const recentMs = 30_000;
/** An older one is abandoned if nobody touches it while we watch: its time may come from another clock. */
const watchMs = 2.5 * touchEveryMs;
/** How often two runtimes that start at the same moment make way for each other. */
const maxAttempts = 5;

/**
 * Opens a folder for one runtime, or creates a temporary one after removing those that killed runtimes left behind.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` if another runtime uses it; a system error if it cannot be used.
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
    // Removing the lock of a running runtime takes the folder away from it, so a missing lock is no error.
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
 * Locks a folder with a file named after the process, which means nothing once that process has ended for whatever
 * reason. Of runtimes that start at the same moment, one gets the folder.
 */
async function lockFolder(folder: string): Promise<string> {
  const here = await processSpace();
  const lock = path.join(folder, `lock-${String(ownPid)}-${(await startOf(ownPid)) ?? ''}-${here}`);
  for (let attempt = 1; ; attempt += 1) {
    await writeFile(lock, '', {flag: 'wx', mode: 0o600}).catch((error: unknown) => {
      throw systemCode(error) === 'EEXIST' ? inUse(folder, byProcess(ownPid)) : error;
    });
    const other = await findHolder(folder, lock, here).catch(async (error: unknown) => {
      await rm(lock, {force: true});
      throw error;
    });
    if (other === undefined) return lock;
    await rm(lock, {force: true});
    // It may be starting, have found our lock too, and give way to us.
    await delay(randomInt(20, 120));
    if (attempt === maxAttempts || (await touchedAt(other.file)) !== undefined) throw inUse(folder, other);
  }
}

/** The runtime that has locked the folder, if any. Removes locks of runtimes that are gone. */
async function findHolder(
  folder: string,
  own: string,
  here: string,
): Promise<(Holder & {readonly file: string}) | undefined> {
  for (const name of await readdir(folder)) {
    const [, pid, start, where = here] = lockName.exec(name) ?? [];
    const file = path.join(folder, name);
    if (pid === undefined || start === undefined || file === own) continue;
    const touched = await touchedAt(file);
    if (touched === undefined) continue;
    const isHeld =
      (where === here ? await isRunning(Number(pid), start) : undefined) ?? (await isTouched(file, touched));
    if (isHeld) return {file, ...(where === here ? byProcess(Number(pid)) : elsewhere)};
    await rm(file, {force: true});
  }
  return undefined;
}

/** Whether someone touches a lock that was last touched at `touched`. */
async function isTouched(file: string, touched: number): Promise<boolean> {
  if (Math.abs(Date.now() - touched) < recentMs) return true;
  await delay(watchMs);
  const later = await touchedAt(file);
  return later !== undefined && later !== touched;
}

/**
 * When a lock was touched, in milliseconds. Undefined for a file, folder or link of that name that is not one of our
 * locks.
 */
async function touchedAt(file: string): Promise<number | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  return stats?.isFile() === true && stats.size === 0 ? stats.mtimeMs : undefined;
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

/** A stored file, hashed while it was written. */
export interface StoredFile {
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** Bytes of an upload to collect while others are written, so that they are written together. */
const queuedBytes = 512 * 1024;

/** Streams `source` into the new file `file`, which is synced to disk when this resolves. */
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
  await pipeline(
    source,
    hashed,
    createWriteStream(file, {flags: 'wx', mode: 0o600, flush: true, highWaterMark: queuedBytes}),
  );
  return {size, sha256: hash.digest('hex')};
}

/** Writes JSON to the new file `file`, which is synced to disk when this resolves; its name may not be. */
export async function writeNewJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`, {flag: 'wx', mode: 0o600, flush: true});
}

/** Writes JSON to `file` atomically: after a crash, it has either the previous content or all of `value`. */
export async function writeJsonFile(file: string, value: unknown, temporaryFolder: string): Promise<void> {
  const temporary = path.join(temporaryFolder, `${randomUUID()}.json`);
  try {
    await writeNewJson(temporary, value);
    await moveIntoPlace(temporary, file);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
}

/** Renames a file or folder durably. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(path.dirname(to));
}

/**
 * Makes the names in a folder survive a power cut, where the system can: Windows and some file systems cannot sync a
 * folder.
 * @throws Error of the system if the disk failed or is full.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync();
  } catch (error) {
    if (['EIO', 'ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    await handle?.close();
  }
}

/**
 * Opens a regular file for reading. Does not follow a link.
 * @throws Error of the system (`ELOOP` for a link); RuntimeCliError `ERR_OPTION_INVALID` for anything else that is not
 * a file.
 */
export async function openOwnFile(file: string): Promise<FileHandle> {
  // Must not block if it is a pipe.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (stats.isFile()) return handle;
  await handle.close();
  throw notOurs(file, 'file');
}

/**
 * Parses the JSON of a regular file.
 * @throws Error if it cannot be read, is a link or is not JSON.
 */
export async function readOwnJson(file: string): Promise<unknown> {
  const handle = await openOwnFile(file);
  try {
    return JSON.parse(await handle.readFile('utf8'));
  } finally {
    await handle.close();
  }
}

/**
 * Creates a folder if it does not exist. Returns whether it did not.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` if a link or a file is in its place.
 */
export async function makeOwnFolder(folder: string): Promise<boolean> {
  if (await isOwnFolder(folder)) return false;
  await mkdir(folder, {mode: 0o700});
  return true;
}

/**
 * Removes a folder that a program has had as its own: it may have taken permissions away, as caches of packages do, and
 * what it has started may still be writing.
 */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, {recursive: true, force: true, maxRetries: 3});
  await remove().catch(async (error: unknown) => {
    if (!['EACCES', 'EPERM'].includes(systemCode(error) ?? '')) throw error;
    await makeWritable(folder);
    await remove();
  });
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, {withFileTypes: true})) {
    if (entry.isDirectory()) await makeWritable(path.join(folder, entry.name));
  }
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` unless it is a folder. A link to one is refused. */
export async function verifyOwnFolder(folder: string): Promise<void> {
  if (!(await isOwnFolder(folder))) throw notOurs(folder, 'folder');
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` if it exists but is not a regular file, such as a link. */
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
