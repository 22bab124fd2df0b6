import {rename} from 'node:fs/promises';
import {setTimeout} from 'node:timers/promises';
import {systemCode} from '../errors/system-failure.js';

/**
 * What Windows, and the drives and shares of other systems that it serves, say while another program has the file open.
 */
const heldCodes: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);
/** Milliseconds between the attempts to move a file: a virus scanner or a reader lets go of it within two seconds. */
const pauses = [10, 40, 100, 250, 400, 600, 600];

/**
 * Moves a file or folder into place, atomically.
 * @throws the system's Error if it cannot be moved, after two seconds if another program may have it open.
 */
export async function moveFile(from: string, to: string): Promise<void> {
  for (const pause of pauses) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (!heldCodes.has(systemCode(error))) throw error;
      await setTimeout(pause);
    }
  }
  await rename(from, to);
}
