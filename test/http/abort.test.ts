import {describe, expect, test} from 'vitest';
import {createRequestBodies} from '../../src/http/index.js';
import {reasonOf, testClient, zeroSource} from './test-client.js';
import {refuseFirst, startRecordingServer, startServer, startTcpServer} from './with-server.js';

const bodies = createRequestBodies();
const slow = {baseDelayMs: 25_000};

describe('a call that is aborted rejects with the very reason', () => {
  test('during the wait for a rate limit, and nothing more is sent', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const server = await startRecordingServer(refuseFirst(Infinity));
    const {http} = await testClient({
      rateLimit: slow,
      signal: controller.signal,
      onRetry: () => void setTimeout(() => controller.abort(reason), 5),
    });
    expect(await reasonOf(http.post(server.origin, {json: {}}))).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('while the body is being sent, and the file is closed', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const server = await startTcpServer((socket) => socket.once('data', () => controller.abort(reason)).resume());
    const {http} = await testClient({signal: controller.signal});
    const source = zeroSource(500 * 1024 * 1024);
    const stream = source.createReadStream();
    const closed = new Promise((resolve) => stream.once('close', resolve));
    const body = bodies.file({size: source.size, createReadStream: () => stream});
    expect(await reasonOf(http.post(server.origin, body))).toBe(reason);
    await closed;
    expect(stream.destroyed).toBe(true);
  });

  test('through the signal of the call, beside that of the client', async () => {
    const [ofClient, ofCall] = [new AbortController(), new AbortController()];
    const reason = new Error('stop');
    const server = await startServer((request) => (request.url === '/call' ? ofCall : ofClient).abort(reason));
    const {http} = await testClient({signal: ofClient.signal});
    expect(await reasonOf(http.get(`${server.origin}/call`, {signal: ofCall.signal}))).toBe(reason);
    expect(await reasonOf(http.get(`${server.origin}/client`, {signal: new AbortController().signal}))).toBe(reason);
  });

  test('through a signal with a time-out', async () => {
    const server = await startServer(() => undefined);
    const {http} = await testClient();
    const signal = AbortSignal.timeout(50);
    expect(await reasonOf(http.post(server.origin, {signal, json: {}}))).toBe(signal.reason);
  });
});
