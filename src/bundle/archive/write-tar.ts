import {setImmediate as nextTurn} from 'node:timers/promises';
import {BlockPool, OpenBlock} from './blocks.js';
import type {FileDigests} from './digest.js';
import {readFile, type Room} from './read-files.js';
import type {TarEntry} from './tar-entries.js';
import {
  commonHeader,
  contentSize,
  endBytes,
  fitsOneHeader,
  inGroups,
  longHeaders,
  recordBytes,
  wholeRecords,
  writeHeader,
} from './tar-header.js';

/** Entries written before anything else gets a turn, unless a block is full before. */
const entriesPerTurn = 100;

/** How files are read. */
interface Reading {
  /** Called with the number of bytes just read from files. */
  readonly onBytes?: ((count: number) => void) | undefined;
  /** Collects the digest of each file, in the order of the entries. @default files are not hashed */
  readonly digests?: FileDigests | undefined;
}

/** Options for writing a tar. */
interface WriteTarOptions extends Reading {
  /** Modification time of all entries. */
  readonly modifiedAt: Date;
  /** Where blocks come from. A reader may give them back. @default a pool that nothing is given back to */
  readonly pool?: BlockPool | undefined;
}

/**
 * The tar of `entries`, in blocks of equal size; only the last is shorter. Files are read when the next block is asked
 * for, straight into it.
 * @throws RuntimeCliError `ERR_FILE_CHANGED` naming a file that changed since the bundle was planned.
 */
export async function* writeTar(
  entries: Iterable<TarEntry>,
  {modifiedAt, pool = new BlockPool(), ...reading}: WriteTarOptions,
): AsyncGenerator<Buffer> {
  const block = new OpenBlock(pool);
  const room: Room = (most) => block.room(most);
  const common = commonHeader(modifiedAt);
  // Reading is synchronous: give signals, progress and the rest of the pipeline turns.
  let written = 0;
  for (const group of inGroups(entries)) {
    const long = group.every(fitsOneHeader) ? undefined : await longHeaders(group, modifiedAt);
    for (const entry of group) {
      for (const bytes of writeEntry(entry, {headers: long?.get(entry), common, room, ...reading})) {
        const full = block.advance(bytes);
        if (full === undefined) continue;
        yield full;
        await nextTurn();
      }
      written += 1;
      if (written % entriesPerTurn === 0) await nextTurn();
    }
  }
  for (const bytes of copy(Buffer.alloc(endBytes), room)) {
    const full = block.advance(bytes);
    if (full) yield full;
  }
  const rest = block.rest();
  if (rest) yield rest;
}

/** Where an entry is written to, and what with. */
interface Writing extends Reading {
  readonly room: Room;
  /** What its header has in common with others. */
  readonly common: Buffer;
  /** Its `longHeaders`, if it has them. */
  readonly headers: Buffer | undefined;
}

/** Writes an entry into the memory that `room` gives. Yields how many bytes of it were written, piece by piece. */
function* writeEntry(entry: TarEntry, {room, common, headers, onBytes, digests}: Writing): Generator<number, void> {
  if (headers) yield* copy(headers, room);
  else {
    // Blocks are whole records.
    writeHeader(room(recordBytes), entry, common);
    yield recordBytes;
  }
  if (entry.kind === 'content') yield* copy(entry.content, room);
  if (entry.kind === 'file') {
    const digest = digests?.next();
    for (const piece of readFile(entry, room)) {
      digest?.update(piece);
      yield piece.length;
      onBytes?.(piece.length);
    }
    digest?.end();
  }
  const size = contentSize(entry);
  const padding = wholeRecords(size) - size;
  if (padding > 0) yield room(padding).fill(0).length;
}

function* copy(bytes: Buffer, room: Room): Generator<number, void> {
  for (let copied = 0; copied < bytes.length;) {
    const count = bytes.copy(room(bytes.length - copied), 0, copied);
    copied += count;
    yield count;
  }
}
