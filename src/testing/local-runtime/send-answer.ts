import {once} from 'node:events';
import {createReadStream} from 'node:fs';
import type {ServerResponse} from 'node:http';
import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type {Answer, FileBody} from './answer.js';
import type {Call} from './context.js';
import type {AnswerFault} from './fault-book.js';

/**
 * Sends an answer. While the request's body is still arriving, the connection ends with the answer: after the client has
 * had time to read it, or at once when `fault` is an early status.
 */
export async function sendAnswer(
  {request, body: requestBody}: Pick<Call, 'request' | 'body'>,
  response: ServerResponse,
  {answer, fault}: {readonly answer: Answer; readonly fault: AnswerFault | undefined},
): Promise<void> {
  const {status, headers, body} = answer;
  try {
    if (fault?.action === 'drop') {
      request.socket.resetAndDestroy();
      return;
    }
    const isEarly = !requestBody.isComplete;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
    response.writeHead(status, {
      ...headers,
      ...(status === 204 || status === 304 ? {} : {'content-length': length}),
      ...(isEarly ? {connection: 'close'} : {}),
    });
    if (fault?.action === 'truncate') {
      await sendPart(response, body, Math.min(fault.after ?? Math.floor(length / 2), length));
      return;
    }
    if (request.method !== 'HEAD' && body !== undefined) await sendBody(response, body, length);
    response.flushHeaders();
    if (isEarly && fault?.action !== 'status') await requestBody.linger();
    response.end();
  } finally {
    if (typeof body === 'object') await body.file.close();
  }
}

async function sendBody(response: ServerResponse, body: string | FileBody, length: number): Promise<void> {
  if (typeof body === 'string') response.write(body);
  else if (length > 0) await pipeline(readPart(body, length), response, {end: false});
}

/** Sends the first bytes of a body, and ends the connection. */
async function sendPart(response: ServerResponse, body: string | FileBody | undefined, length: number): Promise<void> {
  response.flushHeaders();
  if (typeof body === 'string') response.write(Buffer.from(body).subarray(0, length));
  else if (body && length > 0) await pipeline(readPart(body, length), response, {end: false});
  response.socket?.destroySoon();
  if (!response.closed) await once(response, 'close');
}

function readPart({file, start}: FileBody, length: number): Readable {
  return createReadStream('', {fd: file, start, end: start + length - 1, autoClose: false});
}
