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
 * take as long as it moves.
 */
export function watchRequest(request: ClientRequest, call: Call, limits: ConnectionLimits): void {
  const {attempt} = call;
  attempt.started = true;
  const stall = (what: string, ms: number) => request.destroy(new StallError(`${what} for ${ms / 1000} s`));
  const connecting = setTimeout(stall, limits.connectTimeoutMs, 'no connection', limits.connectTimeoutMs);
  request.once('close', () => clearTimeout(connecting));
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
      expect('no answer', limits.responseTimeoutMs);
    });
    request.once('response', (response) => {
      expect('no progress while receiving the answer', limits.idleTimeoutMs);
      response.once('end', () => socket.setTimeout(0));
    });
  });
}

/** Ends a request whose answer is longer than anyone wants to hold in memory. */
export function limitAnswer(request: ClientRequest, response: IncomingMessage, call: Call, maxBytes: number): void {
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received <= maxBytes || call.failure !== undefined) return;
    call.failure = createError('ERR_RESPONSE_INVALID', `the answer is longer than ${maxBytes} bytes`, {
      status: response.statusCode,
    });
    request.destroy(call.failure);
  });
}

function whenReady(socket: Socket, ready: () => void): void {
  if (socket instanceof TLSSocket) socket.once('secureConnect', ready);
  else if (socket.connecting) socket.once('connect', ready);
  else ready();
}
