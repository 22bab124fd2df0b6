import {randomUUID} from 'node:crypto';
import {open, readFile, rename, rm} from 'node:fs/promises';
import {setTimeout as delay} from 'node:timers/promises';
import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {systemCode} from '../errors/system-failure.js';
import {isAlive, processSpace} from './ownership.js';

/** After how long the same lock is taken for one that was left behind, milliseconds: it is held for a few. */
const abandonedMs = 10_000;
const longestWaitMs = 60_000;

const ownerSchema = v.object({token: v.string(), pid: v.number(), where: v.string()});

type Owner = v.InferOutput<typeof ownerSchema>;

/** A lock that is held. */
export interface FileLock {
  /** @throws RuntimeCliError `ERR_OUTPUT` when another process has taken it over meanwhile. */
  assertHeld(): Promise<void>;
}

/**
 * Does something while no other process does it: the lock is the file `path`, whose folder is there. One that a killed
 * process has left is taken over: at once when its process can be looked for from here, else when nothing happens to
 * it.
 * @throws RuntimeCliError `ERR_OUTPUT` when it is not to be had.
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

async function acquire(path: string, owner: Owner): Promise<void> {
  const start = performance.now();
  let seen: {readonly token: string | undefined; readonly since: number} | undefined;
  while (!(await create(path, JSON.stringify(owner)))) {
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
    // Also after that: what cannot be removed is there again.
    await delay(5 + Math.random() * 20);
  }
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

/** Nothing when there is no lock, or one that is just being written. */
async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const result = v.safeParse(ownerSchema, JSON.parse(await readFile(path, 'utf8')));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a lock that was left behind, and no other: whoever is quicker may have made one of his own already. */
async function remove(path: string, token: string | undefined): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const taken = await readOwner(aside);
  if (taken?.token === token) await rm(aside, {force: true});
  // Its owner looks before it writes, should a third one have come between.
  else await rename(aside, path);
}
