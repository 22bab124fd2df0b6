import {Transform, type TransformCallback} from 'node:stream';

/** Cuts a stream of bytes into blocks of one size; only the last one may be shorter. */
export class BlockStream extends Transform {
  readonly #size: number;
  readonly #free: Buffer[] = [];
  #block: Buffer;
  #filled = 0;

  /** @param size Bytes of a block. */
  constructor(size: number) {
    // Object mode keeps blocks apart: a stream of bytes hands a slow reader several as one.
    super({readableObjectMode: true, readableHighWaterMark: 1, writableHighWaterMark: size});
    this.#size = size;
    this.#block = Buffer.allocUnsafe(size);
  }

  /** Takes back a block that nobody looks at any more, to be filled again: fresh ones are work for the garbage collector. */
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
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#filled > 0) this.push(this.#block.subarray(0, this.#filled));
    done();
  }
}
