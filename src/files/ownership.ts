/* oxlint-disable no-restricted-globals -- who lives and who owns a file are facts of the system, not settings */
import {createHash, randomUUID} from 'node:crypto';
import {lstatSync, readFileSync, readlinkSync, statSync, type Stats} from 'node:fs';
import {hostname} from 'node:os';
import {createError} from '../errors/index.js';
import {systemCode} from '../errors/system-failure.js';

export const ownPid = process.pid;

/** Names, in 8 hex digits, where process IDs mean what they mean here: this start of the machine and PID namespace. */
export function ownPidSpace(): string {
  return createHash('sha256').update(describePidSpace()).digest('hex').slice(0, 8);
}

function describePidSpace(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8') + readlinkSync('/proc/self/ns/pid');
  } catch {
    return randomUUID();
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Someone else's process cannot be signalled, but is alive.
    return systemCode(error) !== 'ESRCH';
  }
}

/** Whether a process of a PID namespace has surely died. */
export function hasDied(pid: number, space: string | undefined): boolean {
  return space === ownPidSpace() && !isAlive(pid);
}

/**
 * Whether a file or folder, and a link to it, belongs to this user or to root. Look before you read it: a file of
 * somebody else may have no end. What is missing is nobody else's.
 */
export function isTrusted(path: string): boolean {
  return foreignOwner(path) === undefined;
}

/** The ID of the user whom such a file or folder belongs to, if it is somebody else. */
export function foreignOwner(path: string): number | undefined {
  const found = [lstatSync(path, {throwIfNoEntry: false}), statSync(path, {throwIfNoEntry: false})];
  const isForeign = (uid: number) => process.getuid !== undefined && uid !== process.getuid() && uid !== 0;
  return found.map((stats) => stats?.uid ?? 0).find(isForeign);
}

/** The error about a configuration that would be run or obeyed although it belongs to another user. */
export function foreignFile(path: string, owner: number, suggestions: readonly string[]): Error {
  const message = `${path} belongs to another user (${String(owner)}), so it is not used. Nothing was changed.`;
  return createError('ERR_CONFIG_FOREIGN', message, {suggestions, details: {file: path, owner}});
}

/** Whether something belongs to this user and has none of the permissions in `forbidden`. */
export function isOwn({uid, mode}: Pick<Stats, 'uid' | 'mode'>, forbidden: number): boolean {
  // Windows has no owners or modes, and its temporary folder is per user.
  return process.getuid === undefined || (uid === process.getuid() && (mode & forbidden) === 0);
}
