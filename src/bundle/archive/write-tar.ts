import {Readable, Transform, type TransformCallback} from 'node:stream';
import type {EntryData} from 'archiver';
import {isLarge, lookAgain, readFile} from './read-files.js';
import type {TarEntry} from './tar-entries.js';

/** Bytes of a block: what is hashed, compressed and sent at a time. */
export const blockBytes = 1024 * 1024;
/** Entries that wait in archiver, those of small files with their content. */
const mostWaiting = 64;

interface WriteTarOptions {
  /** Modification time of all entries. */
  readonly modifiedAt: Date;
  /** Called with the number of bytes just read from files. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/**
 * The tar of `entries`, in blocks of equal size; only the last is shorter. Fails with `ERR_FILE_CHANGED` naming a file
 * that changed since the bundle was planned. To stop early, destroy it.
 */
export function writeTar(entries: Iterable<TarEntry>, options: WriteTarOptions): Readable {
  const blocks = new Blocks();
  const fail = (error: unknown) => blocks.destroy(error instanceof Error ? error : new Error(String(error)));
  feed(blocks, fail, entries, options).catch(fail);
  return blocks;
}

/**
 * Has archiver write `entries` into `blocks`. archiver is never destroyed: the entry that it is writing would throw an
 * error that nobody can catch. Once nothing reads from it, it stops, and holds nothing open.
 */
async function feed(
  blocks: Blocks,
  fail: (error: unknown) => void,
  entries: Iterable<TarEntry>,
  {modifiedAt, onBytes}: WriteTarOptions,
): Promise<void> {
  const {TarArchive} = await import('archiver');
  const archive = new TarArchive();
  archive.on('error', fail);
  archive.on('warning', fail);
  archive.pipe(blocks);
  /** The large file that is being read: one at a time, as it is open. */
  let large: Readable | undefined;
  blocks.once('close', () => large?.destroy());
  let waiting = 0;
  let onEntry = (): void => undefined;
  archive.on('entry', () => {
    waiting -= 1;
    onEntry();
  });
  const fewerThan = (most: number) =>
    new Promise<void>((resolve) => {
      onEntry = () => {
        if (waiting < most) resolve();
      };
      onEntry();
    });
  for (const entry of entries) {
    const isStreamed = entry.kind === 'file' && isLarge(entry);
    await fewerThan(isStreamed ? 1 : mostWaiting);
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
      case 'file': {
        const pieces = counted(readFile(entry), onBytes);
        if (isStreamed) {
          large = Readable.from(pieces, {objectMode: false}).once('error', fail);
          archive.append(large, {...data, stats: lookAgain(entry)});
        } else {
          archive.append(joined([...pieces]), data);
        }
      }
    }
  }
  await archive.finalize();
}

/** Nearly always, there is one. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0)] = pieces;
  return pieces.length > 1 ? Buffer.concat(pieces) : first;
}

function* counted(pieces: Iterable<Buffer>, onBytes?: (count: number) => void): Generator<Buffer, void> {
  for (const piece of pieces) {
    onBytes?.(piece.length);
    yield piece;
  }
}

/** Files get one of two modes, whatever their own: those that their owner may run are 0755. */
function modeOf(entry: TarEntry): number {
  if (entry.kind === 'file') return entry.executable ? 0o755 : 0o644;
  return entry.kind === 'content' ? 0o644 : 0o755;
}

/** Joins and cuts what it is given into blocks. */
class Blocks extends Transform {
  #block = Buffer.allocUnsafe(blockBytes);
  #filled = 0;

  constructor() {
    super({writableHighWaterMark: blockBytes, readableObjectMode: true, readableHighWaterMark: 1});
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let copied = 0; copied < chunk.length;) {
      const count = chunk.copy(this.#block, this.#filled, copied);
      copied += count;
      this.#filled += count;
      if (this.#filled === blockBytes) this.#pushBlock();
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#filled > 0) this.#pushBlock();
    done();
  }

  #pushBlock(): void {
    this.push(this.#block.subarray(0, this.#filled));
    this.#block = Buffer.allocUnsafe(blockBytes);
    this.#filled = 0;
  }
}
