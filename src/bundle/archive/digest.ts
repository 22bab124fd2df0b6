import {createHash} from 'node:crypto';
import {Worker} from 'node:worker_threads';

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

/** Answers each chunk when it is hashed, and the end with the digest. */
const hashing = `
const {parentPort} = require('node:worker_threads');
const hash = require('node:crypto').createHash('sha256');
parentPort.on('message', (chunk) => {
  parentPort.postMessage(chunk === null ? hash.digest('hex') : hash.update(chunk) && '');
});`;

/**
 * Counts and hashes bytes on a thread of its own, which takes 15 MiB and 20 ms: for large amounts. It keeps no process alive
 * while nothing is asked of it.
 */
export class ThreadDigest {
  // Neither flags of node nor the environment, secrets among it, are any business of it.
  readonly #worker = new Worker(hashing, {eval: true, execArgv: [], env: {}});
  readonly #waiting: ((answer: string | undefined) => void)[] = [];
  #failed = false;
  #size = 0;

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (answer: string) => {
      this.#waiting.shift()?.(answer);
      if (this.#waiting.length === 0) this.#worker.unref();
    });
    this.#worker.once('error', () => {
      this.#failed = true;
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    });
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** @param chunk In shared memory, which is not written to before the promise resolves. */
  async update(chunk: Buffer): Promise<void> {
    this.#size += chunk.length;
    await this.#ask(chunk);
  }

  /** SHA-256 of all bytes, nothing when the thread has failed; can be asked for once. */
  hex(): Promise<string | undefined> {
    return this.#ask(null);
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(chunk: Buffer | null): Promise<string | undefined> {
    return new Promise((resolve) => {
      if (this.#failed) {
        resolve(undefined);
        return;
      }
      this.#waiting.push(resolve);
      this.#worker.ref();
      this.#worker.postMessage(chunk);
    });
  }
}
