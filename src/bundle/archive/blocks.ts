import type {Writable} from 'node:stream';

/** Bytes read, hashed, compressed and written at a time: whole records of a tar. */
export const blockBytes = 1024 * 1024;

/** Blocks to fill. One that is no longer in use is filled again: fresh ones burden the garbage collector. */
export class BlockPool {
  readonly #free: Buffer[] = [];

  /** A block, with arbitrary content. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafe(blockBytes);
  }

  /** Takes back a block. Ignores a shorter one, the last of a tar. */
  giveBack(block: Buffer): void {
    if (block.length === blockBytes) this.#free.push(block);
  }
}

/** The block that is being filled. */
export class OpenBlock {
  readonly #pool: BlockPool;
  #block: Buffer | undefined;
  #filled = 0;

  constructor(pool: BlockPool) {
    this.#pool = pool;
  }

  /** The unfilled part of the block, at most `most` bytes of it. */
  room(most: number): Buffer {
    this.#block ??= this.#pool.take();
    return this.#block.subarray(this.#filled, this.#filled + most);
  }

  /** Counts bytes as filled. Returns the block once it is full. */
  advance(bytes: number): Buffer | undefined {
    this.#filled += bytes;
    return this.#filled === blockBytes ? this.rest() : undefined;
  }

  /** Returns what is filled, if anything, and starts the next block. */
  rest(): Buffer | undefined {
    const block = this.#filled > 0 ? this.#block?.subarray(0, this.#filled) : undefined;
    this.#block = undefined;
    this.#filled = 0;
    return block;
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
