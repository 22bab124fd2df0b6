/* eslint-disable no-restricted-globals -- who lives and who owns a file are facts of the system, not settings */
import type {Stats} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {systemCode} from '../errors/system-failure.js';

/** ID of this process. */
export const ownPid = process.pid;

/** Whether a process with this ID exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Someone else's process cannot be signalled, but is alive.
    return systemCode(error) !== 'ESRCH';
  }
}

/**
 * Whether the process with this ID that was started at `start` is still running. Process IDs are reused, in containers
 * almost always. Undefined if there is such a process, but its start is unknown.
 */
export async function isRunning(pid: number, start: string): Promise<boolean | undefined> {
  if (!isAlive(pid)) return false;
  const now = await startOf(pid);
  return start === '' || now === undefined ? undefined : now === start;
}

/** When a process was started, on systems with `/proc`. `ended` for a zombie. */
export async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => '');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? 'ended' : fields[18];
}

/** Whether something belongs to this user and has none of the permissions in `forbidden`. */
export function isOwn({uid, mode}: Pick<Stats, 'uid' | 'mode'>, forbidden: number): boolean {
  // Windows has no owners or modes, and its temporary folder is per user.
  return process.getuid === undefined || (uid === process.getuid() && (mode & forbidden) === 0);
}
