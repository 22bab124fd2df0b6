import {addAbortSignal} from 'node:stream';
import {createSocketAgent} from './connection/agents.js';
import {Call} from './connection/call.js';
import {late} from './connection/watch.js';
import {redactorFor, toCliError} from './errors/failure.js';
import {responseError} from './errors/response-error.js';
import type {Environment} from './types.js';

/** How to open a WebSocket: as the HTTP client opens connections. */
interface SocketOptions {
  readonly env: Environment;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Values to mask in errors. */
  readonly secrets: readonly string[];
  readonly connectTimeoutMs: number;
}

const maxMessageBytes = 8 * 1024 * 1024;
/** Services close what is idle for ten minutes. */
const keepAliveMs = 5 * 60_000;

/**
 * Yields the messages of a WebSocket until the server closes it.
 * @param url `ws:` or `wss:`. Its query may be a secret.
 * @throws RuntimeCliError as the HTTP client does; `signal.reason` when aborted.
 */
export async function* readSocket(
  url: URL,
  {env, userAgent, signal, secrets, connectTimeoutMs}: SocketOptions,
): AsyncGenerator<string, void, undefined> {
  signal.throwIfAborted();
  const {createWebSocketStream, WebSocket} = await import('ws');
  const [call, httpUrl] = [new Call(), new URL(url.href.replace(/^ws/, 'http'))];
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
  const connecting = setTimeout(() => {
    tooLate = late('no connection', connectTimeoutMs, '--connect-timeout');
    socket.terminate();
  }, connectTimeoutMs);
  socket.once('open', () => {
    clearTimeout(connecting);
    attempt.connected = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.send('');
  }, keepAliveMs);
  try {
    attempt.started = true;
    for await (const message of messages) yield String(message);
  } catch (error) {
    throw toCliError(tooLate ?? error, request, call, errors);
  } finally {
    clearTimeout(connecting);
    clearInterval(timer);
    socket.terminate();
  }
}
