import http, {type Server} from 'node:http';
import https from 'node:https';
import net from 'node:net';
import {expect, onTestFinished, test, vi} from 'vitest';
import {WebSocketServer} from 'ws';
import {readSocket} from '../../src/http/index.js';
import {startProxy} from './proxies.js';
import {selfSigned} from './self-signed.js';
import {startOn} from './with-server.js';

/** A name that only proxies lead to: to 127.0.0.1. */
const host = 'logs.example.test';

/** Greets each client, and closes the connection. */
function greeting<T extends Server>(server: T): T {
  new WebSocketServer({server}).on('connection', (socket, {headers}) => {
    socket.send(`hello ${String(headers['user-agent'])}`);
    socket.close();
  });
  return server;
}

async function read(url: string, env: Readonly<Record<string, string>> = {}, signal = new AbortController().signal) {
  const messages: string[] = [];
  const options = {env, signal, userAgent: 'test/1.2.3', secrets: ['canary-token'], connectTimeoutMs: 5000};
  for await (const message of readSocket(new URL(`${url}/?access_token=canary-token`), options)) messages.push(message);
  return messages;
}

test('a WebSocket is read until the server closes it, through a tunnel of the proxy too', async () => {
  const {port} = await startOn(greeting(http.createServer()), 'http');
  const proxy = await startProxy();
  expect(await read(`ws://127.0.0.1:${port}`)).toEqual(['hello test/1.2.3']);
  expect(await read(`ws://${host}:${port}`, {HTTP_PROXY: proxy.origin})).toEqual(['hello test/1.2.3']);
  expect(proxy.seen.map(({url}) => url)).toEqual([`${host}:${port}`]);
});

test('the certificate of an encrypted one is checked through a proxy, too', async () => {
  const {port} = await startOn(greeting(https.createServer(selfSigned)), 'https');
  const proxy = await startProxy();
  const work = read(`wss://${host}:${port}`, {HTTPS_PROXY: proxy.origin});
  await expect(work).rejects.toMatchObject({code: 'ERR_TLS'});
  expect(proxy.seen.map(({url}) => url)).toEqual([`${host}:${port}`]);
});

test.each([
  [401, 'ERR_UNAUTHORIZED'],
  [404, 'ERR_REJECTED'],
  [503, 'ERR_SERVER'],
])('a refusal is an error without the query: %d', async (status, code) => {
  const {port} = await startOn(
    http.createServer().on('upgrade', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)),
    'http',
  );
  const error: unknown = await read(`ws://127.0.0.1:${port}`).catch((reason: unknown) => reason);
  expect(error).toMatchObject({code, status});
  expect(String(Object(error).stack)).not.toContain('canary');
});

test('an idle one is kept alive with an empty message every five minutes, until it ends', async () => {
  vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
  onTestFinished(() => void vi.useRealTimers());
  const server = http.createServer();
  const received: string[] = [];
  new WebSocketServer({server}).on('connection', (socket) => {
    socket.send('hello');
    socket.on('message', (message: Buffer) => {
      received.push(message.toString());
      if (received.length === 2) socket.close();
    });
  });
  const {port} = await startOn(server, 'http');
  const options = {
    env: {},
    signal: new AbortController().signal,
    userAgent: 'test',
    secrets: [],
    connectTimeoutMs: 5000,
  };
  const messages = readSocket(new URL(`ws://127.0.0.1:${port}/`), options);
  expect(await messages.next()).toEqual({done: false, value: 'hello'});
  vi.advanceTimersByTime(10 * 60_000);
  expect(await messages.next()).toMatchObject({done: true});
  expect(received).toEqual(['', '']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a server that does not answer the handshake is waited for as long as --connect-timeout says', async () => {
  const {port} = await startOn(net.createServer(), 'http');
  const options = {
    env: {},
    signal: new AbortController().signal,
    userAgent: 'test',
    secrets: [],
    connectTimeoutMs: 100,
  };
  const work = readSocket(new URL(`ws://127.0.0.1:${port}/`), options).next();
  await expect(work).rejects.toMatchObject({
    code: 'ERR_TIMEOUT',
    suggestions: expect.arrayContaining(['To allow more time, pass --connect-timeout SECONDS.']) as unknown,
  });
});

test('one whose server answers no ping has ended without a word', async () => {
  const server = http.createServer();
  new WebSocketServer({server, autoPong: false}).on('connection', (socket) => socket.send('hello'));
  const {port} = await startOn(server, 'http');
  const options = {env: {}, userAgent: 'test', secrets: [], connectTimeoutMs: 5000, silentMs: 100};
  const {signal} = new AbortController();
  const messages = readSocket(new URL(`ws://127.0.0.1:${port}/`), {...options, signal});
  expect(await messages.next()).toEqual({done: false, value: 'hello'});
  await expect(messages.next()).rejects.toMatchObject({
    code: 'ERR_TIMEOUT',
    message: expect.stringContaining('no answer for 0.1 s') as string,
  });
});

test('an abort ends it with its reason', async () => {
  const server = http.createServer();
  const controller = new AbortController();
  const reason = new Error('enough');
  new WebSocketServer({server}).on('connection', () => controller.abort(reason));
  const {port} = await startOn(server, 'http');
  await expect(read(`ws://127.0.0.1:${port}`, {}, controller.signal)).rejects.toBe(reason);
});
