import net, {type Socket} from 'node:net';
import {Transform} from 'node:stream';
import {setTimeout as sleep} from 'node:timers/promises';
import {startOn, type TestServer} from './with-server.js';

/** How a network is between a client and a server. */
export interface Network {
  /** Bytes per second, each way. @default unlimited */
  readonly rate?: number;
  /** Milliseconds that each packet takes. @default 0 */
  readonly delayMs?: number;
  /** What happens to a connection once so many bytes have come from the client. */
  readonly breaks?: (connection: number) => {readonly afterBytes: number; readonly by: 'reset' | 'stall'} | undefined;
}

/** A network on loopback, with how often it was connected to. */
export interface ShapingProxy extends TestServer {
  readonly connections: () => number;
}

/** Starts a relay to a server, over which connections are as slow, as far and as unreliable as `network` says. */
export async function startShapingProxy(server: TestServer, network: Network = {}): Promise<ShapingProxy> {
  const {rate = Infinity, delayMs = 0, breaks = () => undefined} = network;
  let connections = 0;
  const relay = net.createServer((client) => {
    connections += 1;
    const end = breaks(connections);
    const onward = net.connect(server.port, '127.0.0.1');
    const close = () => {
      client.destroy();
      onward.destroy();
    };
    for (const socket of [client, onward]) socket.setNoDelay().on('error', close);
    client.on('close', close);
    // The handshake takes a way there and back, before anything is sent.
    const handshake = 2 * delayMs;
    client.pipe(slowed(rate, delayMs, handshake)).pipe(onward);
    onward.pipe(slowed(rate, delayMs)).pipe(client);
    if (end !== undefined) breakOff(client, end, close);
  });
  return {...(await startOn(relay, 'http')), connections: () => connections};
}

/** Passes chunks on at a rate, each later by a delay; the first by one of its own. */
function slowed(rate: number, delayMs: number, firstMs = 0): Transform {
  let free = performance.now() + firstMs;
  return new Transform({
    highWaterMark: 64 * 1024,
    async transform(chunk: Buffer, _, done) {
      free = Math.max(free, performance.now()) + (chunk.length / rate) * 1000;
      await sleep(Math.max(0, free - performance.now()));
      // The next one may be under way before this one has arrived.
      if (delayMs === 0) this.push(chunk);
      else setTimeout(() => this.destroyed || this.push(chunk), delayMs);
      done();
    },
    flush(done) {
      setTimeout(done, delayMs);
    },
  });
}

function breakOff(client: Socket, {afterBytes, by}: {afterBytes: number; by: 'reset' | 'stall'}, close: () => void) {
  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received < afterBytes) return;
    if (by === 'stall') client.pause().unpipe();
    else {
      client.resetAndDestroy();
      close();
    }
  });
}
