import http, {type IncomingMessage} from 'node:http';
import https from 'node:https';
import net, {type Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {startOn, type TestServer} from './with-server.js';

/**
 * A proxy of one test, with what it was asked for. Every name and every address leads to 127.0.0.1, at the port asked
 * for.
 */
export interface TestProxy extends TestServer {
  readonly seen: readonly {readonly url: string; readonly credentials: string | undefined}[];
}

/** What makes a proxy special. */
export interface TestProxyOptions {
  /** Makes it an https proxy. */
  readonly tls?: {readonly key: string; readonly cert: string};
  /** What it answers to CONNECT, in place of opening the tunnel. */
  readonly tunnel?: (socket: Duplex, target: string) => void;
}

/** Starts a proxy that forwards requests for `http:` and opens tunnels. */
export async function startProxy({tls, tunnel = openTunnel}: TestProxyOptions = {}): Promise<TestProxy> {
  const seen: {url: string; credentials: string | undefined}[] = [];
  const note = ({url = '', headers}: IncomingMessage) => seen.push({url, credentials: headers['proxy-authorization']});
  const server = tls === undefined ? http.createServer() : https.createServer(tls);
  server.on('request', (request: IncomingMessage, response: http.ServerResponse) => {
    note(request);
    const {port, pathname, search} = new URL(request.url ?? '');
    const {method, headers} = request;
    const onward = http.request({host: '127.0.0.1', port, path: pathname + search, method, headers}, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    note(request);
    socket.on('error', () => undefined);
    tunnel(socket, request.url ?? '');
  });
  return {...(await startOn(server, tls === undefined ? 'http' : 'https')), seen};
}

function openTunnel(socket: Duplex, target: string): void {
  const onward: Socket = net.connect(Number(/\d+$/.exec(target)?.[0]), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
  socket.on('close', () => onward.destroy());
}
