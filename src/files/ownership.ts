/* eslint-disable no-restricted-globals -- who lives and who owns a file are facts of the system, not settings */
import {createHash, randomUUID} from 'node:crypto';
import type {Stats} from 'node:fs';
import {readFile, readlink} from 'node:fs/promises';
import {systemCode} from '../errors/system-failure.js';

/** Id of this process. */
export const ownPid = process.pid;

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

/** Whether something is this user's, with none of the permissions in `forbidden`. */
export function isOwn({uid, mode}: Pick<Stats, 'uid' | 'mode'>, forbidden: number): boolean {
  // Windows has neither owners nor modes; its temporary folder is the user's own.
  return process.getuid === undefined || (uid === process.getuid() && (mode & forbidden) === 0);
}
