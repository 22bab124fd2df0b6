import {once} from 'node:events';
import {createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {request as httpsRequest} from 'node:https';
import type {AddressInfo} from 'node:net';

/** A fault of some of the requests of a call. */
export interface Fault {
  /** A status is the answer. What is held or cut off does not reach the service; of what is lost, only the answer. */
  readonly kind: 401 | 429 | 500 | 'hold' | 'cut' | 'lose';
  /** Number of the first request that it happens to, from 1. */
  readonly at: number;
  /** Whether it happens to all that follow, too. @default false */
  readonly lasts?: boolean | undefined;
  /** Called when a request is held. */
  readonly onHeld?: (() => void) | undefined;
}

/** Stands between a backend and its service, counts requests, and lets some of them fail. */
export class Relay {
  /** How many requests there were since `arm`. */
  requests = 0;
  /** How many bytes of bodies have been passed on since `arm`. */
  bytes = 0;
  #fault: Fault | undefined;
  #isArmed = false;
  /** By the origin that they lead to. */
  readonly #servers = new Map<string, Promise<Server>>();
  /** Where those listen. */
  readonly #origins = new Set<string>();

  /** Counts requests from now on, and lets those of `fault` fail. */
  arm(fault?: Fault): void {
    [this.requests, this.bytes, this.#fault, this.#isArmed] = [0, 0, fault, true];
  }

  /** Where a request of `context.http` goes: straight to the service unless a call is watched. */
  async reroute(url: URL): Promise<URL> {
    if (!this.#isArmed || this.#origins.has(url.origin)) return url;
    return new URL(url.pathname + url.search, await this.through(url.origin));
  }

  /** The origin of a server that passes on what it gets to `origin`. */
  async through(origin: string): Promise<string> {
    const {protocol} = new URL(origin);
    if (!['http:', 'https:'].includes(protocol))
      throw new Error(
        `through() takes the origin of an HTTP service, not ${protocol}//. Give the backend its own address.`,
      );
    const starting = this.#servers.get(origin) ?? this.#start(origin);
    this.#servers.set(origin, starting);
    const own = `http://127.0.0.1:${((await starting).address() as AddressInfo).port}`;
    this.#origins.add(own);
    return own;
  }

  async close(): Promise<void> {
    for (const server of await Promise.all(this.#servers.values())) {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    }
  }

  async #start(origin: string): Promise<Server> {
    const server = createServer((incoming, outgoing) => {
      this.#pass(incoming, outgoing, origin).catch(() => outgoing.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse, origin: string): Promise<void> {
    this.requests += 1;
    const {kind, at = Infinity, lasts, onHeld} = this.#fault ?? {};
    if (kind === undefined || this.requests < at || (this.requests > at && !lasts)) {
      const answer = await this.#forward(incoming, origin);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => outgoing.destroy()).pipe(outgoing);
    } else if (kind === 'hold') {
      onHeld?.();
    } else if (kind === 'cut') {
      outgoing.destroy();
    } else if (kind === 'lose') {
      await once((await this.#forward(incoming, origin)).resume(), 'end');
      outgoing.destroy();
    } else {
      await once(incoming.resume(), 'end');
      outgoing.writeHead(kind, {'content-type': 'application/json'}).end('{}');
    }
  }

  async #forward(incoming: IncomingMessage, origin: string): Promise<IncomingMessage> {
    const url = new URL(incoming.url ?? '/', origin);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    // The host header is that of the service, as if the request had gone there, unless the client has signed it.
    const {host, authorization} = incoming.headers;
    const isReplaced = host?.startsWith('127.0.0.1') === true && authorization?.startsWith('AWS4-') !== true;
    const headers = {...incoming.headers, ...(isReplaced && {host: url.host})};
    const onward = send(url, {method: incoming.method, headers});
    incoming.on('close', () => {
      if (!incoming.complete) onward.destroy();
    });
    incoming.on('data', (piece: Buffer) => void (this.bytes += piece.length)).pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    return answer;
  }
}
