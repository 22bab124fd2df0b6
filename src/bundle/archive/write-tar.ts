import {Readable, type Writable} from 'node:stream';
import {EntryQueue} from './entry-queue.js';
import {openFile, readChunks, readWholeFile, type PlannedFile} from './read-exactly.js';
import type {ReadMemory} from './read-memory.js';
import type {TarEntry} from './tar-entries.js';

/** How a tar is written. */
export interface WriteTarOptions {
  /** What files are read into. `destination` gives it back. */
  readonly memory: ReadMemory;
  /** Modification time of every entry. */
  readonly modifiedAt: Date;
  /** Told how many more bytes of files were read. */
  readonly onBytes: (count: number) => void;
}

/** Files up to this size are read whole. */
const smallFileBytes = 256 * 1024;
/** Bytes that the archive library keeps ready, in place of its MiB: the blocks behind it do that. */
const queuedBytes = 16 * 1024;
/** Entries that the archive library is given ahead of the one that it writes. */
const entriesAhead = 16;

/**
 * Writes a tar of `entries` into `destination`, which ends with it. Never rejects: what fails destroys `destination` with
 * the error. Ends early when something else has destroyed it.
 *
 * The archive library throws out of reach when an entry has not the size that it was promised, and when it is destroyed
 * with entries waiting. So it is handed what was read and counted before, and left to the garbage collector on failure.
 */
export async function writeTar(
  entries: Iterable<TarEntry>,
  destination: Writable,
  {memory, modifiedAt, onBytes}: WriteTarOptions,
): Promise<void> {
  const {TarArchive} = await import('archiver');
  const archive = new TarArchive({highWaterMark: queuedBytes});
  const fail = (error: unknown): void => {
    archive.unpipe(destination);
    destination.destroy(error instanceof Error ? error : new Error(String(error)));
  };
  // Each of its warnings is about an entry that it leaves out.
  archive.on('warning', fail);
  archive.on('error', fail);
  const queue = new EntryQueue(archive, destination, modifiedAt);
  let given = 0;
  // Before `pipe`, whose own listener would end the destination first.
  archive.once('end', () => {
    if (queue.written !== given) fail(new Error(`the archive has ${queue.written} of ${given} entries`));
  });
  archive.pipe(destination);
  try {
    for (const entry of entries) {
      await queue.room(entriesAhead);
      if (destination.destroyed) return;
      await append(entry, queue, memory, onBytes, fail);
      given += 1;
    }
    archive.finalize().catch(fail);
  } catch (error) {
    fail(error);
  }
}

async function append(
  entry: TarEntry,
  queue: EntryQueue,
  memory: ReadMemory,
  onBytes: (count: number) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  switch (entry.kind) {
    case 'link':
      queue.appendLink(entry.name, entry.target);
      return;
    case 'content':
      queue.append(entry.name, entry.content, {executable: false});
      return;
    case 'file':
      if (entry.size > smallFileBytes) {
        await appendLargeFile(entry, queue, memory, onBytes, fail);
        return;
      }
      queue.append(entry.name, readWholeFile(entry, memory), entry);
      onBytes(entry.size);
  }
}

async function appendLargeFile(
  entry: PlannedFile & {readonly name: string; readonly executable: boolean},
  queue: EntryQueue,
  memory: ReadMemory,
  onBytes: (count: number) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  const file = await openFile(entry);
  const source = Readable.from(countBytes(readChunks(entry, file, memory), onBytes), {objectMode: false});
  // The library does not listen to it.
  source.on('error', fail);
  try {
    queue.append(entry.name, source, {...entry, stats: file.stats});
    await queue.room(1);
  } finally {
    source.destroy();
    await file.handle.close();
  }
}

async function* countBytes(chunks: AsyncIterable<Buffer>, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    onBytes(chunk.length);
  }
}
