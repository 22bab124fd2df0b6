import {fork} from 'node:child_process';
import {once} from 'node:events';
import net from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {makeFolder} from '../folder.js';
import {testClient} from './test-client.js';
import {sendJson, startServer} from './with-server.js';

/** A server that answers, until it is stopped: then it accepts no connection, as if every packet were lost. */
const program = `
const server = require('node:http').createServer((_, response) => response.end('{}'));
server.listen({host: process.argv[2], port: Number(process.argv[3]), backlog: 1}, () => process.send(server.address().port));
`;

interface FarHost {
  readonly port: number;
  /** Lets it accept what waits. */
  readonly wake: () => void;
}

/** Starts a host whose queue of connections is full. */
async function startFarHost(address: string, port = 0): Promise<FarHost> {
  const folder = await makeFolder({'server.cjs': program});
  const child = fork(join(folder, 'server.cjs'), [address, String(port)]);
  const waiting: net.Socket[] = [];
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
  });
  const [own] = (await once(child, 'message')) as [number];
  child.kill('SIGSTOP');
  for (;;) {
    const socket = net.connect(own, address).on('error', () => undefined);
    waiting.push(socket);
    const isFull = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 200, true)),
    ]);
    if (isFull) return {port: own, wake: () => void child.kill('SIGCONT')};
  }
}

// Elsewhere, 127.0.0.2 is no address of this machine.
test.runIf(process.platform === 'linux')(
  'the first address of a host has seconds to answer, though another one follows',
  async () => {
    const {port, wake} = await startFarHost('127.0.0.2');
    await startFarHost('127.0.0.3', port);
    const {http} = await testClient({timeouts: {connectMs: 30_000}});
    const addresses = ['127.0.0.2', '127.0.0.3'].map((address) => ({address, family: 4}));
    const dnsLookup = (_: string, __: unknown, found: (error: null, all: typeof addresses) => void) => {
      found(null, addresses);
      // The connection has been asked for, and the host has not noticed.
      setImmediate(wake);
    };
    const answer = await http.get(`http://far.example.test:${port}/`, {once: true, dnsLookup} as object);
    expect(answer.statusCode).toBe(200);
  },
);

describe('a connection', () => {
  /** A server that tells over which of its connections each request came, and how many are open. */
  async function startCounting(onRequest: (socket: net.Socket, requests: number) => boolean = () => true) {
    const sockets = new Map<net.Socket, number>();
    const seen: string[] = [];
    const open = new Set<net.Socket>();
    const server = await startServer((request, response) => {
      const {socket, method} = request;
      const requests = (sockets.get(socket) ?? 0) + 1;
      sockets.set(socket, requests);
      open.add(socket.once('close', () => open.delete(socket)));
      seen.push(`${String(method)} ${String([...sockets.keys()].indexOf(socket) + 1)}`);
      if (onRequest(socket, requests)) request.resume().once('end', () => sendJson(response, 200, {}));
    });
    return {...server, seen, open};
  }

  test('is kept for the next read, and is no write’s', async () => {
    const server = await startCounting();
    const {http} = await testClient();
    for (const method of ['GET', 'GET', 'POST', 'GET', 'DELETE', 'PUT'] as const) await http(server.origin, {method});
    await http.post(server.origin, {repeatable: true} as object);
    expect(server.seen).toEqual(['GET 1', 'GET 1', 'POST 2', 'GET 1', 'DELETE 3', 'PUT 4', 'POST 1']);
    await expect.poll(() => server.open.size).toBe(0);
  });

  test('that the server closes as the next read comes is replaced, which is told to nobody', async () => {
    const server = await startCounting((socket, requests) => {
      if (requests === 1) return true;
      socket.resetAndDestroy();
      return false;
    });
    const {http, remarks} = await testClient({rateLimit: {maxRetries: 0}});
    for (let count = 0; count < 3; count += 1) expect((await http.get(server.origin)).statusCode).toBe(200);
    expect(server.seen).toEqual(['GET 1', 'GET 1', 'GET 2', 'GET 3']);
    expect(remarks).toEqual([]);
  });

  test('that is made while this process is busy is not given up', async () => {
    const server = await startCounting();
    const logged: string[] = [];
    const log = (message: string) => {
      logged.push(message);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    };
    const {http} = await testClient({timeouts: {connectMs: 100}, logger: {debug: log, info: log, warn: log}});
    await http.post(server.origin, {json: {}});
    expect(server.seen).toEqual(['POST 1']);
    expect(logged.join()).not.toContain('no connection');
  });

  test('of a read that is sent once at most is its own', async () => {
    const server = await startCounting();
    const {http} = await testClient();
    for (let count = 0; count < 2; count += 1) await http.get(server.origin, {once: true} as object);
    expect(server.seen).toEqual(['GET 1', 'GET 2']);
  });
});
