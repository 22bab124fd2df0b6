import http, {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import https from 'node:https';
import {once} from 'node:events';
import net, {type AddressInfo, type Socket} from 'node:net';
import {onTestFinished} from 'vitest';
import {selfSigned} from './self-signed.js';

/** A request as the server saw it, with its whole body. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server of one test. */
export interface TestServer {
  readonly origin: string;
  readonly port: number;
}

/** Starts an HTTP server on loopback; it ends with the test. */
export async function startServer(listener: RequestListener): Promise<TestServer> {
  return startOn(http.createServer(listener), 'http');
}

/** Starts an HTTPS server, with a certificate that nobody trusts unless it is given one. */
export async function startTlsServer(
  listener: RequestListener,
  certificate: {readonly key: string; readonly cert: string} = selfSigned,
): Promise<TestServer> {
  return startOn(https.createServer(certificate, listener), 'https');
}

/** Starts a TCP server, for what no HTTP server would do. */
export async function startTcpServer(listener: (socket: Socket) => void): Promise<TestServer> {
  return startOn(
    net.createServer((socket) => {
      socket.on('error', () => undefined);
      listener(socket);
    }),
    'http',
  );
}

/** Starts a server that reads each request that has an end, keeps it, and lets `answer` do the rest. */
export async function startRecordingServer(
  answer: (response: ServerResponse, request: RecordedRequest, count: number) => void,
): Promise<TestServer & {readonly requests: readonly RecordedRequest[]}> {
  const requests: RecordedRequest[] = [];
  const server = await startServer((message, response) => {
    const keep = (body: Buffer) => {
      const {method = '', url = '', headers} = message;
      const request = {method, url, headers, body};
      requests.push(request);
      answer(response, request, requests.length);
    };
    // Without an end, there is nothing to keep.
    void readAll(message).then(keep, () => undefined);
  });
  return {...server, requests};
}

/** Answers the first `times` requests with `status`, all others with 201 and an empty JSON object. */
export function refuseFirst(times: number, status = 429, headers: Readonly<Record<string, string>> = {}) {
  return (response: ServerResponse, _request: RecordedRequest, count: number): void => {
    if (count <= times) response.writeHead(status, headers).end('{"detail":"slow down"}');
    else sendJson(response, 201, {});
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value));
}

/**
 * A port of loopback where nobody listens, and nobody can while this process runs: a connection has it for its own end.
 * A port that was only closed may be given to the server of another test.
 */
export async function closedPort(): Promise<number> {
  const server = net.createServer((socket) => socket.unref().on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1').unref();
  socket.on('error', () => undefined);
  await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
  server.close();
  if (socket.localPort === undefined) throw new Error('a connected socket has no port');
  return socket.localPort;
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Makes a server listen on loopback until the test ends. */
export async function startOn(server: net.Server, scheme: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const {port} = server.address() as AddressInfo;
  return {origin: `${scheme}://127.0.0.1:${port}`, port};
}
