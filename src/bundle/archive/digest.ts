import {createHash} from 'node:crypto';

/** Counts and hashes bytes that pass. */
export class Digest {
  readonly #hash = createHash('sha256');
  #size = 0;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  update(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#size += chunk.length;
  }

  /** The chunks as they are, looked at in passing. */
  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.update(chunk);
      yield chunk;
    }
  }

  /** SHA-256 of all bytes; can be asked for once. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}
