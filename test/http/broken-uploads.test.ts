import type {Socket} from 'node:net';
import {describe, expect, test} from 'vitest';
import {createRequestBodies, type BodyOptions, type RetryEvent, type UploadProgress} from '../../src/http/index.js';
import type {HttpClientOptions} from '../../src/http/client.js';
import {startShapingProxy} from './shaping-proxy.js';
import {quick, rejection, testClient, zeroSource} from './test-client.js';
import {refuseFirst, startRecordingServer, startTcpServer} from './with-server.js';

const megabyte = 1024 * 1024;
/** More than the buffers of a connection on this machine take. */
const size = 16 * megabyte;

const uploads: Readonly<Record<string, (onProgress?: (event: UploadProgress) => void) => BodyOptions>> = {
  multipart: (onProgress) =>
    createRequestBodies(onProgress).multipart({
      file: {name: 'bundle', filename: 'bundle.tar.gz', contentType: 'application/gzip', source: zeroSource(size)},
      fields: {message: 'one'},
    }),
  'base64 in JSON': (onProgress) =>
    createRequestBodies(onProgress).base64Json({value: {message: 'one'}, field: 'data', source: zeroSource(size)}),
};
const multipart = () => uploads['multipart']?.() as BodyOptions;

/** A client with the retries that it reported. */
async function clientFor(options: Partial<HttpClientOptions> = {}) {
  const retries: RetryEvent[] = [];
  const {http} = await testClient({onRetry: (event) => retries.push(event), ...options});
  return {http, retries};
}

/** A server that answers each connection so after its first bytes, and reads no more. */
async function startRefusing(answers: readonly string[]) {
  let connections = 0;
  const server = await startTcpServer((socket) => {
    socket.once('data', () => {
      socket.pause();
      const answer = answers[connections] ?? answers.at(-1);
      connections += 1;
      socket.end(`HTTP/1.1 ${String(answer)}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`);
    });
  });
  return {...server, connections: () => connections};
}

describe.each(Object.entries(uploads))('an upload (%s) that breaks off', (_, upload) => {
  test('is sent again from the first byte: after a reset, then after a stall', async () => {
    const server = await startRecordingServer(refuseFirst(0));
    const network = await startShapingProxy(server, {
      breaks: (connection) =>
        connection > 2 ? undefined : {afterBytes: 2 * megabyte, by: connection === 1 ? 'reset' : 'stall'},
    });
    const progress: UploadProgress[] = [];
    const {http, retries} = await clientFor({timeouts: {idleMs: 1000}});
    const body = upload((event) => progress.push(event));
    expect(await http.post(`${network.origin}/x`, body)).toMatchObject({statusCode: 201});
    expect(network.connections()).toBe(3);
    expect(server.requests.map((request) => String(request.body.length))).toEqual([body.headers['content-length']]);
    expect(retries).toMatchObject([
      {attempt: 1, maxRetries: 2, reason: 'the connection was closed'},
      {attempt: 2, maxRetries: 2, reason: 'no progress while sending for 1 s'},
    ]);
    const starts = progress.filter(({transferred}) => transferred === 0).map(({attempt}) => attempt);
    expect(starts).toEqual([1, 2, 3]);
    expect(progress.at(-1)).toMatchObject({transferred: progress.at(-1)?.total, attempt: 3});
  });

  test('breaks off each time: nothing was carried out, and the error has the flag for more', async () => {
    const server = await startRecordingServer(refuseFirst(0));
    const network = await startShapingProxy(server, {breaks: () => ({afterBytes: megabyte, by: 'reset'})});
    const {http, retries} = await clientFor();
    const error = await rejection(http.post(`${network.origin}/x`, upload()));
    expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6});
    expect(error.suggestions).toContain('To allow more retries, set uploadRetries in mycli.config.');
    expect([network.connections(), retries.length, server.requests.length]).toEqual([3, 2, 0]);
  });
});

test.each([
  ['ends', (socket: Socket) => void socket.end()],
  ['is reset', (socket: Socket) => void socket.resetAndDestroy()],
  ['has a refusal', (socket: Socket) => void socket.end('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n')],
])('an upload whose connection %s makes no more progress until it is sent again', async (_, breakOff) => {
  const server = await startTcpServer((socket) => {
    socket.once('data', () => breakOff(socket.pause()));
  });
  let transferred = 0;
  const progress = createRequestBodies((event) => (transferred = Math.max(transferred, event.transferred)));
  const body = progress.base64Json({value: {}, field: 'data', source: zeroSource(size)});
  const {http, retries} = await clientFor({rateLimit: {...quick, baseDelayMs: 300, maxDelayMs: 300}, uploadRetries: 1});
  expect(await rejection(http.post(`${server.origin}/x`, body))).toMatchObject({code: expect.any(String) as string});
  expect(retries).toHaveLength(1);
  expect(transferred).toBeLessThan(size);
});

describe('an answer while the body is being sent', () => {
  test.each([
    ['408 Request Timeout', 'ERR_REJECTED'],
    ['502 Bad Gateway', 'ERR_SERVER'],
    ['503 Service Unavailable', 'ERR_SERVER'],
    ['504 Gateway Timeout', 'ERR_SERVER'],
  ])('of a gateway, %s: the upload is sent again, and if that stays, nothing was changed', async (answer, code) => {
    const server = await startRefusing([answer]);
    const {http, retries} = await clientFor();
    const error = await rejection(http.post(`${server.origin}/x`, multipart()));
    expect(error).toMatchObject({code, exitCode: 7});
    expect(error.message).toMatch(/^POST \/x was answered with .* before all of it was sent, so nothing was changed/);
    expect(error.suggestions.join(' ')).not.toMatch(/check before/i);
    expect(error.suggestions).toContain('To allow more retries, set uploadRetries in mycli.config.');
    expect(retries.map(({attempt, maxRetries, reason}) => [attempt, maxRetries, reason])).toEqual([
      [1, 2, answer],
      [2, 2, answer],
    ]);
    expect(server.connections()).toBe(3);
  });

  test.each([
    ['500 Internal Server Error', 'ERR_SERVER'],
    ['507 Insufficient Storage', 'ERR_SERVER'],
    ['503 Service Unavailable\r\nx-mrt-read-only: true', 'ERR_MAINTENANCE'],
    ['413 Payload Too Large', 'ERR_REJECTED'],
  ])('of the service, %j: it is not sent again, and nothing was changed', async (answer, code) => {
    const server = await startRefusing([answer]);
    const {http, retries} = await clientFor();
    const error = await rejection(http.post(`${server.origin}/x`, multipart()));
    expect(error).toMatchObject({code, exitCode: 7});
    expect(error.suggestions.join(' ')).not.toMatch(/check before/i);
    expect([server.connections(), retries]).toEqual([1, []]);
  });

  test('that accepts the upload, which then breaks off: the outcome is unknown, and it is not sent again', async () => {
    const server = await startRefusing(['201 Created']);
    const {http, retries} = await clientFor({timeouts: {idleMs: 300}});
    const error = await rejection(http.post(`${server.origin}/x`, multipart()));
    expect(error).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN', exitCode: 10});
    expect([server.connections(), retries]).toEqual([1, []]);
  });
});

test('an upload is sent once if uploadRetries is 0', async () => {
  const server = await startRefusing(['502 Bad Gateway']);
  const {http, retries} = await clientFor({uploadRetries: 0});
  expect(await rejection(http.post(server.origin, multipart()))).toMatchObject({code: 'ERR_SERVER'});
  expect([server.connections(), retries]).toEqual([1, []]);
});

test('raw bytes are not sent again: a service may have kept those that it got', async () => {
  const server = await startRefusing(['502 Bad Gateway']);
  const {http, retries} = await clientFor();
  const body = createRequestBodies().file(zeroSource(size));
  expect(await rejection(http.put(server.origin, body))).toMatchObject({code: 'ERR_SERVER', exitCode: 7});
  expect([server.connections(), retries]).toEqual([1, []]);
});
