import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import {startRuntime} from './with-runtime.js';

/** Connects and begins to say something. */
async function begin(origin: string, said: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(said);
  return socket;
}

test('a connection on which no request arrives is closed, and one that is idle after a request is not', async () => {
  const {runtime} = await startRuntime({stallSeconds: 0.5});
  const origins = [runtime.origin, runtime.appsOrigin];
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const idle = await begin(runtime.appsOrigin, request);
  await once(idle, 'data');
  const stalled = origins.flatMap((origin) => ['', 'GET / HTTP/1.1\r\nHost: lo'].map((said) => begin(origin, said)));
  for (const socket of await Promise.all(stalled)) {
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 [^]*\r\n\r\nNo complete request has arrived in time\.\n$/);
  }
  idle.write(request);
  expect(String(await once(idle, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
});

test('headers that are too large are refused with advice, which reaches a client that sends all of them first', async () => {
  const {runtime} = await startRuntime();
  for (const origin of [runtime.origin, runtime.appsOrigin]) {
    const socket = connect({port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen: true});
    onTestFinished(() => void socket.destroy());
    const cookies = 'x'.repeat(10_000_000);
    // A server that closed at once would answer this with a reset.
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject).write(`GET / HTTP/1.1\r\nHost: localhost\r\nCookie: a=${cookies}`, () => {
        resolve();
      });
    });
    expect(await text(socket)).toMatch(
      /^HTTP\/1\.1 431 [^]*larger than 16 KiB[^]*Delete the cookies .* localhost instead/,
    );
  }
});

test.each([
  ['nonsense', 'nonsense\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [
    'a body in chunks without their sizes',
    'POST /api/oauth2/token HTTP/1.1\r\nHost: localhost\r\n{more}\r\n\r\nzz\r\n',
  ],
])('%s is refused as no HTTP, and the server goes on', async (_, said) => {
  const {runtime, client} = await startRuntime();
  const more = 'Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked';
  const socket = await begin(runtime.origin, said.replace('{more}', more));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\nThe request is not valid HTTP\.\n$/);
  expect((await client.token()).status).toBe(200);
});
