import {Transform, type Writable, type TransformCallback} from 'node:stream';
import type {StreamedBundle} from '../types.js';

/** Under it, unseen and not part of a copy, a bundle has the reader that only the host's own bodies use. */
const lender = Symbol('lender');

/** What can be read into memory that is used again: a chunk is good until the next is asked for. */
type Lender = Pick<StreamedBundle, 'size'> & {readonly [lender]?: StreamedBundle['read'] | undefined};

/** Makes `bundle` a lender. */
export function lend<Bundle extends object>(bundle: Bundle, read: StreamedBundle['read']): Bundle {
  return Object.defineProperty(bundle, lender, {value: read});
}

/**
 * Reads a bundle into the same memory again and again: a chunk is good until the next is asked for. Fresh memory would
 * be work for the garbage collector. Nothing for anything but a bundle, or a copy of one.
 */
export function readLent(source: Lender): AsyncIterable<Uint8Array> | undefined {
  return source[lender]?.();
}

/** Bytes that are read at once, at most. */
export const slabBytes = 1024 * 1024;

/**
 * Memory that files are read into. It is used again when its bytes were copied: fresh buffers are work for the garbage
 * collector.
 */
export class ReadMemory {
  readonly #free: Buffer[] = [];
  /** Of each slab, the bytes that somebody may still look at. */
  readonly #inUse = new Map<ArrayBufferLike, number>();
  #slab: Buffer = Buffer.alloc(0);
  #taken = 0;

  /** @param size Bytes, at most `slabBytes`. All of them are given back later, in any pieces. */
  take(size: number): Buffer {
    if (this.#taken + size > this.#slab.length) {
      this.#slab = this.#free.pop() ?? Buffer.allocUnsafeSlow(slabBytes);
      this.#taken = 0;
    }
    const {buffer} = this.#slab;
    this.#inUse.set(buffer, (this.#inUse.get(buffer) ?? 0) + size);
    this.#taken += size;
    return this.#slab.subarray(this.#taken - size, this.#taken);
  }

  /** Releases a piece for reuse. Ignores memory from elsewhere. */
  giveBack({buffer, length}: Buffer): void {
    const inUse = this.#inUse.get(buffer);
    // Nothing of a slab may come when all of it has, and must not make it free a second time.
    if (inUse === undefined || length === 0) return;
    this.#inUse.set(buffer, inUse - length);
    if (inUse > length) return;
    if (buffer === this.#slab.buffer) this.#taken = 0;
    else this.#free.push(Buffer.from(buffer));
  }
}

/**
 * Makes a function that takes memory whose last bytes were given to `destination`, and hands it on when they are
 * written.
 * @param given Bytes that `destination` was given so far.
 */
export function freeWhenWritten(
  destination: Writable,
  given: () => number,
  reuse: (memory: Buffer) => void,
): (memory: Buffer) => void {
  const waiting: {readonly memory: Buffer; readonly end: number}[] = [];
  return (memory) => {
    waiting.push({memory, end: given()});
    const written = given() - destination.writableLength;
    for (let next = waiting[0]; next && next.end <= written; next = waiting[0]) {
      waiting.shift();
      reuse(next.memory);
    }
  };
}

/**
 * Bytes that wait to be copied: of small files, more are thousands of objects, which the garbage collector takes for
 * long-lived.
 */
const queuedBytes = 16 * 1024;

/** Cuts a stream of bytes into blocks of one size; only the last one may be shorter. */
export class BlockStream extends Transform {
  readonly #size: number;
  readonly #onCopied: (chunk: Buffer) => void;
  readonly #free: Buffer[] = [];
  #block: Buffer;
  #filled = 0;

  /**
   * @param size Bytes of a block.
   * @param onCopied Given each chunk of the stream when its bytes are in a block.
   */
  constructor(size: number, onCopied: (chunk: Buffer) => void = () => undefined) {
    // Object mode keeps blocks apart: a stream of bytes hands a slow reader several as one.
    super({readableObjectMode: true, readableHighWaterMark: 1, writableHighWaterMark: queuedBytes});
    this.#size = size;
    this.#onCopied = onCopied;
    this.#block = Buffer.allocUnsafe(size);
  }

  /**
   * Takes back a block that nobody looks at any more, to be filled again: fresh ones are work for the garbage
   * collector.
   */
  recycle(block: Buffer): void {
    if (block.length === this.#size) this.#free.push(block);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let taken = 0;
    while (taken < chunk.length) {
      const copied = chunk.copy(this.#block, this.#filled, taken);
      taken += copied;
      this.#filled += copied;
      if (this.#filled === this.#size) {
        this.push(this.#block);
        this.#block = this.#free.pop() ?? Buffer.allocUnsafe(this.#size);
        this.#filled = 0;
      }
    }
    this.#onCopied(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#filled > 0) this.push(this.#block.subarray(0, this.#filled));
    done();
  }
}
