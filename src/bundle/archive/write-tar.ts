import {Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import type {Archiver, EntryData} from 'archiver';
import {isLarge, lookAgain, pieceBytes, readFile} from './read-files.js';
import type {BundlePlan} from '../plan.js';
import {tarEntries, type TarEntry} from './tar-entries.js';

/** Bytes per block. Above 128 KiB, each block would get new memory from the system, which takes a third of the time. */
export const blockBytes = 120 * 1024;
/** Entries that wait in archiver, those of small files with their content. */
const mostWaiting = 64;

/** Options for writing a tar. */
export interface WriteTarOptions {
  /** Modification time of all entries. */
  readonly modifiedAt: Date;
  /** Called with the number of bytes just read from files. */
  readonly onBytes?: ((count: number) => void) | undefined;
  /** Bytes of a block. @default 120 KiB */
  readonly blockBytes?: number | undefined;
}

/** The tar of `entries`, in blocks of equal size; only the last is shorter. Fails with `ERR_FILE_CHANGED`. */
export async function* writeTar(entries: Iterable<TarEntry>, options: WriteTarOptions): AsyncGenerator<Buffer> {
  const {TarArchive} = await import('archiver');
  const archive = new TarArchive();
  const pieces = new PieceMemory();
  const blocks = blocksOf(archive, pieces, options.blockBytes);
  feed(archive, entries, blocks, pieces, options).catch((error: unknown) => {
    blocks.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  yield* blocks;
}

/** The memory of the piece of a large file that is on its way through archiver: the next waits until it is free. */
class PieceMemory {
  readonly bytes = Buffer.allocUnsafe(pieceBytes);
  #left = 0;
  #free = (): void => undefined;

  /** Passes on pieces in this memory. */
  async *inTurn(pieces: Iterable<Buffer>): AsyncGenerator<Buffer, void> {
    for (const piece of pieces) {
      this.#left = piece.length;
      yield piece;
      if (this.#left > 0) await new Promise<void>((resolve) => (this.#free = resolve));
    }
  }

  /** To be told of all that leaves archiver, which may pass on a piece in parts. */
  copied(chunk: Buffer): void {
    if (chunk.buffer !== this.bytes.buffer) return;
    this.#left -= chunk.length;
    if (this.#left === 0) this.#free();
  }

  /** Lets those go that wait. */
  close(): void {
    this.#free();
  }
}

/**
 * Has archiver write `entries`, until nobody reads `blocks`. It is never destroyed: the entry that it is writing would
 * throw an error that nobody can catch. Once nothing reads from it, it holds nothing open.
 */
async function feed(
  archive: Archiver,
  entries: Iterable<TarEntry>,
  blocks: Readable,
  pieces: PieceMemory,
  {modifiedAt, onBytes = () => undefined}: WriteTarOptions,
): Promise<void> {
  const fail = (error: Error) => blocks.destroy(error);
  archive.on('error', fail);
  /** The large file that is being read: one at a time, as it is open. */
  let large: Readable | undefined;
  blocks.once('close', () => {
    pieces.close();
    large?.destroy();
  });
  let waiting = 0;
  let most = mostWaiting;
  let proceed = (): void => undefined;
  archive.on('entry', () => {
    waiting -= 1;
    if (waiting < most) proceed();
  });
  for (const entry of entries) {
    const isStreamed = entry.kind === 'file' && isLarge(entry);
    most = isStreamed ? 1 : mostWaiting;
    if (waiting >= most) await new Promise<void>((resolve) => (proceed = resolve));
    if (blocks.destroyed) return;
    waiting += 1;
    const data = {name: entry.name, mode: modeOf(entry), date: modifiedAt};
    switch (entry.kind) {
      case 'link':
        // Its types lack the target.
        archive.append('', {...data, type: 'symlink', linkname: entry.target} as EntryData);
        break;
      case 'folder':
        archive.append('', {...data, type: 'directory'});
        break;
      case 'content':
        archive.append(entry.content, data);
        break;
      case 'file':
        if (isStreamed) {
          const content = pieces.inTurn(counted(readFile(entry, pieces.bytes), onBytes));
          large = Readable.from(content).once('error', fail);
          archive.append(large, {...data, stats: lookAgain(entry)});
        } else {
          archive.append(Buffer.concat([...readFile(entry)]), data);
          onBytes(entry.size);
        }
    }
  }
  await archive.finalize();
}

/** Joins and cuts what archiver writes into blocks. */
function blocksOf(archive: Archiver, pieces: PieceMemory, size = blockBytes): Readable {
  const blocks = new Readable({objectMode: true, highWaterMark: 1, read: () => void archive.resume()});
  let block = Buffer.allocUnsafe(size);
  let filled = 0;
  const push = (): void => {
    if (!blocks.push(block.subarray(0, filled))) archive.pause();
    block = Buffer.allocUnsafe(size);
    filled = 0;
  };
  archive.on('data', (chunk: Buffer) => {
    for (let copied = 0; copied < chunk.length;) {
      const count = chunk.copy(block, filled, copied);
      copied += count;
      filled += count;
      if (filled === size) push();
    }
    pieces.copied(chunk);
  });
  archive.on('end', () => {
    if (filled > 0) push();
    blocks.push(null);
  });
  return blocks;
}

function* counted(pieces: Iterable<Buffer>, onBytes: (count: number) => void): Generator<Buffer, void> {
  for (const piece of pieces) {
    onBytes(piece.length);
    yield piece;
  }
}

/** Files get one of two modes, whatever their own: those that their owner may run are 0755. */
function modeOf(entry: TarEntry): number {
  if (entry.kind === 'file') return entry.executable ? 0o755 : 0o644;
  return entry.kind === 'content' ? 0o644 : 0o755;
}

/** A tar consists of records of this many bytes. */
const recordBytes = 512;
/** A name, or the target of a link, that any header has room for. */
const shortName = /^[\x20-\x7e]{1,100}$/;

/** The exact size of a v1 bundle's archive, whose entries are the files of the build, its links and empty folders. */
export async function archiveSize(plan: BundlePlan): Promise<number> {
  let size = 0;
  const long: TarEntry[] = [];
  for (const entry of tarEntries(plan)) {
    if (entry.kind === 'file') size += Math.ceil(entry.size / recordBytes) * recordBytes;
    if (isShort(entry)) size += recordBytes;
    else long.push(entry.kind === 'file' ? {kind: 'content', name: entry.name, content: Buffer.alloc(0)} : entry);
  }
  // How long other headers are, and the end of a tar, is for archiver to say.
  const {length} = await buffer(writeTar(long, plan));
  return size + length;
}

function isShort(entry: TarEntry): boolean {
  return shortName.test(entry.name) && (entry.kind !== 'link' || shortName.test(entry.target));
}
