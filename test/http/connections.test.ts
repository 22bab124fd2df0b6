import {fork} from 'node:child_process';
import {once} from 'node:events';
import net from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {makeFolder} from '../folder.js';
import {testClient} from './test-client.js';

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
