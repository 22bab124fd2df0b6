import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import {inspect} from 'node:util';
import {describe, expect, test} from 'vitest';
import {createRequestBodies} from '../../src/http/index.js';
import {proxyFor} from '../../src/http/connection/proxy.js';
import {selfSigned} from './self-signed.js';
import {quick, rejection, testClient, testSource, zeroSource} from './test-client.js';
import {refuseFirst, startRecordingServer, startServer, startTcpServer, startTlsServer} from './with-server.js';

/** A forward proxy for http, with the lines and credentials that it was asked with. */
async function startForwardProxy() {
  const seen: {url: string | undefined; credentials: string | undefined}[] = [];
  const proxy = await startServer((request, response) => {
    seen.push({url: request.url, credentials: request.headers['proxy-authorization']});
    const {method, headers} = request;
    const onward = http.request(String(request.url), {method, headers}, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  return {...proxy, seen};
}

/** A proxy that opens tunnels, or answers `status`. */
async function startTunnelProxy(status = 200) {
  const targets: string[] = [];
  const proxy = await startTcpServer((socket) => {
    socket.once('data', (head) => {
      const [, target = ''] = /^CONNECT (\S+) /.exec(String(head)) ?? [];
      targets.push(target);
      if (status !== 200) {
        socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const [host = '', port] = target.split(':');
      const onward = net.connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.end());
    });
  });
  return {...proxy, targets};
}

test('http goes through HTTP_PROXY, with its credentials, and retries keep the body whole', async () => {
  const server = await startRecordingServer(refuseFirst(1));
  const proxy = await startForwardProxy();
  const {http: client} = await testClient({env: {HTTP_PROXY: proxy.origin.replace('http://', 'http://user:p%40ss@')}});
  const source = testSource(200_000);
  await client.post(`${server.origin}/x`, createRequestBodies().file(source));
  const credentials = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  expect(proxy.seen).toEqual(Array(2).fill({url: `${server.origin}/x`, credentials}));
  expect(server.requests.map(({body}) => body.equals(source.bytes))).toEqual([true, true]);
  expect(server.requests[0]?.headers['user-agent']).toBe('mycli/1.2.3 test');
});

test('https goes through a tunnel of HTTPS_PROXY, and certificates are still checked', async () => {
  const server = await startTlsServer((_, response) => response.end('{}'));
  const proxy = await startTunnelProxy();
  const {http: client} = await testClient({env: {https_proxy: `127.0.0.1:${proxy.port}`}});
  expect(await rejection(client.get(server.origin))).toMatchObject({code: 'ERR_TLS'});
  const trusting = client.extend({https: {rejectUnauthorized: false}});
  expect(await trusting.get(server.origin).json()).toEqual({});
  expect(proxy.targets).toEqual([`127.0.0.1:${server.port}`, `127.0.0.1:${server.port}`]);
});

test('NO_PROXY leads past the proxy', async () => {
  const server = await startRecordingServer(refuseFirst(0));
  const proxy = await startForwardProxy();
  const {http: client} = await testClient({env: {HTTP_PROXY: proxy.origin, NO_PROXY: 'example.com, 127.0.0.1'}});
  await client.get(server.origin);
  expect(server.requests).toHaveLength(1);
  expect(proxy.seen).toEqual([]);
});

test('a proxy that refuses the tunnel is a network error, not an answer of the server', async () => {
  const proxy = await startTunnelProxy(403);
  const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin.replace('http://', 'http://u:canary-pw@')}});
  const error = await rejection(client.post('https://api.example.test/x', createRequestBodies().json({})));
  expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6});
  expect(error.message).toContain('the proxy answered 403');
  expect(inspect(error, {depth: Infinity, showHidden: true})).not.toContain('canary-pw');
  expect(proxy.targets).toHaveLength(1);
});

test('a proxy that is not there is retried like a server that is not there', async () => {
  const {http: client, remarks} = await testClient({env: {HTTP_PROXY: 'http://127.0.0.1:1'}});
  expect(await rejection(client.get('http://api.example.test/x'))).toMatchObject({code: 'ERR_NETWORK'});
  expect(remarks).toHaveLength(quick.maxRetries);
});

test('a proxy that refuses a body while it is being sent is heard', async () => {
  const proxy = await startServer((request, response) => {
    request.once('data', () => response.writeHead(413).end('', () => request.destroy()));
  });
  const {http: client} = await testClient({env: {HTTP_PROXY: proxy.origin}});
  const body = createRequestBodies().file(zeroSource(20 * 1024 * 1024));
  expect(await rejection(client.post('http://api.example.test/x', body))).toMatchObject({status: 413});
});

test('so is a server at the other end of a tunnel', async () => {
  // A relay between the two would have to be as careful as the client: this proxy hands the tunnel to the server itself.
  const server = https.createServer(selfSigned, (request, response) => {
    request.once('data', () => response.writeHead(413).end('', () => request.destroy()));
  });
  const proxy = await startTcpServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.emit('connection', socket);
    });
  });
  const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin}});
  const body = createRequestBodies().file(zeroSource(20 * 1024 * 1024));
  const call = client.post('https://127.0.0.1:1', {...body, https: {rejectUnauthorized: false}});
  expect(await rejection(call)).toMatchObject({status: 413});
});

describe('proxyFor', () => {
  const proxy = 'http://proxy.test:3128/';

  test.each([
    ['https://a.test', {HTTPS_PROXY: proxy}, proxy],
    ['https://a.test', {https_proxy: proxy, HTTPS_PROXY: 'http://other.test'}, proxy],
    ['https://a.test', {HTTP_PROXY: proxy}, undefined],
    ['http://a.test', {HTTP_PROXY: 'proxy.test:3128'}, proxy],
    ['http://a.test', {HTTP_PROXY: ''}, undefined],
    ['https://a.test', {}, undefined],
  ])('%s with %j goes through %s', (url, env, expected) => {
    expect(proxyFor(new URL(url), env)?.href).toBe(expected);
  });

  test.each([
    ['a.test', 'a.test', true],
    ['a.test', 'A.TEST', true],
    ['b.a.test', 'a.test', true],
    ['b.a.test', '.a.test', true],
    ['b.a.test', '*.a.test', true],
    ['ba.test', 'a.test', false],
    ['a.test', '*', true],
    ['a.test', 'x.test  a.test', true],
    ['a.test', 'a.test:443', true],
    ['a.test', 'a.test:8443', false],
    ['10.1.2.3', '10.0.0.0/8', true],
    ['11.1.2.3', '10.0.0.0/8', false],
    ['[::1]', '::1', true],
    ['[::1]', '[::1]:443', true],
    ['[fd00::1]', 'fd00::/8', true],
    ['10.1.2.3', 'fd00::/8', false],
    ['10.1.2.3', '10.0.0.0/99', false],
    ['a.test', '', false],
  ])('https://%s with NO_PROXY %j: past the proxy is %j', (host, noProxy, past) => {
    const used = proxyFor(new URL(`https://${host}`), {HTTPS_PROXY: proxy, no_proxy: noProxy});
    expect(used === undefined).toBe(past);
  });

  test.each(['socks5://u:canary@x:1', 'http://u:canary@x:port'])('refuses %s without repeating it', (value) => {
    expect(() => proxyFor(new URL('https://a.test'), {HTTPS_PROXY: value})).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: 'HTTPS_PROXY is not the URL of an HTTP proxy',
      }),
    );
  });
});
