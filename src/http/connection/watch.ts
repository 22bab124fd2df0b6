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

/** Nothing moved for too long. */
export class StallError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The proxy would not open a connection. */
export class ProxyError extends Error {
  readonly code = 'ERR_PROXY';
}

/** The server left HTTP for another protocol, which nobody had asked for. */
class SwitchedError extends Error {
  readonly code = 'HPE_UNEXPECTED_UPGRADE';
}

/**
 * Follows one attempt: notes how far it has come, and ends it when it stalls. There is no total time-out: an upload may
 * take as long as it moves. An answer has one, for it may drip for days.
 * @param isHeld - Whether an answer is read into memory; one that is handed on in a stream takes as long as it moves,
 * too.
 * @param handedOn - Bytes of the answer that a stream has handed on.
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
  // Without a listener Node drops the connection and tells nobody.
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
      // A server may answer before it has read everything.
      awaitAnswer();
      expect('no progress while receiving the response', limits.idleTimeoutMs);
      if (!isHeld(response)) {
        clearTimeout(answering);
        // A reader that is slow pauses the connection: that is not the fault of the server.
        hasUnread = () => response.readableLength > 0;
        stopWatchingAnswer = watchAnswer(response, handedOn, limits.idleTimeoutMs, () => stall(waitingFor, ms));
      }
      response.once('end', () => {
        clear();
        socket.setTimeout(0);
        // What the server did not want to read must not keep the connection, and with it the process.
        if (!request.writableFinished) socket.destroy();
      });
    });
  });
}

/**
 * A server that sends a byte now and then keeps its connection busy without taking any of the body: what it sends is no
 * progress. One that sends nothing is left to the socket's own time-out, which sees the progress within a chunk. Of TLS
 * only what it carries counts as read, so tickets of a session do not.
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
 * A server that sends the frame of an answer and nothing in it (zeros of a chunk's size for example) keeps its
 * connection busy, too. A reader that is slow leaves bytes unread.
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

/** Ends a request whose answer is longer than anyone wants to hold in memory. Of a refusal the status is enough. */
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
