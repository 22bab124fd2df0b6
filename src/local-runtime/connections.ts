import {once} from 'node:events';
import {createServer, maxHeaderSize, STATUS_CODES, type Server} from 'node:http';
import type {Duplex} from 'node:stream';
import {getRequestListener} from '@hono/node-server';
import type {RuntimeContext} from './context.js';
import type {RequestRecord} from './options.js';
import {createHandler, hostFailure, openExchange, type Exchange, type ServerRole} from './request-handler.js';

/** How long a connection may be idle. Longer than in clients, whose requests would fail if the server closed first. */
const keepAliveMilliseconds = 65_000;

/** How often to look for connections on which no request arrives. */
const checkMilliseconds = 1000;

/** How long a refused client may continue to send before its connection is closed. */
const lingerMilliseconds = 2000;

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
  // A large upload may take any time while it progresses.
  server.requestTimeout = 0;
  server.headersTimeout = Math.ceil(context.stallSeconds * 1000);
  server.keepAliveTimeout = keepAliveMilliseconds;
  const handle = createHandler(role);
  const underway = new Set<Promise<unknown>>();
  server.on('request', (request, response) => {
    const exchange: Exchange = openExchange(context, {request, response, role}, onEnd);
    const refusal = hostFailure(exchange, role);
    const listen = getRequestListener((asked) => refusal ?? handle(asked, exchange), {overrideGlobalObjects: false});
    // The library refuses what is no host name by itself.
    if (refusal !== undefined) request.headers.host = 'localhost';
    const answering = listen(request, response).finally(() => underway.delete(answering));
    underway.add(answering);
  });
  server.on('clientError', refuse);
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
    `The headers of the request are larger than ${String(maxHeaderSize / 1024)} KiB, most likely because of cookies of deployed apps. Delete the cookies of this host, or use its other name: localhost instead of 127.0.0.1, or the reverse.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'No complete request has arrived in time.'],
};

/** Refuses what Node cannot parse as a request, as Node would, but with a reason. */
function refuse(error: Error & {readonly code?: string}, socket: Duplex): void {
  // Each chunk that a client goes on to send is an error again.
  if (socket.writableEnded) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = refusals[error.code ?? ''] ?? [400, 'The request is not valid HTTP.'];
  const head = [
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${String(Buffer.byteLength(detail) + 1)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${detail}\n`);
  // Closing at once would reset the connection of a client that is still sending, which then reads no answer.
  setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
}
