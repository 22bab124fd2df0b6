import type {ClientRequest, IncomingMessage} from 'node:http';
import {TLSSocket} from 'node:tls';
import type {Socket} from 'node:net';
import {createError} from '../../errors/index.js';
import type {Call} from './call.js';

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

/**
 * Follows one attempt: notes how far it has come, and ends it when it stalls. There is no total time-out: an upload may
 * take as long as it moves. An answer has one, for it may drip for days.
 * @param isHeld - Whether an answer is read into memory; one that is handed on in a stream takes as long as it moves, too.
 */
export function watchRequest(
  request: ClientRequest,
  call: Call,
  limits: ConnectionLimits,
  isHeld: (response: IncomingMessage) => boolean,
): void {
  const {attempt} = call;
  attempt.started = true;
  const stall = (what: string, ms: number) => request.destroy(new StallError(`${what} for ${ms / 1000} s`));
  const connecting = setTimeout(stall, limits.connectTimeoutMs, 'no connection', limits.connectTimeoutMs);
  let answering: NodeJS.Timeout | undefined;
  const awaitAnswer = () => {
    answering ??= setTimeout(stall, limits.responseTimeoutMs, 'no whole answer', limits.responseTimeoutMs);
  };
  request.once('close', () => {
    clearTimeout(connecting);
    clearTimeout(answering);
  });
  request.once('proxyConnect', (answer: {statusCode?: number; statusText?: string}) => {
    const {statusCode = 200, statusText = ''} = answer;
    if (statusCode !== 200) request.destroy(new ProxyError(`the proxy answered ${statusCode} ${statusText}`.trim()));
  });
  request.once('socket', (socket) => {
    let [waitingFor, ms] = ['no progress while sending', limits.idleTimeoutMs];
    const expect = (what: string, timeoutMs: number) => {
      [waitingFor, ms] = [what, timeoutMs];
      socket.setTimeout(timeoutMs);
    };
    socket.on('timeout', () => stall(waitingFor, ms));
    whenReady(socket, () => {
      clearTimeout(connecting);
      attempt.connected = true;
      expect(waitingFor, ms);
    });
    request.once('finish', () => {
      attempt.sent = true;
      if (answering === undefined) socket.setTimeout(0);
      awaitAnswer();
    });
    request.once('response', (response) => {
      // A server may answer before it has read everything.
      awaitAnswer();
      if (!isHeld(response)) clearTimeout(answering);
      expect('no progress while receiving the answer', limits.idleTimeoutMs);
      response.once('end', () => {
        clearTimeout(answering);
        socket.setTimeout(0);
      });
    });
  });
}

/** Ends a request whose answer is longer than anyone wants to hold in memory. Of a refusal the status is enough. */
export function limitAnswer(request: ClientRequest, response: IncomingMessage, call: Call, maxBytes: number): void {
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received <= maxBytes || request.destroyed) return;
    const {statusCode: status = 0} = response;
    const tooLong = createError('ERR_RESPONSE_INVALID', `the answer is longer than ${maxBytes} bytes`, {status});
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
