import {randomUUID} from 'node:crypto';
import {lstat, open, readFile, rename, rm, utimes} from 'node:fs/promises';
import {setTimeout as delay} from 'node:timers/promises';
import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {systemCode} from '../errors/system-failure.js';
import {isAlive, processSpace} from './ownership.js';

/** Milliseconds after which an unchanged lock counts as left behind. Locks are normally held for a few. */
const abandonedMs = 10_000;
const longestWaitMs = 60_000;

const ownerSchema = v.object({token: v.string(), pid: v.number(), where: v.string()});

type Owner = v.InferOutput<typeof ownerSchema>;

/** A lock that is held. */
export interface FileLock {
  /** @throws RuntimeCliError `ERR_OUTPUT` if another process has taken it over. */
  assertHeld(): Promise<void>;
}

/**
 * Runs something while holding the lock file `path`, whose folder must exist. A lock that a killed process left behind
 * is taken over: at once if we can see that the process is gone, else once it stays unchanged for too long.
 * @throws RuntimeCliError `ERR_OUTPUT` when the lock cannot be acquired.
 */
export async function withFileLock<Result>(
  path: string,
  pid: number,
  work: (lock: FileLock) => Promise<Result>,
): Promise<Result> {
  const token = randomUUID();
  const where = await processSpace();
  await acquire(path, {token, pid, where});
  const isHeld = async () => (await readOwner(path))?.token === token;
  try {
    return await work({
      async assertHeld() {
        if (!(await isHeld())) throw createError('ERR_OUTPUT', `Another process took over ${path}.`);
      },
    });
  } finally {
    if (await isHeld()) await rm(path, {force: true});
  }
}

/** How often a lock that is kept for long is touched, in milliseconds. */
const touchEveryMs = 2000;
/** Milliseconds after which such a lock counts as left behind if it was not touched. */
const untouchedMs = 30_000;

/**
 * Creates the lock file `path`, to be held for as long as the process needs it. Does not wait. A lock that a killed
 * process left behind is taken over, as soon as that is certain.
 * @throws RuntimeCliError `ERR_OUTPUT` when something else is there.
 * @returns A function that releases it. Undefined if another process, or another part of this one, holds it.
 */
export async function tryFileLock(path: string, pid: number): Promise<(() => Promise<void>) | undefined> {
  const owner = {token: randomUUID(), pid, where: await processSpace()};
  const content = JSON.stringify(owner);
  if (!(await create(path, content))) {
    await refuseOtherKinds(path);
    const other = await readOwner(path);
    if (await isTouched(path, other, owner.where)) return undefined;
    await remove(path, other?.token);
    if (!(await create(path, content))) return undefined;
  }
  const touching = setInterval(() => {
    const now = new Date();
    // Without its lock, the process goes on.
    utimes(path, now, now).catch(() => undefined);
  }, touchEveryMs).unref();
  return async () => {
    clearInterval(touching);
    if ((await readOwner(path))?.token === owner.token) await rm(path, {force: true});
  };
}

async function isTouched(path: string, other: Owner | undefined, here: string): Promise<boolean> {
  if (other?.where === here && !isAlive(other.pid)) return false;
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs < untouchedMs;
}

async function acquire(path: string, owner: Owner): Promise<void> {
  const start = performance.now();
  let seen: {readonly token: string | undefined; readonly since: number} | undefined;
  while (!(await create(path, JSON.stringify(owner)))) {
    await refuseOtherKinds(path);
    const now = performance.now();
    if (now - start > longestWaitMs) {
      throw createError('ERR_OUTPUT', `${path} is locked by another process.`, {
        suggestions: [`If no other mycli is running, remove ${path}.`],
      });
    }
    const other = await readOwner(path);
    if (seen === undefined || seen.token !== other?.token) seen = {token: other?.token, since: now};
    const isDead = other?.where === owner.where && !isAlive(other.pid);
    if (isDead || now - seen.since > abandonedMs) await remove(path, seen.token);
    // Wait after removing one, too: a lock that cannot be removed is still there.
    await delay(5 + Math.random() * 20);
  }
}

/** Reading a named pipe would block, and a folder can be neither read nor removed. */
async function refuseOtherKinds(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.isFile()) return;
  throw createError('ERR_OUTPUT', `${path} cannot be used as a lock: it is not a regular file.`, {
    suggestions: [`Remove ${path}.`],
  });
}

async function create(path: string, content: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx', 0o600);
    await handle.writeFile(content).finally(() => handle.close());
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined when there is no lock, or when it is still being written. */
async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const result = v.safeParse(ownerSchema, JSON.parse(await readFile(path, 'utf8')));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

/** Removes an abandoned lock, but no other: a faster process may already have created its own. */
async function remove(path: string, token: string | undefined): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const taken = await readOwner(aside);
  if (taken?.token === token) await rm(aside, {force: true});
  // Owners check before they write, in case a third process got in between.
  else await rename(aside, path);
}
