import {createHash} from 'node:crypto';
import {once} from 'node:events';
import http, {STATUS_CODES, type IncomingMessage} from 'node:http';
import https from 'node:https';
import net, {type AddressInfo, type Server, type Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {selfSigned} from '../http/self-signed.js';
import {closedPort} from '../http/with-server.js';

/** A header line. A list of them may name one twice. */
export type HeaderLine = readonly [name: string, value: string];

/** What a server does with a request that it has read, or is reading. */
export type Act =
  /**
   * Answers. `length`: what Content-Length claims, when it is not the truth; `none`: the end of the connection ends the
   * body.
   */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: readonly HeaderLine[];
      readonly body?: string | Buffer;
      readonly length?: number | 'none';
      /** Answers when it has read this many bytes of the request's body, and closes. @default all of them */
      readonly early?: number;
      /** Milliseconds before the answer. */
      readonly after?: number;
      /** Milliseconds between two small pieces of the body. */
      readonly everyMs?: number;
      /** What it does after this body. @default 'close' */
      readonly then?: 'close' | 'silence';
    }
  /** Answers with `piece`, again and again until `bytes` are sent, or for ever; `everyMs`: not faster than this. */
  | {
      readonly kind: 'stream';
      readonly head: string;
      readonly piece: string;
      readonly bytes?: number;
      readonly everyMs?: number;
    }
  /** Writes these bytes, and closes, or leaves the connection open. */
  | {readonly kind: 'raw'; readonly bytes: string | Buffer; readonly then: 'close' | 'silence'}
  /** Resets the connection: when the head has arrived, when half of the body has, when all of it has. */
  | {readonly kind: 'reset'; readonly when: 'head' | 'half' | 'whole'}
  /** Reads the head and nothing more. */
  | {readonly kind: 'stop-reading'};

/** A request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  /** Content-Length; 0 without one. */
  readonly announced: number;
  /** Bytes of the body that arrived, and their digest. */
  received: number;
  digest: string;
}

/** A server on loopback that keeps what it saw. */
export interface FaultServer extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly SeenRequest[];
  /** Bytes that clients took from it. */
  readonly bytesSent: () => number;
}

/** What the server does with a request; it may depend on how many there were. */
export type Play = (request: SeenRequest) => Act;

/** Starts a server that does with each request what `play` says. */
export async function startFaultServer(play: Play, scheme: 'http' | 'https' = 'http'): Promise<FaultServer> {
  const requests: SeenRequest[] = [];
  const listener = (message: IncomingMessage) => {
    const {method = '', url = '', headers} = message;
    const announced = Number(headers['content-length'] ?? 0);
    const request = {method, url, authorization: headers.authorization, announced, received: 0, digest: ''};
    requests.push(request);
    perform(play(request), message, request);
  };
  const server = scheme === 'http' ? http.createServer(listener) : https.createServer(selfSigned, listener);
  return listen(server, scheme, requests);
}

/** Starts a server that accepts connections and says nothing. */
export async function startSilentServer(scheme: 'http' | 'https'): Promise<FaultServer> {
  return listen(net.createServer(), scheme, []);
}

/** An origin that refuses connections. */
export async function closedOrigin(): Promise<string> {
  return `http://127.0.0.1:${String(await closedPort())}`;
}

async function listen(server: Server, scheme: string, requests: readonly SeenRequest[]): Promise<FaultServer> {
  const sockets = new Set<Socket>();
  let sent = 0;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sent += socket.bytesWritten;
      sockets.delete(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  return {
    origin: `${scheme}://127.0.0.1:${String(port)}`,
    requests,
    bytesSent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sent),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The bytes of a head. */
export function head(status: number, headers: readonly HeaderLine[] = []): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}connection: close\r\n\r\n`;
}

function perform(act: Act, message: IncomingMessage, request: SeenRequest): void {
  const {socket} = message;
  // The request ends with its connection, whatever becomes of it.
  message.on('error', () => undefined);
  if (act.kind === 'stop-reading' || (act.kind === 'reset' && act.when === 'head')) {
    if (act.kind === 'reset') socket.resetAndDestroy();
    return;
  }
  const hash = createHash('sha256');
  const enough = enoughOf(act, request);
  let done = false;
  const finish = () => {
    if (done) return;
    done = true;
    request.digest = hash.digest('hex');
    conclude(act, socket);
  };
  message.on('data', (chunk: Buffer) => {
    if (done) return;
    request.received += chunk.length;
    hash.update(chunk);
    if (request.received >= enough) finish();
  });
  message.on('end', finish);
}

/** How much of a body is read before something happens. */
function enoughOf(act: Act, {announced}: SeenRequest): number {
  if (act.kind === 'answer' && act.early !== undefined) return act.early;
  return act.kind === 'reset' && act.when === 'half' ? announced / 2 : Infinity;
}

function conclude(act: Act, socket: Socket): void {
  switch (act.kind) {
    case 'answer':
      void answer(act, socket);
      return;
    case 'raw':
      socket.write(act.bytes);
      if (act.then === 'close') socket.end();
      return;
    case 'stream':
      void stream(act, socket);
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'stop-reading':
      return;
  }
}

async function answer(act: Act & {readonly kind: 'answer'}, socket: Socket): Promise<void> {
  const {status, headers = [], body = '', length = Buffer.byteLength(body), after, everyMs, then} = act;
  const claim: readonly HeaderLine[] = length === 'none' ? [] : [['content-length', String(length)]];
  if (after !== undefined) await sleep(after);
  socket.write(head(status, [...headers, ...claim]));
  const bytes = Buffer.from(body);
  const pieceSize = everyMs === undefined ? bytes.length : Math.ceil(bytes.length / 10);
  for (let at = 0; at < bytes.length && !socket.destroyed; at += pieceSize) {
    socket.write(bytes.subarray(at, at + pieceSize));
    if (everyMs !== undefined) await sleep(everyMs);
  }
  if (then !== 'silence') socket.end();
}

async function stream(act: Act & {readonly kind: 'stream'}, socket: Socket): Promise<void> {
  const {bytes = Infinity, everyMs} = act;
  const piece = Buffer.from(act.piece);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(act.head);
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    const isTaken = socket.write(piece.subarray(0, bytes - sent));
    if (everyMs !== undefined) await sleep(everyMs);
    else if (!isTaken) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  socket.end();
}
