import {createHash} from 'node:crypto';

/** Counts and hashes the bytes that pass through. */
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

  /** Passes the chunks on unchanged, counting and hashing them. */
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

/** Bytes of a SHA-256. */
const digestBytes = 32;

/** The digests of the files of a bundle, in 32 bytes each: as text, they would take more memory than the paths. */
export class FileDigests {
  readonly #bytes: Buffer;
  #count = 0;

  /** @param most How many files there can be. */
  constructor(most: number) {
    this.#bytes = Buffer.alloc(most * digestBytes);
  }

  /** Adds the digest of the next file. Returns what to give its content to. */
  next(): FileDigest {
    const whole = createHash('sha256');
    const at = this.#count++ * digestBytes;
    return {update: (chunk) => void whole.update(chunk), end: () => void whole.digest().copy(this.#bytes, at)};
  }

  /** The digest of the file at `index`, hex. */
  hex(index: number): string {
    return this.#bytes.toString('hex', index * digestBytes, (index + 1) * digestBytes);
  }
}

/** Hashes the content of a file that is read in chunks. */
interface FileDigest {
  update(chunk: Buffer): void;
  /** Called once, after the last chunk. */
  end(): void;
}
