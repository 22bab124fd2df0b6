import {setImmediate as nextTurn} from 'node:timers/promises';
import type {BundlePlan} from '../plan.js';
import {FileDigests} from './digest.js';
import {ReadMemory} from './memory.js';
import {openFile, readChunks, readWholeFile, smallFileBytes} from './read-files.js';
import {tarEntries, type TarEntry} from './tar-entries.js';

/** Small files read before anything else gets a turn. */
const filesPerTurn = 32;

/**
 * The digests of the files of a build, without its links, in their order. Memory does not grow with their size.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` naming a file that changed since the bundle was planned; `signal.reason`
 * if aborted.
 */
export async function digestFiles(plan: BundlePlan, signal?: AbortSignal): Promise<FileDigests> {
  const memory = new ReadMemory();
  const digests = new FileDigests(plan.files.length);
  let read = 0;
  for (const entry of tarEntries(plan)) {
    if (entry.kind !== 'file') continue;
    if (entry.size > smallFileBytes) await digestLarge(entry, digests, memory, signal);
    else {
      const content = readWholeFile(entry, memory);
      digests.add(content);
      memory.giveBack(content);
    }
    read += 1;
    if (read % filesPerTurn === 0) await nextTurn();
    signal?.throwIfAborted();
  }
  return digests;
}

async function digestLarge(
  entry: Extract<TarEntry, {readonly kind: 'file'}>,
  digests: FileDigests,
  memory: ReadMemory,
  signal?: AbortSignal,
): Promise<void> {
  const file = await openFile(entry);
  const digest = digests.next();
  try {
    for await (const chunk of readChunks(entry, file, memory)) {
      digest.update(chunk);
      memory.giveBack(chunk);
      signal?.throwIfAborted();
    }
    digest.end();
  } finally {
    await file.handle.close();
  }
}
