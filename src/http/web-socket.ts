import {addAbortSignal} from 'node:stream';
import {createSocketAgent} from './connection/agents.js';
import {HttpCall} from './connection/attempt.js';
import {late, whenStill} from './connection/watch.js';
import {redactorFor, toCliError} from './errors/failure.js';
import {responseError} from './errors/response-error.js';
import type {Environment} from '../text/platform.js';

/** How to open a WebSocket: as the HTTP client opens connections. */
interface SocketOptions {
  readonly env: Environment;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Values to mask in errors. */
  readonly secrets: readonly string[];
  readonly connectTimeoutMs: number;
  /** How long nothing may come, not even the answer to a ping. @default 30000 */
  readonly silentMs?: number | undefined;
}

const maxMessageBytes = 8 * 1024 * 1024;
/** Services close what is idle for ten minutes. */
const keepAliveMs = 5 * 60_000;

/** Yields the messages of a WebSocket until the server closes it. The query of its URL may be a secret. */
export async function* readSocket(
  url: URL,
  {env, userAgent, signal, secrets, connectTimeoutMs, silentMs = 30_000}: SocketOptions,
): AsyncGenerator<string, void, undefined> {
  signal.throwIfAborted();
  const {createWebSocketStream, WebSocket} = await import('ws');
  const [call, httpUrl] = [new HttpCall(), new URL(url.href.replace(/^ws/, 'http'))];
  const attempt = call.nextAttempt();
  const request = {method: 'GET', url: httpUrl, headers: {}, context: {}, signal};
  const errors = {secrets, limitedStatusCodes: []};
  const socket = new WebSocket(url, {
    agent: createSocketAgent(httpUrl, env, {connectTimeoutMs, signal, attempt}),
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    headers: {'user-agent': userAgent},
  });
  socket.on('unexpected-response', (_, {statusCode = 0, headers}) => {
    call.failure = responseError({statusCode, headers, request: {options: request}}, redactorFor(request, errors));
    socket.terminate();
  });
  const messages = addAbortSignal(signal, createWebSocketStream(socket, {readableObjectMode: true}));
  let tooLate: Error | undefined;
  const connecting = whenStill(connectTimeoutMs, () => {
    tooLate = late('no connection', connectTimeoutMs, '--connect-timeout');
    socket.terminate();
  });
  socket.once('open', () => {
    clearInterval(connecting);
    attempt.connected = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.send('');
  }, keepAliveMs);
  // A network can end without closing its connections.
  let heardAt = performance.now();
  const hear = () => void (heardAt = performance.now());
  socket.on('open', hear).on('pong', hear).on('message', hear);
  const pinging = setInterval(() => {
    // Where nobody reads, nothing can be heard.
    if (socket.isPaused) hear();
    if (performance.now() - heardAt > silentMs) messages.destroy((tooLate = late('no answer', silentMs, undefined)));
    else if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, silentMs / 3);
  try {
    attempt.started = true;
    for await (const message of messages) yield String(message);
  } catch (error) {
    throw toCliError(tooLate ?? error, request, call, errors);
  } finally {
    clearInterval(connecting);
    clearInterval(timer);
    clearInterval(pinging);
    socket.terminate();
  }
}
