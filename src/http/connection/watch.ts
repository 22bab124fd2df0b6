import type {ClientRequest, IncomingMessage} from 'node:http';
import {TLSSocket} from 'node:tls';
import type {Socket} from 'node:net';
import {createError} from '../../errors/index.js';
import type {Attempt, Call} from './call.js';

/** The time limits of a client, in milliseconds. */
export interface TimeLimits {
  /** To connect, including TLS. */
  readonly connectMs: number;
  /** Without progress while sending or receiving. */
  readonly idleMs: number;
  /** From the last byte sent to the end of the response; for a stream, to its start. */
  readonly requestMs: number;
}

/** Maximum size of a response that is read into memory, in bytes. Streams are not limited. */
export const maxResponseBytes = 8 * 1024 * 1024;

/** No progress for too long, a proxy that opens no connection, or a server that switches protocols unasked. */
export class ConnectionError extends Error {
  constructor(
    readonly code: 'ECONNRESET' | 'ETIMEDOUT' | 'ERR_PROXY' | 'HPE_UNEXPECTED_UPGRADE',
    message: string,
  ) {
    super(message);
  }
}

/** How long a connection stays after one end of it has finished, in milliseconds. */
export const lingerMs = 1500;

/**
 * Tracks the progress of one attempt, and ends it when it stalls. There is no overall timeout: an upload may take any
 * time as long as it progresses. A response has one, because it could trickle in for days.
 * @param isHeld - Whether the response is read into memory. A streamed one may also take any time as long as it
 * progresses.
 * @param bytesDelivered - Number of bytes that a stream has passed on.
 */
export function watchRequest(
  request: ClientRequest,
  call: Call,
  {connectMs, idleMs, requestMs}: TimeLimits,
  isHeld: (response: IncomingMessage) => boolean,
  bytesDelivered: () => number,
): void {
  const {attempt} = call;
  attempt.started = true;
  const stall = (what: string, ms: number) =>
    request.destroy(new ConnectionError('ETIMEDOUT', `${what} for ${ms / 1000} s`));
  const connecting = setTimeout(stall, connectMs, 'no connection', connectMs);
  let answering: NodeJS.Timeout | undefined;
  let moving: NodeJS.Timeout | undefined;
  const awaitAnswer = () => {
    answering ??= setTimeout(stall, requestMs, 'no complete response', requestMs);
  };
  const clear = () => {
    for (const timer of [connecting, answering, moving]) clearTimeout(timer);
  };
  request.once('close', clear);
  // Without a listener, Node silently drops the connection.
  request.once('upgrade', (_, socket) => {
    clear();
    socket.destroy();
    const message = 'the server switched protocols (101)';
    request.emit('error', new ConnectionError('HPE_UNEXPECTED_UPGRADE', message));
  });
  request.once('socket', (socket) => {
    let waitingFor = 'no progress while sending';
    let hasUnread = () => false;
    const stallUnlessUnread = (ms: number) => {
      if (!hasUnread()) stall(waitingFor, ms);
    };
    socket.on('timeout', () => stallUnlessUnread(idleMs));
    whenReady(socket, () => {
      clearTimeout(connecting);
      attempt.connected = true;
      socket.setTimeout(idleMs);
      // A server can keep its connection busy with an occasional byte while accepting none of the body.
      if (!attempt.sent) moving = whenUnchanged(() => attempt.chunks, requestMs, stallUnlessUnread);
    });
    request.once('finish', () => {
      attempt.sent = true;
      clearTimeout(moving);
      if (answering === undefined) socket.setTimeout(0);
      awaitAnswer();
    });
    request.once('response', (response) => {
      // A server may respond before it has read everything.
      awaitAnswer();
      const {statusCode = 0} = response;
      if (statusCode >= 200 && statusCode < 300 && !attempt.sent && !request.writableFinished)
        attempt.delivered = deliver(request, socket, attempt);
      waitingFor = 'no progress while receiving the response';
      socket.setTimeout(idleMs);
      if (!isHeld(response)) {
        clearTimeout(answering);
        clearTimeout(moving);
        // A slow reader pauses the connection, which is not the server's fault.
        hasUnread = () => response.readableLength > 0;
        // A server can also keep it busy with a response's framing and no content, such as zeros in a chunk size.
        moving = whenUnchanged(bytesDelivered, idleMs, stallUnlessUnread);
      }
      response.once('end', () => {
        if (attempt.delivered !== undefined) return;
        clear();
        socket.setTimeout(0);
        // A body that the server did not read must not keep the connection, and thus the process, alive.
        if (!request.writableFinished) socket.destroy();
      });
    });
  });
}

/**
 * Goes on with a body that the server has accepted before it was sent. Resolves to whether it read all of it: if it
 * closes the connection before that, the connection breaks.
 */
function deliver(request: ClientRequest, socket: Socket, attempt: Attempt): Promise<boolean> {
  // Otherwise, Node ends the connection when the answer is complete.
  request.shouldKeepAlive = true;
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    // Before Node's own listener, which would release the connection.
    request.prependOnceListener('finish', () => {
      request.shouldKeepAlive = false;
      if (socket.destroyed) return;
      socket.once('end', () => resolve(true));
      timer = setTimeout(resolve, lingerMs, true);
    });
    request.once('error', () => resolve(false));
    request.once('close', () => {
      clearTimeout(timer);
      // Some servers close as soon as they have read the last byte.
      resolve(attempt.sent);
    });
  });
}

/** Calls `stall` whenever the progress has not changed for so long. */
function whenUnchanged(progress: () => number, ms: number, stall: (ms: number) => void): NodeJS.Timeout {
  let last = progress();
  return setInterval(() => {
    if (progress() === last) stall(ms);
    last = progress();
  }, ms);
}

/** Ends a request whose response is too large to hold in memory. For a refusal, the status suffices. */
export function limitAnswer(request: ClientRequest, response: IncomingMessage, call: Call): void {
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received <= maxResponseBytes || request.destroyed) return;
    const {statusCode: status = 0} = response;
    const tooLong = createError('ERR_RESPONSE_INVALID', `The response is longer than ${maxResponseBytes} bytes.`, {
      status,
    });
    if (status >= 300) {
      request.destroy(new Error(tooLong.message));
      return;
    }
    call.failure = tooLong;
    request.destroy(tooLong);
  });
}

function whenReady(socket: Socket, ready: () => void): void {
  if (socket instanceof TLSSocket) socket.once('secureConnect', ready);
  else if (socket.connecting) socket.once('connect', ready);
  else ready();
}
