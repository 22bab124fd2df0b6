import type {ClientRequest, IncomingMessage} from 'node:http';
import {TLSSocket} from 'node:tls';
import type {Socket} from 'node:net';
import {createError} from '../../errors/index.js';
import type {TimeLimits} from '../time-limits.js';
import type {Attempt, HttpCall} from './attempt.js';

/** Maximum size of a response that is read into memory, in bytes. Streams are not limited. */
export const maxResponseBytes = 8 * 1024 * 1024;

/** No progress for too long, a proxy that opens no connection, or a server that switches protocols unasked. */
export class ConnectionError extends Error {
  constructor(
    readonly code: 'ECONNRESET' | 'ETIMEDOUT' | 'ERR_PROXY' | 'ERR_PROXY_FAILED' | 'HPE_UNEXPECTED_UPGRADE',
    message: string,
    /** The flag that allows more time, if a time limit ended it. */
    readonly flag?: '--connect-timeout' | '--idle-timeout' | '--request-timeout',
  ) {
    super(message);
  }
}

/** The error at the end of a time limit. `what` did not happen for so long. */
export function late(what: string, ms: number, flag: ConnectionError['flag']): ConnectionError {
  return new ConnectionError('ETIMEDOUT', `${what} for ${ms / 1000} s`, flag);
}

/** How long a connection stays after one end of it has finished, in milliseconds. */
export const lingerMs = 1500;

/**
 * Tracks the progress of one attempt, and ends it when it stalls. An upload and a stream may take any time as long as
 * they progress. What is read into memory has a limit, because it could trickle in for days.
 */
export function watchRequest(
  request: ClientRequest,
  call: HttpCall,
  {connectMs, idleMs, requestMs}: TimeLimits,
  isHeld: (response: IncomingMessage) => boolean,
  bytesDelivered: () => number,
): void {
  const {attempt} = call;
  attempt.started = true;
  const after = (what: string, ms: number, flag: ConnectionError['flag'], progress?: () => number) =>
    whenStill(ms, () => request.destroy(late(what, ms, flag)), progress);
  const connecting = after('no connection', connectMs, '--connect-timeout');
  let answering: NodeJS.Timeout | undefined;
  let moving: NodeJS.Timeout | undefined;
  const awaitAnswer = () => {
    answering ??= after('no complete response', requestMs, '--request-timeout');
  };
  const expectProgress = (of: string, progress: () => number) => {
    clearInterval(moving);
    moving = after(`no progress while ${of}`, idleMs, '--idle-timeout', progress);
  };
  const clear = () => {
    for (const timer of [connecting, answering, moving]) clearTimeout(timer);
    // What is written to a connection that has ended would count as progress.
    attempt.end();
  };
  request.once('error', clear).once('close', clear);
  // Without a listener, Node silently drops the connection.
  request.once('upgrade', (_, socket) => {
    clear();
    socket.destroy();
    const message = 'the server switched protocols (101)';
    request.emit('error', new ConnectionError('HPE_UNEXPECTED_UPGRADE', message));
  });
  request.once('socket', (socket) => {
    attempt.isKept = request.reusedSocket;
    whenReady(request, socket, () => {
      clearTimeout(connecting);
      attempt.connected = true;
      // Bytes that a server sends, such as interim answers, are no progress while it accepts none of the body.
      if (!attempt.sent) expectProgress('sending', () => attempt.chunks);
    });
    request.once('finish', () => {
      if (socket.destroyed) return;
      attempt.sent = true;
      if (answering === undefined) clearInterval(moving);
      awaitAnswer();
    });
    request.once('response', (response) => {
      // A server may respond before it has read everything.
      awaitAnswer();
      const {statusCode = 0} = response;
      if (statusCode >= 200 && statusCode < 300 && !attempt.sent && !request.writableFinished)
        attempt.delivered = deliver(request, socket, attempt);
      // Framing with no content, such as zeros in the size of a chunk, is no progress of a stream either. That of a
      // reader that is slow is not the server's.
      let waits = 0;
      const delivered = () => (response.readableLength > 0 ? (waits += 1) : waits + bytesDelivered());
      if (!isHeld(response)) clearTimeout(answering);
      const received = isHeld(response) ? () => socket.bytesRead + attempt.chunks : delivered;
      expectProgress('receiving the response', received);
      response.once('end', () => {
        clearTimeout(answering);
        if (attempt.delivered !== undefined) return;
        clear();
        // A body that the server did not read must not keep the connection, and thus the process, alive.
        if (!request.writableFinished) socket.destroy();
      });
    });
  });
}

/** Goes on with a body that the server accepted before it was sent. Resolves to whether it read all of it. */
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

/** Calls `stall` when the progress has not changed for so long. Time in which this process was busy does not count. */
export function whenStill(ms: number, stall: () => void, progress = () => 0): NodeJS.Timeout {
  const turn = Math.min(ms / 4, 1000);
  let [last, still] = [progress(), 0];
  return setInterval(() => {
    const next = progress();
    still = next === last ? still + turn : 0;
    last = next;
    if (still >= ms) stall();
  }, turn);
}

/** Ends a request whose response is too large to hold in memory. For a refusal, the status suffices. */
export function limitAnswer(request: ClientRequest, response: IncomingMessage, call: HttpCall): void {
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

function whenReady(request: ClientRequest, socket: Socket, ready: () => void): void {
  if (request.reusedSocket) ready();
  else if (socket instanceof TLSSocket) socket.once('secureConnect', ready);
  else if (socket.connecting) socket.once('connect', ready);
  // One that could not even try is destroyed already.
  else if (!socket.destroyed) ready();
}
