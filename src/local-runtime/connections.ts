import {once} from 'node:events';
import {createServer, maxHeaderSize, STATUS_CODES, type Server, type ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import type {RuntimeContext} from './context.js';
import type {RequestRecord} from './options.js';
import {lingerMilliseconds} from './request-body.js';
import {handleRequest, type ServerRole} from './request-handler.js';

/** How long a connection may be idle. Longer than in clients, whose requests would fail if the server closed first. */
const keepAliveMilliseconds = 65_000;

/** How often to look for connections on which no request arrives. */
const checkMilliseconds = 1000;

/** More connections are closed at once. Each needs a file descriptor and some memory. */
const maxConnections = 4000;

/** Requests that a client may send before the first of them is answered. With more, its connection is closed. */
const maxPipelined = 100;

/** A connection from its first request on. */
interface Connection {
  /** The answer that is underway. */
  response: ServerResponse | undefined;
  /** Begin the requests that have come in the meantime. */
  readonly waiting: (() => void)[];
}

/** A server that does not listen yet. */
export function createBoundedServer(): Server {
  return createServer({connectionsCheckingInterval: checkMilliseconds});
}

/** Starts serving requests. Returns a function that stops the server. */
export function serve(
  server: Server,
  {
    role,
    context,
    onEnd,
  }: {
    readonly role: ServerRole;
    readonly context: RuntimeContext;
    readonly onEnd: (record: RequestRecord) => void;
  },
): () => Promise<void> {
  const underway = new Set<Promise<void>>();
  // A large upload may take any time while it progresses.
  server.requestTimeout = 0;
  server.headersTimeout = Math.ceil(context.stallSeconds * 1000);
  server.keepAliveTimeout = keepAliveMilliseconds;
  server.maxConnections = maxConnections;
  const connections = new WeakMap<Duplex, Connection>();
  server.on('request', (request, response) => {
    const {socket} = request;
    const connection = connections.get(socket) ?? {response: undefined, waiting: []};
    connections.set(socket, connection);
    // One after the other: a client that takes no answers must not have many prepared.
    const begin = (): void => {
      if (socket.destroyed) return;
      connection.response = response;
      response.once('close', () => {
        connection.response = undefined;
        connection.waiting.shift()?.();
      });
      const handling = handleRequest(context, {request, response, role}, onEnd).finally(() =>
        underway.delete(handling),
      );
      underway.add(handling);
    };
    if (connection.response === undefined) begin();
    else if (connection.waiting.length < maxPipelined) connection.waiting.push(begin);
    else socket.destroy();
  });
  server.on('clientError', (error, socket) => {
    refuse(socket, error, connections.get(socket)?.response);
  });
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await Promise.all(underway);
  };
}

/** How to refuse bytes that are not a request, by the code of Node's error. */
const refusals: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    `The headers of the request are larger than ${String(maxHeaderSize / 1024)} KiB, most likely because of cookies of deployed apps, which browsers send to all ports of a host. Delete the cookies of this host, or use its other name: localhost instead of 127.0.0.1, or the reverse.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'No complete request has arrived in time.'],
};

/** Refuses what Node cannot parse as a request, as Node would, but with a reason. */
function refuse(socket: Duplex, error: Error, response: ServerResponse | undefined): void {
  // Each chunk that a client goes on to send is an error again.
  if (socket.writableEnded) return;
  if (!socket.writable || response?.headersSent === true) {
    socket.destroy();
    return;
  }
  const code = 'code' in error ? String(error.code) : '';
  const [status, detail] = refusals[code] ?? [400, 'The request is not valid HTTP.'];
  const body = `${detail}\n`;
  const head = [
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // The handler of a request whose body is invalid must not write to the connection anymore.
  if (response !== undefined) socket.destroy();
  // Closing at once would reset the connection of a client that is still sending, which then reads no answer.
  const closing = setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  socket.once('close', () => {
    clearTimeout(closing);
  });
}
