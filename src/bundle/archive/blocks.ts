import {Transform, type TransformCallback} from 'node:stream';

/** Options of `BlockStream`. */
export interface BlockStreamOptions {
  /** Whether the blocks are in memory that other threads can read. @default false */
  readonly shared?: boolean | undefined;
  /** Given each chunk of the stream when its bytes are in a block. */
  readonly onCopied?: ((chunk: Buffer) => void) | undefined;
}

/** Bytes that wait to be copied: of small files, more are thousands of objects, which the garbage collector takes for long-lived. */
const queuedBytes = 16 * 1024;

/** Cuts a stream of bytes into blocks of one size; only the last one may be shorter. */
export class BlockStream extends Transform {
  readonly #size: number;
  readonly #options: BlockStreamOptions;
  readonly #free: Buffer[] = [];
  #block: Buffer;
  #filled = 0;

  /** @param size Bytes of a block. */
  constructor(size: number, options: BlockStreamOptions = {}) {
    // Object mode keeps blocks apart: a stream of bytes hands a slow reader several as one.
    super({readableObjectMode: true, readableHighWaterMark: 1, writableHighWaterMark: queuedBytes});
    this.#size = size;
    this.#options = options;
    this.#block = this.#allocate();
  }

  /**
   * Takes back a block that nobody looks at any more, to be filled again: fresh ones are work for the garbage collector.
   * @returns Whether it is a whole block.
   */
  recycle(block: Buffer): boolean {
    const whole = block.length === this.#size;
    if (whole) this.#free.push(block);
    return whole;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let taken = 0;
    while (taken < chunk.length) {
      const copied = chunk.copy(this.#block, this.#filled, taken);
      taken += copied;
      this.#filled += copied;
      if (this.#filled === this.#size) {
        this.push(this.#block);
        this.#block = this.#free.pop() ?? this.#allocate();
        this.#filled = 0;
      }
    }
    this.#options.onCopied?.(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#filled > 0) this.push(this.#block.subarray(0, this.#filled));
    done();
  }

  #allocate(): Buffer {
    return this.#options.shared ? Buffer.from(new SharedArrayBuffer(this.#size)) : Buffer.allocUnsafe(this.#size);
  }
}
