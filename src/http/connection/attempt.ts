import {STATUS_CODES} from 'node:http';
import type {BeforeRequestHook, InitHook} from 'got';
import type {RuntimeCliError} from '../../errors/index.js';
import type {HostHttpOptions} from '../types.js';
import type {Proxy} from './proxy.js';

/** The progress of one attempt of a call, which decides what a failure means. */
export class Attempt {
  started = false;
  /** The connection is established, including TLS. */
  connected = false;
  /** The connection accepted the last byte of the request. */
  sent = false;
  /** The connection was given the last byte. Nothing tells whether the server gets it if the connection ends then. */
  handedOver = true;
  /** The connection was kept from an earlier request, so that the server may have been closing it. */
  isKept = false;
  chunks = 0;
  /** Only if the server accepted the request before it was sent: resolves to whether it read all of it. */
  delivered: Promise<boolean> | undefined;
  /** The proxy being connected to instead of the server. */
  proxy: Proxy | undefined;
  #body: AsyncGenerator | undefined;

  /** Whether the server may have the whole request. If not, it has not carried it out. */
  get mayBeWhole(): boolean {
    return this.sent || (this.handedOver && this.connected);
  }

  /** Sends `body`, which has `length` bytes, with this attempt, recording when it ends. */
  send(body: AsyncGenerator, length: number): AsyncGenerator {
    this.#body = this.#follow(body, length);
    return this.#body;
  }

  /** Closes the file behind a body that is not read to its end. */
  end(): void {
    this.#body?.return(undefined).catch(() => undefined);
  }

  async *#follow(body: AsyncGenerator, length: number): AsyncGenerator {
    let bytes = 0;
    this.handedOver = length === 0;
    for await (const chunk of body) {
      bytes += chunk instanceof Uint8Array ? chunk.length : 0;
      this.handedOver = bytes >= length;
      yield chunk;
      this.chunks += 1;
      // A request for the next chunk means that the connection accepted the last one. The end of a file comes later.
      if (this.handedOver) this.sent = this.connected;
    }
    this.sent = this.connected;
  }
}

/** One call of the client, across all its attempts. */
export class HttpCall {
  attempt = new Attempt();
  repeats = 0;
  /** Whether an attempt before this one may have been carried out. */
  mayBeDone = false;
  authorization: string | undefined;
  /** Whether it was sent again with other credentials. */
  isRenewed = false;
  /** Whether a kept connection was closed before it was answered. */
  isStale = false;
  /** Why the client itself ended the call. */
  failure: RuntimeCliError | undefined;

  nextAttempt(): Attempt {
    this.attempt.end();
    this.attempt = new Attempt();
    return this.attempt;
  }

  static of(context: Record<string, unknown>): HttpCall | undefined {
    return context['call'] instanceof HttpCall ? context['call'] : undefined;
  }
}

export interface RequestOptions {
  readonly method: string;
  readonly url?: URL | string | undefined;
  readonly context: Record<string, unknown>;
}

/** Describes a request for messages. Never includes the query, which may be secret. */
export function describeRequest(options: Pick<RequestOptions, 'method' | 'url'>): {
  readonly method: string;
  readonly path: string;
  readonly host: string;
} {
  const url = new URL(options.url ?? 'http://unknown');
  return {method: options.method, path: url.pathname, host: url.host};
}

/** How often a request that changes nothing is repeated if its response is lost or the server fails. */
export const maxRepeats = 2;

/** Whether a request may be sent twice: `repeatable` says so, or it changes nothing. */
export function isRepeatable({method, context}: Pick<RequestOptions, 'method' | 'context'>): boolean {
  const {repeatable} = context;
  return typeof repeatable === 'boolean' ? repeatable : method === 'GET' || method === 'HEAD';
}

/** Methods that change nothing (RFC 9110, RFC 4918). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND', 'REPORT', 'SEARCH', 'QUERY']);

/** Whether a request may have changed something if its answer is lost, even if it may be sent twice. */
export function isWrite({method, context}: Pick<RequestOptions, 'method' | 'context'>): boolean {
  return context['changesNothing'] !== true && (context['repeatable'] === false || !safeMethods.has(method));
}

/** Whether an upload ended before the server can have had all of it, of which it can use no part. */
export function isBroken({context}: Pick<RequestOptions, 'context'>, {delivered, mayBeWhole}: Attempt): boolean {
  return context['onlyWhole'] === true && delivered === undefined && !mayBeWhole;
}

/** The options of ours that got does not have. */
const ownOptions = [
  'repeatable',
  'changesNothing',
  'retryRateLimit',
  'once',
  'beforeAttempt',
] as const satisfies readonly (keyof HostHttpOptions)[];

/** Moves options that got does not have to the context of a request. */
export const keepOwnOptions: InitHook = (init) => {
  for (const name of ownOptions) {
    if (!(name in init)) continue;
    init.context = {...init.context, [name]: Reflect.get(init, name) as unknown};
    Reflect.deleteProperty(init, name);
  }
};

export const askBeforeAttempt: BeforeRequestHook = async ({context: {beforeAttempt}}) => {
  if (isQuestion(beforeAttempt)) await beforeAttempt();
};

function isQuestion(value: unknown): value is () => Promise<void> {
  return typeof value === 'function';
}

/** A status with its standard name: a server's own could be anything, even a secret. */
export function statusName(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
