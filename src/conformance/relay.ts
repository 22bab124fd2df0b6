import {once} from 'node:events';
import {createServer, request as httpRequest, type IncomingMessage, type ServerResponse} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket} from 'node:net';

/** A fault of some of the requests of a call. */
export interface Fault {
  /** A status is the answer. What is held or cut off does not reach the service; of what is lost, only the answer. */
  readonly kind: 401 | 429 | 500 | 'hold' | 'cut' | 'lose';
  /** Number of the first request that it happens to, from 1. */
  readonly at: number;
  /** Whether it happens to all that follow, too, or to those of the same method and URL. @default false */
  readonly lasts?: boolean | 'alike' | undefined;
  /** Called when a request is held. */
  readonly onHeld?: (() => void) | undefined;
}

/** Stands between a backend and its service, counts requests, and lets some of them fail. */
export class Relay {
  /** How many requests there were since `arm`. */
  requests = 0;
  /** How many bytes of bodies have been passed on since `arm`. */
  bytes = 0;
  /** How many those were when each request began. */
  bytesBefore: number[] = [];
  /** Whether a request can be answered with a status. */
  isHttp = true;
  #fault: Fault | undefined;
  /** The first request that failed. */
  #failed: string | undefined;
  #isArmed = false;
  /** By the origin that they lead to. */
  readonly #servers = new Map<string, Promise<Server>>();
  /** Where those listen. */
  readonly #origins = new Set<string>();
  readonly #sockets = new Set<Socket>();
  /** Connections of another protocol than HTTP with a request that is held. */
  readonly #held = new Set<Socket>();

  /** Counts requests from now on, and lets those of `fault` fail. */
  arm(fault?: Fault): void {
    [this.requests, this.bytes, this.bytesBefore, this.#fault, this.#isArmed] = [0, 0, [], fault, true];
    // A backend that keeps its connections makes others.
    for (const socket of this.#held) socket.destroy();
    this.#held.clear();
  }

  /** Where a request of `context.http` goes: straight to the service unless a call is watched. */
  async reroute(url: URL): Promise<URL> {
    if (!this.#isArmed || this.#origins.has(url.origin)) return url;
    return new URL(url.pathname + url.search, await this.through(url.origin));
  }

  /** The origin of a server that passes on what it gets to `origin`, an address such as `tcp://localhost:6379`, too. */
  async through(origin: string): Promise<string> {
    const {protocol} = new URL(origin);
    if (!['http:', 'https:', 'tcp:'].includes(protocol))
      throw new Error(`through() takes the origin of an HTTP service or tcp://HOST:PORT, not ${protocol}//.`);
    const starting = this.#servers.get(origin) ?? this.#start(origin);
    this.#servers.set(origin, starting);
    this.isHttp &&= protocol !== 'tcp:';
    const {port} = (await starting).address() as AddressInfo;
    const own = `${protocol === 'tcp:' ? 'tcp' : 'http'}://127.0.0.1:${port}`;
    this.#origins.add(own);
    return own;
  }

  async close(): Promise<void> {
    for (const server of await Promise.all(this.#servers.values())) {
      const closed = once(server.close(), 'close');
      for (const socket of this.#sockets) socket.destroy();
      await closed;
    }
  }

  async #start(origin: string): Promise<Server> {
    const {protocol, hostname, port} = new URL(origin);
    const server: Server =
      protocol === 'tcp:'
        ? createTcpServer((client) => this.#passBytes(client, connect(Number(port), hostname)))
        : createServer((incoming, outgoing) => {
            this.#pass(incoming, outgoing, origin).catch(() => outgoing.destroy());
          });
    server.on('connection', (socket: Socket) => void this.#sockets.add(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  /** Counts a request, and returns what is to happen to it. */
  #next(request?: string): Fault['kind'] | undefined {
    this.requests += 1;
    this.bytesBefore.push(this.bytes);
    const {kind, at = Infinity, lasts} = this.#fault ?? {};
    if (this.requests === at) this.#failed = request;
    const fails = lasts === 'alike' ? request === this.#failed : this.requests === at || lasts === true;
    return this.requests >= at && fails ? kind : undefined;
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse, origin: string): Promise<void> {
    const kind = this.#next(`${incoming.method} ${incoming.url}`);
    if (kind === undefined) {
      const answer = await this.#forward(incoming, origin);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => outgoing.destroy()).pipe(outgoing);
    } else if (kind === 'hold') {
      this.#fault?.onHeld?.();
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

  /** Of another protocol, a request is what the client sends until the service answers. */
  #passBytes(client: Socket, service: Socket): void {
    this.#sockets.add(service);
    let isAsking = false;
    let kind: Fault['kind'] | undefined;
    client.on('data', (piece) => {
      if (!isAsking && kind !== 'hold') {
        kind = this.#next();
        if (kind === 'cut') client.destroy();
        if (kind === 'hold') {
          this.#held.add(client);
          this.#fault?.onHeld?.();
        }
      }
      isAsking = true;
      if (kind === 'cut' || kind === 'hold') return;
      this.bytes += piece.length;
      service.write(piece);
    });
    service.on('data', (piece) => {
      isAsking = false;
      if (kind === 'lose') client.destroy();
      else client.write(piece);
    });
    const both = [client, service];
    const end = () => both.forEach((socket) => socket.end());
    for (const socket of both) socket.on('error', () => undefined).on('close', end);
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
