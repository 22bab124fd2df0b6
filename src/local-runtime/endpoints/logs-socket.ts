import {randomUUID} from 'node:crypto';
import {STATUS_CODES, type IncomingMessage, type Server} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import {WebSocketServer, type WebSocket} from 'ws';
import {admitsToLogs, checkHost, checkOrigin} from '../access.js';
import {HttpFailure} from '../answer.js';
import {recordRequest, type RuntimeContext} from '../runtime-context.js';
import type {FaultRule} from '../faults.js';
import {count} from '../../text/sentence.js';

const maxMessageBytes = 64 * 1024;
/** How many characters of lines wait for a client. */
const mostWaiting = 1024 * 1024;

/** Serves the logs of apps as a WebSocket, at `/`. Returns a function that ends its connections. */
export function serveLogs(server: Server, context: RuntimeContext): () => void {
  const sockets = new WebSocketServer({noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false});
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const record = (status: number, fault?: FaultRule['action']) => {
      const requestId = randomUUID();
      recordRequest(request, {status, fault, route: 'logs', bytesReceived: 0, durationMs: 0, requestId}, context);
    };
    const serve = async () => {
      const {fault, site} = await admit(request, socket, context);
      if (fault === 'hang') return;
      sockets.handleUpgrade(request, socket, head, (opened) => {
        record(101, fault);
        opened.on('error', () => opened.terminate());
        if (fault === 'drop' || fault === 'truncate') {
          opened.terminate();
          return;
        }
        opened.once('close', context.logs.follow(site, sender(opened, context)));
      });
    };
    serve().catch((error: unknown) => {
      const {status, message} =
        error instanceof HttpFailure ? error : new HttpFailure(500, 'The local runtime failed.');
      record(status);
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\n\r\n${message}\n`);
    });
  });
  return () => {
    for (const opened of sockets.clients) opened.terminate();
  };
}

/** Sends lines as fast as a client reads them. Drops the oldest of those that wait, and tells the client so. */
function sender(opened: WebSocket, {now}: RuntimeContext): (line: string) => void {
  let waiting: string[] = [];
  let characters = 0;
  let dropped = 0;
  let isSending = false;
  const send = (): void => {
    if (isSending || waiting.length === 0) return;
    const notice = `${now().toISOString()}\t\tWARN\tDropped ${count(dropped, 'line')} that the client did not read.`;
    const lines = dropped === 0 ? waiting : [notice, ...waiting];
    [waiting, characters, dropped, isSending] = [[], 0, 0, true];
    // Published clients read the time here.
    const entries = lines.map((message) => ({timestamp: Date.parse(message.split('\t', 1)[0] ?? ''), message}));
    opened.send(JSON.stringify(entries), () => {
      isSending = false;
      send();
    });
  };
  return (line) => {
    waiting.push(line);
    characters += line.length;
    for (; characters > mostWaiting && waiting.length > 1; dropped += 1) characters -= waiting.shift()?.length ?? 0;
    send();
  };
}

/** @throws HttpFailure if the connection is refused, by a fault too. */
async function admit(request: IncomingMessage, socket: Duplex, context: RuntimeContext) {
  const [path = '/', search = ''] = (request.url ?? '/').split('?');
  const query = new URLSearchParams(search);
  const site = {projectSlug: query.get('project') ?? '', targetSlug: query.get('environment') ?? ''};
  checkHost({request, context, origin: `http://${request.headers.host ?? ''}`});
  checkOrigin(request);
  const latency = context.faults.take('logs', 'latency');
  if (latency) await delay(latency.milliseconds, undefined, {ref: false});
  const fault = context.faults.take('logs', 'status', 'reset', 'hang', 'truncate', 'drop');
  if (fault?.action === 'status') throw new HttpFailure(fault.status, `Injected fault: ${fault.status}.`);
  if (fault?.action === 'reset') (socket as Socket).resetAndDestroy();
  if (path !== '/') throw new HttpFailure(404, `No WebSocket is served at ${path}.`);
  if (context.auth && !(await admitsToLogs(query.get('access_token') ?? '', site, context)))
    throw new HttpFailure(401, 'Unknown or expired token, or one for another target.');
  return {fault: fault?.action, site};
}
