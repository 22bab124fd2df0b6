import type {ClientRequest, IncomingMessage} from 'node:http';
import {TLSSocket} from 'node:tls';
import type {Socket} from 'node:net';
import {createError} from '../../errors/index.js';
import type {Attempt, Call} from './call.js';

/** Limits of the client. */
export interface ConnectionLimits {
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly maxResponseBytes: number;
}

/** There was no progress for too long. */
export class StallError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The proxy did not open a connection. */
export class ProxyError extends Error {
  readonly code = 'ERR_PROXY';
}

/** The server switched to another protocol without being asked to. */
class SwitchedError extends Error {
  readonly code = 'HPE_UNEXPECTED_UPGRADE';
}

/**
 * Tracks the progress of one attempt, and ends it when it stalls. There is no overall timeout: an upload may take any
 * time as long as it progresses. A response has one, because it could trickle in for days.
 * @param isHeld - Whether the response is read into memory. A streamed one may also take any time as long as it
 * progresses.
 * @param handedOn - Number of bytes that a stream has passed on.
 */
export function watchRequest(
  request: ClientRequest,
  call: Call,
  limits: ConnectionLimits,
  isHeld: (response: IncomingMessage) => boolean,
  handedOn: () => number,
): void {
  const {attempt} = call;
  attempt.started = true;
  const stall = (what: string, ms: number) => request.destroy(new StallError(`${what} for ${ms / 1000} s`));
  const connecting = setTimeout(stall, limits.connectTimeoutMs, 'no connection', limits.connectTimeoutMs);
  let answering: NodeJS.Timeout | undefined;
  const awaitAnswer = () => {
    answering ??= setTimeout(stall, limits.responseTimeoutMs, 'no complete response', limits.responseTimeoutMs);
  };
  let stopWatchingBody = (): void => undefined;
  let stopWatchingAnswer = (): void => undefined;
  const clear = () => {
    clearTimeout(connecting);
    clearTimeout(answering);
    stopWatchingBody();
    stopWatchingAnswer();
  };
  request.once('close', clear);
  // Without a listener, Node silently drops the connection.
  request.once('upgrade', (_, socket) => {
    clear();
    socket.destroy();
    request.emit('error', new SwitchedError('the server switched protocols (101)'));
  });
  request.once('socket', (socket) => {
    let [waitingFor, ms] = ['no progress while sending', limits.idleTimeoutMs];
    const expect = (what: string, timeoutMs: number) => {
      [waitingFor, ms] = [what, timeoutMs];
      socket.setTimeout(timeoutMs);
    };
    let hasUnread = () => false;
    socket.on('timeout', () => {
      if (!hasUnread()) stall(waitingFor, ms);
    });
    whenReady(socket, () => {
      clearTimeout(connecting);
      attempt.connected = true;
      expect(waitingFor, ms);
      if (!attempt.sent)
        stopWatchingBody = watchBody(socket, attempt, limits.responseTimeoutMs, () => stall(waitingFor, ms));
    });
    request.once('finish', () => {
      attempt.sent = true;
      stopWatchingBody();
      if (answering === undefined) socket.setTimeout(0);
      awaitAnswer();
    });
    request.once('response', (response) => {
      // A server may respond before it has read everything.
      awaitAnswer();
      expect('no progress while receiving the response', limits.idleTimeoutMs);
      if (!isHeld(response)) {
        clearTimeout(answering);
        // A slow reader pauses the connection, which is not the server's fault.
        hasUnread = () => response.readableLength > 0;
        stopWatchingAnswer = watchAnswer(response, handedOn, limits.idleTimeoutMs, () => stall(waitingFor, ms));
      }
      response.once('end', () => {
        clear();
        socket.setTimeout(0);
        // A body that the server did not read must not keep the connection, and thus the process, alive.
        if (!request.writableFinished) socket.destroy();
      });
    });
  });
}

/**
 * A server can keep its connection busy with an occasional byte while accepting none of the body, so what it sends is
 * not progress. A silent server is left to the socket's own timeout, which sees progress within a chunk. With TLS only
 * the payload counts as read, so session tickets do not.
 */
function watchBody(socket: Socket, attempt: Attempt, timeoutMs: number, stall: () => void): () => void {
  let seen = {bytesRead: socket.bytesRead, chunks: attempt.chunks};
  const timer = setInterval(() => {
    if (attempt.chunks === seen.chunks && socket.bytesRead > seen.bytesRead) stall();
    seen = {bytesRead: socket.bytesRead, chunks: attempt.chunks};
  }, timeoutMs);
  return () => clearInterval(timer);
}

/**
 * A server can also keep its connection busy with a response's framing and no content, such as zeros in a chunk size. A
 * slow reader leaves bytes unread.
 */
function watchAnswer(
  response: IncomingMessage,
  handedOn: () => number,
  timeoutMs: number,
  stall: () => void,
): () => void {
  let seen = handedOn();
  const timer = setInterval(() => {
    if (handedOn() === seen && response.readableLength === 0) stall();
    seen = handedOn();
  }, timeoutMs);
  return () => clearInterval(timer);
}

/** Ends a request whose response is too large to hold in memory. For a refusal, the status suffices. */
export function limitAnswer(request: ClientRequest, response: IncomingMessage, call: Call, maxBytes: number): void {
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received <= maxBytes || request.destroyed) return;
    const {statusCode: status = 0} = response;
    const tooLong = createError('ERR_RESPONSE_INVALID', `The response is longer than ${maxBytes} bytes.`, {status});
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
