import {setImmediate as nextTurn} from 'node:timers/promises';
import type {BundlePlan} from '../plan.js';
import {blockBytes} from './blocks.js';
import {FileDigests} from './digest.js';
import {readFile} from './read-files.js';
import {tarEntries} from './tar-entries.js';

/** Opening a file takes about as long as reading and hashing this many bytes. */
const openingBytes = 32 * 1024;

/**
 * The digests of the files of a build, without its links, in their order. Memory does not grow with their size.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` naming a file that changed since the bundle was planned; `signal.reason`
 * if aborted.
 */
export async function digestFiles(plan: BundlePlan, signal?: AbortSignal): Promise<FileDigests> {
  const memory = Buffer.allocUnsafe(blockBytes);
  const digests = new FileDigests(plan.files.length);
  let sinceTurn = 0;
  const work = async (bytes: number): Promise<void> => {
    sinceTurn += bytes;
    if (sinceTurn < blockBytes) return;
    sinceTurn = 0;
    await nextTurn();
    signal?.throwIfAborted();
  };
  signal?.throwIfAborted();
  for (const entry of tarEntries(plan)) {
    if (entry.kind !== 'file') continue;
    const digest = digests.next();
    await work(openingBytes);
    for (const piece of readFile(entry, (most) => memory.subarray(0, most))) {
      digest.update(piece);
      await work(piece.length);
    }
    digest.end();
  }
  return digests;
}
