import {STATUS_CODES} from 'node:http';
import type {RuntimeCliError} from '../../errors/index.js';

/** How far one attempt of a call has come: it decides what a failure means. */
export class Attempt {
  /** The request was handed to Node. */
  started = false;
  /** The connection stands, TLS included. */
  connected = false;
  /** The last byte of the request was handed to the connection. */
  sent = false;
  /** Chunks of the body that the connection has taken. */
  chunks = 0;
  /** The proxy that is being connected to, in place of the server. */
  proxy: string | undefined;
  #body: AsyncGenerator | undefined;

  /** Makes `body` what this attempt sends: the same, and its end is noted. */
  send(body: AsyncGenerator): AsyncGenerator {
    this.#body = this.#follow(body);
    return this.#body;
  }

  /** Closes the file behind a body that nobody reads to its end. */
  end(): void {
    this.#body?.return(undefined).catch(() => undefined);
  }

  async *#follow(body: AsyncGenerator): AsyncGenerator {
    for await (const chunk of body) {
      yield chunk;
      this.chunks += 1;
    }
    // The connection has taken the last chunk by the time that another one is asked for.
    this.sent = this.connected;
  }
}

/** One call of the client, over all its attempts. */
export class Call {
  attempt = new Attempt();
  /** Times a safe request was repeated after a failure. */
  repeats = 0;
  /** Why the client itself ended the call. */
  failure: RuntimeCliError | undefined;

  /** Ends the attempt before, begins another. */
  nextAttempt(): Attempt {
    this.attempt.end();
    this.attempt = new Attempt();
    return this.attempt;
  }

  /** The call that a context belongs to. */
  static of(context: Record<string, unknown>): Call | undefined {
    return context['call'] instanceof Call ? context['call'] : undefined;
  }
}

/** What errors and rules look at in the options of a request. */
export interface RequestOptions {
  readonly method: string;
  readonly url?: URL | string | undefined;
  readonly context: Record<string, unknown>;
}

/** What a message says about a request. Never the query: it may be a secret. */
export function describeRequest(options: Pick<RequestOptions, 'method' | 'url'>): {
  readonly method: string;
  readonly path: string;
  readonly host: string;
} {
  const url = new URL(options.url ?? 'http://unknown');
  return {method: options.method, path: url.pathname, host: url.host};
}

/** How often a request that changes nothing is repeated when its answer was lost, or the server failed. */
export const maxRepeats = 2;

/** Whether a request may be sent twice: it changes nothing, or says so with `repeatable` in its context. */
export function isRepeatable({method, context}: Pick<RequestOptions, 'method' | 'context'>): boolean {
  return method === 'GET' || method === 'HEAD' || context['repeatable'] === true;
}

/**
 * A status in words: `429 Too Many Requests`. The standard ones: what a server says there may be anything, a secret
 * too.
 */
export function statusName(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
