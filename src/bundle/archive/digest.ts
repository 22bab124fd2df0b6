import {createHash} from 'node:crypto';

/** Counts and hashes the bytes that pass through. */
export class Digest {
  readonly #hash = createHash('sha256');
  #size = 0;

  get size(): number {
    return this.#size;
  }

  update(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#size += chunk.length;
  }

  async read(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<this> {
    for await (const chunk of chunks) this.update(chunk);
    return this;
  }

  /** Passes the chunks on, counting and hashing them. */
  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.update(chunk);
      yield chunk;
    }
  }

  /** SHA-256 of all bytes. Can be called only once. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}
