import {once} from 'node:events';
import type {ServerResponse} from 'node:http';
import {setTimeout as delay} from 'node:timers/promises';
import {alreadySent, HttpFailure} from './answer.js';
import type {Call, Protocol} from './runtime-context.js';
import type {FaultRule} from './faults.js';

/** Applies the faults for a request. Returns undefined if it is to be answered as usual, perhaps cut off. */
export async function applyFaults(call: Call, protocol: Protocol): Promise<Response | undefined> {
  const {context, request, response, body} = call;
  const take = <Action extends FaultRule['action']>(...actions: readonly Action[]) => {
    const fault = context.faults.take(call.route, ...actions);
    call.fault = fault?.action ?? call.fault;
    return fault;
  };
  const latency = take('latency');
  if (latency) {
    await Promise.race([delay(latency.milliseconds, undefined, {ref: false}), once(response, 'close')]);
    if (response.closed) return alreadySent;
  }
  const fault = take('status', 'reset', 'hang', 'truncate', 'drop');
  if (fault?.action === 'truncate') truncate(response, fault.after);
  if (fault?.action === 'drop') dropInstead(response);
  if (fault === undefined || fault.action === 'truncate' || fault.action === 'drop') return undefined;
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
