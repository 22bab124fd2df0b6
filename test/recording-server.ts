import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {closedPort} from './http/with-server.js';

/** A request that a recording server has read whole. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** What a recording server answers. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request; nothing: the connection is cut. */
export type Handler = (
  request: RecordedRequest,
  response: ServerResponse,
) => Reply | undefined | Promise<Reply | undefined>;

/** A server on loopback that keeps every request. */
export interface RecordingServer extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly RecordedRequest[];
}

/** Starts a server that reads every request whole, keeps it, and answers what `handler` says. */
export async function startRecordingServer(handler: Handler): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  const server = createServer((message, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of message) chunks.push(chunk as Buffer);
      } catch {
        // Broken off by the client: there is nobody to answer.
        return;
      }
      const request: RecordedRequest = {
        method: message.method ?? '',
        path: message.url ?? '',
        headers: message.headers,
        body: Buffer.concat(chunks),
      };
      requests.push(request);
      const reply = await handler(request, response);
      if (!reply) {
        message.socket.destroy();
        return;
      }
      const {status, body, headers = {}} = reply;
      response.writeHead(status, {'content-type': 'application/json', ...headers});
      response.end(
        body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      );
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An address where nobody listens. */
export async function closedOrigin(): Promise<string> {
  return `http://127.0.0.1:${await closedPort()}`;
}
