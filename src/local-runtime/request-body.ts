import type {IncomingMessage} from 'node:http';
import {HttpFailure, parsed} from './answer.js';

const smallBodyBytes = 64 * 1024;

/** The body of a request, which can be read once. Stopping early leaves the connection usable for a response. */
export class RequestBody {
  readonly #request: IncomingMessage;
  readonly #stallMilliseconds: number;
  bytes = 0;

  /** @param stallSeconds How long the client may send nothing. */
  constructor(request: IncomingMessage, stallSeconds: number) {
    this.#request = request;
    this.#stallMilliseconds = stallSeconds * 1000;
  }

  /** @throws HttpFailure 413 for more than `limit` bytes, at once if they were announced; 408 if they stop arriving. */
  async *read(limit: number): AsyncGenerator<Buffer, void, undefined> {
    const failure = new HttpFailure(413, `The body is larger than the limit of ${limit} bytes.`);
    if (Number(this.#request.headers['content-length'] ?? 0) > limit) throw failure;
    const chunks: AsyncIterator<Buffer, undefined> = this.#request.iterator({destroyOnReturn: false});
    try {
      for (;;) {
        const next = await withTimeout(chunks.next(), this.#stallMilliseconds);
        if (next.done === true) return;
        this.bytes += next.value.length;
        if (this.bytes > limit) throw failure;
        yield next.value;
      }
    } finally {
      // Not awaited: after a stall, it would wait for a chunk that never arrives.
      chunks.return?.().catch(() => undefined);
    }
  }

  /** Reads and discards `count` bytes, or all if there are fewer. */
  async discard(count: number): Promise<void> {
    if (count === 0) return;
    // oxlint-disable-next-line typescript/no-unused-vars -- the bytes are of no interest
    for await (const _ of this.read(Infinity)) if (this.bytes >= count) return;
  }

  async #text(type: string): Promise<string> {
    this.refuseOtherTypes(type);
    const chunks: Buffer[] = [];
    for await (const chunk of this.read(smallBodyBytes)) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  /** @throws HttpFailure 415 for another content type, 413 when it is too large for a request that is not an upload. */
  async form(): Promise<URLSearchParams> {
    return new URLSearchParams(await this.#text('application/x-www-form-urlencoded'));
  }

  /** @throws HttpFailure as `form()`, and 400 when it is not JSON. */
  async json(): Promise<unknown> {
    return parsed(await this.#text('application/json'), 'The body');
  }

  /** Many clients send no content type, which is accepted. @throws HttpFailure 415 for another type. */
  refuseOtherTypes(type: string): void {
    const [actual = ''] = (this.#request.headers['content-type'] ?? type).split(';');
    if (actual.trim().toLowerCase() !== type) {
      throw new HttpFailure(415, `The content type must be ${type}, not "${actual}".`);
    }
  }
}

function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new HttpFailure(408, 'The upload stalled and was aborted.')), milliseconds);
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
