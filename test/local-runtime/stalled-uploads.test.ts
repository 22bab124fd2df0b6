import {once} from 'node:events';
import {readdir} from 'node:fs/promises';
import {connect, type Socket} from 'node:net';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import type {LocalRuntime, RequestRecord} from '../../src/testing.js';
import {build, gnuTar, v2Archive} from './archives.js';
import {v1Body} from './client.js';
import {startRuntime} from './with-runtime.js';

/** Begins a request whose body never ends. */
async function begin({origin, credentials}: LocalRuntime, path: string, body: string, type: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const headers = [
    'Host: localhost',
    `Authorization: Bearer ${credentials.apiKey}`,
    `Content-Type: ${type}`,
    'Content-Length: 10000',
  ];
  socket.write(`POST /api/${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const v1Path = 'projects/shop/builds/production/';

test('a stalled upload gets a 408, and its target is free again', async () => {
  const {client, runtime} = await startRuntime({stallSeconds: 0.5});
  const stalled = await begin(runtime, v1Path, '{"data":"', 'application/json');
  await expect.poll(() => readdir(`${runtime.dataDirectory}/temporary`)).toHaveLength(1);
  const answer = await text(stalled);
  expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*upload stalled/i);
  const body = v1Body(await gnuTar(build, {prefix: 'shop/bld', gzip: false}));
  expect((await client.pushV1(body, v1Path)).status).toBe(200);
  expect(await readdir(`${runtime.dataDirectory}/temporary`)).toEqual([]);
});

test('a slow upload that makes progress does not count as stalled', async () => {
  const {runtime} = await startRuntime({stallSeconds: 3});
  const slow = await begin(runtime, v1Path, '{"data":"', 'application/json');
  const answer = text(slow);
  for (let piece = 0; piece < 5; piece += 1) {
    await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 1000))]);
    slow.write('AAAA');
  }
  slow.write(`"}${' '.repeat(10_000)}`);
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
});

test('a client that asks for a large file and reads nothing loses its connection', async () => {
  const ended: RequestRecord[] = [];
  const {runtime, client} = await startRuntime({stallSeconds: 0.5, onRequest: (record) => ended.push(record)});
  const large = 'x'.repeat(12_000_000);
  await client.pushV2(await v2Archive({...build, 'static/large.txt': large}));
  await client.deploy(1);
  const {hostname, port} = new URL(runtime.appsOrigin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.pause().write('GET /shop/production/static/large.txt HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => ended).toMatchObject([{route: 'upload'}, {route: 'deploy'}, {route: 'site', status: 200}]);
  expect((await client.site('shop/production/static/large.txt')).body.length).toBe(large.length);
});

test('a connection on which no request arrives is closed, and one that is idle after a request is not', async () => {
  const {runtime} = await startRuntime({stallSeconds: 0.5});
  const open = async (said: string): Promise<Socket> => {
    const socket = connect(Number(new URL(runtime.appsOrigin).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(said);
    return socket;
  };
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const idle = await open(request);
  await once(idle, 'data');
  for (const socket of await Promise.all([open(''), open('GET / HTTP/1.1\r\nHost: lo')])) {
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  }
  idle.write(request);
  expect(String(await once(idle, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
});
