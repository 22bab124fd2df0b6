import {Transform, type Writable, type TransformCallback} from 'node:stream';
import type {StreamedBundle} from '../types.js';

/**
 * Key of a bundle's hidden reader, which only the host's own request bodies use. Copies of the bundle do not have it.
 */
const lender = Symbol('lender');

/** A source that can be read into reused memory: a chunk is valid only until the next one is requested. */
type Lender = Pick<StreamedBundle, 'size'> & {readonly [lender]?: StreamedBundle['read'] | undefined};

/** Turns `bundle` into a lender. */
export function lend<Bundle extends object>(bundle: Bundle, read: StreamedBundle['read']): Bundle {
  return Object.defineProperty(bundle, lender, {value: read});
}

/**
 * Reads a bundle into reused memory: a chunk is valid only until the next one is requested. Fresh memory would burden
 * the garbage collector. Undefined for anything but a bundle, or for a copy of one.
 */
export function readLent(source: Lender): AsyncIterable<Uint8Array> | undefined {
  return source[lender]?.();
}

/** Maximum bytes per read. */
export const slabBytes = 1024 * 1024;

/**
 * Memory to read files into. It is reused once its bytes are copied, since fresh buffers burden the garbage collector.
 */
export class ReadMemory {
  readonly #free: Buffer[] = [];
  /** Bytes of each slab that are still in use. */
  readonly #inUse = new Map<ArrayBufferLike, number>();
  #slab: Buffer = Buffer.alloc(0);
  #taken = 0;

  /** @param size Bytes, at most `slabBytes`. The caller gives all of them back later, in pieces of any size. */
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
    // An empty piece may arrive after the rest of its slab, and must not free it a second time.
    if (inUse === undefined || length === 0) return;
    this.#inUse.set(buffer, inUse - length);
    if (inUse > length) return;
    if (buffer === this.#slab.buffer) this.#taken = 0;
    else this.#free.push(Buffer.from(buffer));
  }
}

/**
 * Creates a function that takes memory whose last bytes were just given to `destination`, and passes it to `reuse` once
 * they are written.
 * @param given Bytes given to `destination` so far.
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
 * Bytes waiting to be copied. With small files, more would mean thousands of objects, which the garbage collector would
 * consider long-lived.
 */
const queuedBytes = 16 * 1024;

/** Cuts a stream of bytes into blocks of equal size. Only the last may be shorter. */
export class BlockStream extends Transform {
  readonly #size: number;
  readonly #onCopied: (chunk: Buffer) => void;
  readonly #free: Buffer[] = [];
  #block: Buffer;
  #filled = 0;

  /**
   * @param size Bytes per block.
   * @param onCopied Called with each chunk of the stream once its bytes are in a block.
   */
  constructor(size: number, onCopied: (chunk: Buffer) => void = () => undefined) {
    // Object mode keeps blocks apart. A byte stream would merge them for a slow reader.
    super({readableObjectMode: true, readableHighWaterMark: 1, writableHighWaterMark: queuedBytes});
    this.#size = size;
    this.#onCopied = onCopied;
    this.#block = Buffer.allocUnsafe(size);
  }

  /** Takes back a block that is no longer in use, to fill it again. Fresh blocks burden the garbage collector. */
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
