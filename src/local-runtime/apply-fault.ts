import {once} from 'node:events';
import type {ServerResponse} from 'node:http';
import {alreadySent, HttpFailure} from './answer.js';
import type {Call, Protocol} from './context.js';
import type {AnswerFault} from './faults.js';

/**
 * Applies a fault to a request. Returns the response, or undefined if the request is to be answered as usual: what it
 * sends is then cut off.
 */
export async function applyFault(call: Call, fault: AnswerFault, protocol: Protocol): Promise<Response | undefined> {
  const {request, response, body} = call;
  if (fault.action === 'truncate') {
    truncate(response, fault.after);
    return undefined;
  }
  if (fault.action === 'drop') {
    dropInstead(response);
    return undefined;
  }
  await body.discard(fault.after ?? Infinity);
  if (fault.action === 'status') {
    const {status, retryAfter, location} = fault;
    const headers = {
      ...(retryAfter !== undefined && {'retry-after': retryAfter}),
      ...(location !== undefined && {location}),
    };
    return protocol.failure(new HttpFailure(status, `Injected fault: ${status}.`, headers));
  }
  if (fault.action === 'reset') request.socket.resetAndDestroy();
  if (!response.closed) await once(response, 'close');
  return alreadySent;
}

/** Lets a response end its connection after some bytes of its body, by default half of them. */
function truncate(response: ServerResponse, after: number | undefined): void {
  const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
  let left = after;
  const send = (chunk: unknown): boolean => {
    left ??= Math.floor(Number(response.getHeader('content-length') ?? 0) / 2);
    const part = Buffer.from(chunk as Uint8Array).subarray(0, left);
    left -= part.length;
    const isAccepted = write(part);
    if (left === 0) response.socket?.destroySoon();
    return isAccepted;
  };
  response.write = send as typeof response.write;
  response.end = ((chunk?: unknown) => {
    send(chunk instanceof Uint8Array || typeof chunk === 'string' ? chunk : '');
    response.socket?.destroySoon();
    return response;
  }) as typeof response.end;
}

/** Resets the connection as soon as anything is to be sent. */
function dropInstead(response: ServerResponse): void {
  const drop = (): ServerResponse => {
    response.socket?.resetAndDestroy();
    return response;
  };
  response.writeHead = drop;
  response.write = () => false;
  response.end = drop;
}
