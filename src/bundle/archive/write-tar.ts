import type {Stats} from 'node:fs';
import {Readable, type Writable} from 'node:stream';
import type {EntryData, TarArchive} from 'archiver';
import type {FileDigests} from './digest.js';
import type {ReadMemory} from './memory.js';
import {openFile, readChunks, readWholeFile, smallFileBytes} from './read-files.js';
import type {TarEntry} from './tar-entries.js';

/** Options for writing a tar. */
interface WriteTarOptions {
  /** Memory to read files into. `destination` gives it back. */
  readonly memory: ReadMemory;
  /** Modification time of all entries. */
  readonly modifiedAt: Date;
  /** Called with the number of bytes just read from files. */
  readonly onBytes: (count: number) => void;
  /** Collects the digest of each file, in the order of the entries. @default files are not hashed */
  readonly digests?: FileDigests | undefined;
}

/** Bytes that the archive library buffers, instead of its default of 1 MiB, since the blocks after it buffer enough. */
const queuedBytes = 16 * 1024;
/** Entries given to the archive library ahead of the one being written. */
const entriesAhead = 16;
/** Bytes of file content given to it ahead, give or take one file. */
const bytesAhead = 2 * 1024 * 1024;

/**
 * Writes a tar of `entries` to `destination`, and ends it. Never rejects: an error destroys `destination` with that
 * error. Ends early if something else has destroyed it.
 *
 * The archive library throws errors that cannot be caught if an entry does not have the promised size, or if it is
 * destroyed with entries waiting. So it only gets content that was already read and counted, and on failure it is left
 * to the garbage collector.
 */
export async function writeTar(
  entries: Iterable<TarEntry>,
  destination: Writable,
  {modifiedAt, ...reading}: WriteTarOptions,
): Promise<void> {
  const {TarArchive} = await import('archiver');
  const archive = new TarArchive({highWaterMark: queuedBytes});
  const fail = (error: unknown): void => {
    archive.unpipe(destination);
    destination.destroy(error instanceof Error ? error : new Error(String(error)));
  };
  // Every warning is about an entry that it skips.
  archive.on('warning', fail);
  archive.on('error', fail);
  const queue = new EntryQueue(archive, destination, modifiedAt);
  let given = 0;
  // Must come before `pipe`, whose own listener would end the destination first.
  archive.once('end', () => {
    if (queue.written !== given) fail(new Error(`the archive has ${queue.written} of ${given} entries`));
  });
  archive.pipe(destination);
  try {
    for (const entry of entries) {
      await queue.room(entriesAhead);
      if (destination.destroyed) return;
      await append(entry, queue, reading, fail);
      given += 1;
    }
    archive.finalize().catch(fail);
  } catch (error) {
    fail(error);
  }
}

/** How files are read. */
type Reading = Omit<WriteTarOptions, 'modifiedAt'>;

async function append(
  entry: TarEntry,
  queue: EntryQueue,
  reading: Reading,
  fail: (error: unknown) => void,
): Promise<void> {
  switch (entry.kind) {
    case 'link':
      queue.appendLink(entry.name, entry.target);
      return;
    case 'content':
      queue.append(entry.name, entry.content, {executable: false});
      return;
    case 'file': {
      if (entry.size > smallFileBytes) {
        await appendLargeFile(entry, queue, reading, fail);
        return;
      }
      const content = readWholeFile(entry, reading.memory);
      reading.digests?.add(content);
      queue.append(entry.name, content, entry);
      reading.onBytes(entry.size);
    }
  }
}

async function appendLargeFile(
  entry: Extract<TarEntry, {readonly kind: 'file'}>,
  queue: EntryQueue,
  {memory, onBytes, digests}: Reading,
  fail: (error: unknown) => void,
): Promise<void> {
  const file = await openFile(entry);
  const digest = digests?.next();
  const chunks = watched(readChunks(entry, file, memory), (chunk) => digest?.update(chunk), onBytes);
  const source = Readable.from(chunks, {objectMode: false});
  // The library does not listen for errors of the stream.
  source.on('error', fail);
  try {
    queue.append(entry.name, source, {...entry, stats: file.stats});
    await queue.room(1);
    digest?.end();
  } finally {
    source.destroy();
    await file.handle.close();
  }
}

/** Passes the chunks on. @param onChunk Called before a chunk is passed on: its memory is reused later. */
async function* watched(
  chunks: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
    onBytes(chunk.length);
  }
}

/** Passes entries to the archive library, the same way for each file, and counts those it has written. */
class EntryQueue {
  readonly #archive: TarArchive;
  readonly #destination: Writable;
  readonly #modifiedAt: Date;
  /** Bytes in memory of each entry that is waiting to be written. */
  readonly #waiting: number[] = [];
  #waitingBytes = 0;
  #written = 0;
  #wake: () => void = () => undefined;

  /** @param destination Where the archive goes. Once it is closed, `room()` no longer waits. */
  constructor(archive: TarArchive, destination: Writable, modifiedAt: Date) {
    this.#archive = archive;
    this.#destination = destination;
    this.#modifiedAt = modifiedAt;
    archive.on('entry', () => {
      this.#waitingBytes -= this.#waiting.shift() ?? 0;
      this.#written += 1;
      this.#wake();
    });
    destination.once('close', () => {
      this.#wake();
    });
  }

  /** Number of entries written. */
  get written(): number {
    return this.#written;
  }

  /** Waits until fewer than `limit` entries and `bytesAhead` are waiting, or the destination is destroyed. */
  async room(limit: number): Promise<void> {
    while (!this.#destination.destroyed && (this.#waiting.length >= limit || this.#waitingBytes >= bytesAhead)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Appends a file. A stream needs `stats` for the size of the entry. */
  append(name: string, content: Buffer | Readable, file: {readonly executable: boolean; readonly stats?: Stats}): void {
    const mode = file.executable ? 0o755 : 0o644;
    this.#append(content, {name, mode, date: this.#modifiedAt, ...(file.stats && {stats: file.stats})});
  }

  /** Appends a symbolic link. The library's own `symlink()` accepts no date and rewrites backslashes. */
  appendLink(name: string, target: string): void {
    const data = {name, mode: 0o755, date: this.#modifiedAt, type: 'symlink' as const, linkname: target};
    this.#append('', data);
  }

  #append(content: Buffer | Readable | string, data: EntryData): void {
    const bytes = Buffer.isBuffer(content) ? content.length : 0;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes;
    this.#archive.append(content, data);
  }
}
