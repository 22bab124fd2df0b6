import {mkdtemp, readdir, rmdir, stat, utimes} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {createError, isRuntimeCliError} from '../errors/index.js';
import {cannotWrite} from '../errors/system-failure.js';
import {hasDied, ownPid, ownPidSpace} from './ownership.js';

/** How often a lock shows that its owner lives, in milliseconds, to those who cannot ask for its process. */
const renewalMs = 20_000;

/**
 * Does something with a file that no other process of mycli does at the same time. A process that dies leaves no lock
 * that counts.
 *
 * A lock is a folder beside the file, named after its process. Whoever has made one looks for others, and withdraws if
 * there are any: of two, at least one sees the other.
 * @param options `patienceMs`: how long to wait for another process; 0: not at all.
 * @throws RuntimeCliError `ERR_OUTPUT` when the folder cannot be written, or another process keeps the lock.
 */
export async function withLock<Result>(
  path: string,
  work: () => Promise<Result>,
  options?: {readonly patienceMs: number},
): Promise<Result> {
  const release = await takeLock(path, options);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** As `withLock`, until a call of what it resolves to. */
export async function takeLock(path: string, {patienceMs} = {patienceMs: 20_000}): Promise<() => Promise<void>> {
  const own = await makeLock(path, performance.now() + patienceMs);
  const renewal = setInterval(() => void utimes(own, new Date(), new Date()).catch(() => undefined), renewalMs);
  renewal.unref();
  return () => {
    clearInterval(renewal);
    return remove(own);
  };
}

async function makeLock(path: string, until: number): Promise<string> {
  for (;;) {
    const own = await mkdtemp(`${prefixOf(path)}${ownPid}-${ownPidSpace()}-`).catch(cannotWrite(path));
    const other = await findOther(path, own);
    if (other === undefined) return own;
    await remove(own);
    if (performance.now() > until) throw isBusy(path, other);
    // Those who withdraw at the same time come back at different times.
    await delay(5 + Math.random() * 45);
  }
}

/** The lock of another process that may live. Those of others are removed. */
async function findOther(path: string, own: string): Promise<string | undefined> {
  const folder = dirname(path);
  const start = basename(prefixOf(path));
  const names = (await readdir(folder)).filter((name) => name.startsWith(start) && name !== basename(own));
  for (const name of names) {
    const [, pid, space] = /(\d{1,10})-([0-9a-f]{8})-\w{6}$/.exec(name) ?? [];
    if (pid === undefined) continue;
    if (!hasDied(Number(pid), space) && (space === ownPidSpace() || (await isFresh(join(folder, name), own))))
      return join(folder, name);
    await remove(join(folder, name));
  }
  return undefined;
}

/** Whether a lock of a container, whose processes we can't see, was renewed lately, by the clock of the file system. */
async function isFresh(other: string, own: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([other, own].map((path) => stat(path).catch(() => undefined)));
  return theirs !== undefined && ours !== undefined && ours.mtimeMs - theirs.mtimeMs < 3 * renewalMs;
}

function prefixOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.lock-`);
}

/** What cannot be removed is left for the next process. */
async function remove(directory: string): Promise<void> {
  await rmdir(directory).catch(() => undefined);
}

/** The lock of another process, if an error is about it. */
export function otherLock(error: unknown): string | undefined {
  const lock = isRuntimeCliError(error) ? error.details?.['lock'] : undefined;
  return typeof lock === 'string' ? lock : undefined;
}

function isBusy(path: string, other: string): Error {
  return createError('ERR_OUTPUT', `${path} cannot be written: another mycli is changing it.`, {
    suggestions: [`Wait until it has ended. If no mycli is running, remove ${other}.`],
    details: {lock: other},
  });
}
