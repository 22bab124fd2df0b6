import {X509Certificate} from 'node:crypto';
import https from 'node:https';
import type {Duplex} from 'node:stream';
import {checkServerIdentity} from 'node:tls';
import {inspect} from 'node:util';
import {describe, expect, test} from 'vitest';
import {createRequestBodies} from '../../src/http/index.js';
import {proxyFor} from '../../src/http/connection/proxy.js';
import {createAuthority} from './certificates.js';
import {startProxy} from './proxies.js';
import {selfSigned} from './self-signed.js';
import {reasonOf, rejection, testClient, testSource, zeroSource} from './test-client.js';
import {closedPort, refuseFirst, startRecordingServer, startTcpServer, startTlsServer} from './with-server.js';

/** A name that only proxies lead to: to 127.0.0.1. */
const host = 'api.example.test';

test('http goes through HTTP_PROXY, with its credentials, and retries keep the body whole', async () => {
  const server = await startRecordingServer(refuseFirst(1));
  const proxy = await startProxy();
  const {http: client} = await testClient({env: {HTTP_PROXY: proxy.origin.replace('http://', 'http://user:p%40ss@')}});
  const source = testSource(200_000);
  const url = `http://${host}:${server.port}/x?y=1`;
  await client.post(`${url}#z`, createRequestBodies().file(source));
  const credentials = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  expect(proxy.seen).toEqual(Array(2).fill({url, credentials}));
  expect(server.requests.map(({body}) => body.equals(source.bytes))).toEqual([true, true]);
  expect(server.requests[0]?.headers).toMatchObject({'user-agent': 'test/1.2.3', host: `${host}:${server.port}`});
});

test('http goes through a proxy that speaks https, whose certificate is checked for its own name', async () => {
  const server = await startRecordingServer(refuseFirst(0));
  const authority = createAuthority();
  const https = {certificateAuthority: authority.cert};
  const url = `http://${host}:${server.port}/x`;
  const right = await startProxy({tls: authority.issue('IP:127.0.0.1')});
  const {http: client} = await testClient({env: {HTTP_PROXY: right.origin}});
  await client.get(url, {https});
  expect(server.requests).toHaveLength(1);

  const wrong = await startProxy({tls: authority.issue(`DNS:${host}`)});
  const {http: refusing} = await testClient({env: {HTTP_PROXY: wrong.origin}});
  const error = await rejection(refusing.get(url, {https}));
  expect(error).toMatchObject({code: 'ERR_TLS'});
  expect(error.message).toContain(`The certificate of the proxy 127.0.0.1:${wrong.port}`);
  expect(wrong.seen).toEqual([]);
});

describe.each([
  ['an http proxy', false],
  ['an https proxy', true],
])('TLS through %s', (_, secure) => {
  test.each([
    // The origin's host, the names of the certificate, whether they match, the SNI.
    [host, [`DNS:${host}`], true, host],
    [host, ['DNS:*.example.test'], true, host],
    [host, ['DNS:other.test', 'IP:127.0.0.1'], false, host],
    ['192.0.2.7', ['IP:192.0.2.7'], true, false],
    ['192.0.2.7', ['DNS:localhost'], false, false],
    ['[2001:db8::7]', ['IP:2001:db8::7'], true, false],
    ['[2001:db8::7]', ['DNS:localhost', 'IP:::1'], false, false],
  ])('https://%s with a certificate for %j: accepted is %j', async (origin, names, matches, servername) => {
    const authority = createAuthority();
    const issued = authority.issue(...names);
    // Node 22.23 itself refuses every certificate for an IPv6 address, with a proxy and without.
    const isBroken =
      checkServerIdentity('2001:db8::7', new X509Certificate(issued.cert).toLegacyObject()) !== undefined;
    const accepted = matches && !(origin.startsWith('[') && isBroken);
    const seen: {authorization: string | undefined; servername: unknown}[] = [];
    const server = await startTlsServer(({headers: {authorization}, socket}, response) => {
      seen.push({authorization, servername: 'servername' in socket ? socket.servername : undefined});
      response.end('{}');
    }, issued);
    const proxy = await startProxy(secure ? {tls: authority.issue('IP:127.0.0.1')} : {});
    const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin}});
    const call = client.get(`https://${origin}:${server.port}/x`, {
      headers: {authorization: 'Bearer key-1234'},
      https: {certificateAuthority: authority.cert},
    });
    const outcome = await call.json().catch((error: unknown) => error);
    expect(proxy.seen).toEqual([{url: `${origin}:${server.port}`, credentials: undefined}]);
    if (accepted) {
      expect(outcome).toEqual({});
      expect(seen).toEqual([{authorization: 'Bearer key-1234', servername}]);
    } else {
      expect(outcome).toMatchObject({code: 'ERR_TLS', exitCode: 6});
      expect(seen).toEqual([]);
    }
  });
});

test('https goes through a tunnel of https_proxy, and a certificate that nobody signed is refused there, too', async () => {
  const server = await startTlsServer((_, response) => response.end('{}'));
  const proxy = await startProxy();
  const {http: client} = await testClient({env: {https_proxy: `127.0.0.1:${proxy.port}`}});
  const url = `https://${host}:${server.port}`;
  expect(await rejection(client.get(url))).toMatchObject({code: 'ERR_TLS'});
  const trusting = client.extend({https: {rejectUnauthorized: false}});
  expect(await trusting.get(url).json()).toEqual({});
  expect(proxy.seen.map((request) => request.url)).toEqual(Array(2).fill(`${host}:${server.port}`));
});

test('NO_PROXY leads past the proxy', async () => {
  const proxy = await startProxy();
  const port = await closedPort();
  const {http: client} = await testClient({env: {HTTP_PROXY: proxy.origin, NO_PROXY: `example.com, ${host}`}});
  const dnsLookup = (...args: unknown[]) => {
    const callback = args.at(-1);
    if (typeof callback === 'function') Reflect.apply(callback, undefined, [null, '127.0.0.1', 4]);
  };
  const call = client.get(`http://${host}:${port}`, {dnsLookup});
  expect(await rejection(call)).toMatchObject({code: 'ERR_NETWORK'});
  expect(proxy.seen).toEqual([]);
});

test('a proxy gets nothing that is meant for this machine', async () => {
  const server = await startRecordingServer(refuseFirst(0));
  const proxy = await startProxy();
  const {http: client} = await testClient({env: {HTTP_PROXY: proxy.origin, HTTPS_PROXY: proxy.origin}});
  await client.get(server.origin, {headers: {authorization: 'Bearer key-1234'}});
  const tls = await startTlsServer((_, response) => response.end('{}'));
  await client.get(tls.origin.replace('127.0.0.1', 'localhost'), {
    https: {rejectUnauthorized: false},
    dnsLookupIpVersion: 4,
  });
  expect(server.requests).toHaveLength(1);
  expect(proxy.seen).toEqual([]);
});

test('a proxy that refuses the tunnel is a network error, not an answer of the server', async () => {
  const proxy = await startProxy({tunnel: (socket) => socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n')});
  const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin.replace('http://', 'http://u:canary-pw@')}});
  const error = await rejection(client.post(`https://${host}/x`, {json: {}}));
  expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6});
  expect(error.message).toContain('the proxy returned 403');
  expect(inspect(error, {depth: Infinity, showHidden: true})).not.toContain('canary-pw');
  expect(proxy.seen).toHaveLength(1);
});

test('a proxy that asks for a password is told with the variable to put it in', async () => {
  const required = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';
  const proxy = await startProxy({tunnel: (socket) => socket.end(required)});
  const {http: client} = await testClient({env: {https_proxy: proxy.origin}});
  const error = await rejection(client.get(`https://${host}/x`));
  expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6});
  const address = new URL(proxy.origin).host;
  expect(error.suggestions).toEqual([`Set https_proxy to http://USER:PASSWORD@${address}.`]);
});

test.each(['http', 'https'])(
  'a proxy for %s on this machine that refuses is told with its variable, and not tried again',
  async (scheme) => {
    const proxy = `http://127.0.0.1:${await closedPort()}`;
    const {http: client, remarks} = await testClient({env: {HTTP_PROXY: proxy, HTTPS_PROXY: proxy}});
    const error = await rejection(client.get(`${scheme}://${host}/x`));
    expect(error).toMatchObject({code: 'ERR_NETWORK'});
    expect(error.message).toContain(proxy.replace('http://', 'Cannot connect to the proxy '));
    const variable = `${scheme.toUpperCase()}_PROXY`;
    expect(error.message).toContain(`(${variable}): connection refused`);
    expect(error.suggestions).toEqual([
      `Check ${variable} and the proxy, or list ${new URL(`http://${host}`).hostname} in NO_PROXY.`,
    ]);
    expect(remarks).toEqual([]);
  },
);

describe('a proxy that keeps a tunnel waiting', () => {
  /** A proxy with such a tunnel, and the end of the client's connection. */
  async function startEnding(tunnel: (socket: Duplex) => void) {
    let ended: () => void = () => undefined;
    const end = new Promise<void>((resolve) => (ended = resolve));
    const proxy = await startProxy({
      tunnel: (socket) => {
        socket.on('end', ended).on('close', ended).resume();
        tunnel(socket);
      },
    });
    return {proxy, end};
  }

  test.each<[string, (socket: Duplex) => void]>([
    ['says nothing', () => undefined],
    ['drips its answer', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ')],
    ['opens the tunnel, and nobody speaks TLS there', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n')],
  ])('%s: the time to connect ends it, and its connection', async (_, tunnel) => {
    const {proxy, end} = await startEnding(tunnel);
    const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin}, timeouts: {connectMs: 1000}});
    const error = await rejection(client.post(`https://${host}/x`, {json: {}}));
    expect(error).toMatchObject({code: 'ERR_TIMEOUT', exitCode: 6});
    await end;
  });

  test('an abort ends it at once, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const {proxy, end} = await startEnding(() => controller.abort(reason));
    const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin}, signal: controller.signal});
    expect(await reasonOf(client.get(`https://${host}/x`))).toBe(reason);
    await end;
  });
});

test.each([
  ['an answer with huge headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(1_000_000)}\r\n\r\n`],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
  ['nothing, and it closes', ''],
  ['101', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['a redirect', 'HTTP/1.1 302 Found\r\nlocation: http://elsewhere.test/\r\ncontent-length: 0\r\n\r\n'],
  ['text in place of TLS', 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
])('a proxy that answers CONNECT with %s: a failure of the connection', async (_, answer) => {
  const proxy = await startProxy({tunnel: (socket) => socket.end(answer)});
  const {http: client} = await testClient({env: {HTTPS_PROXY: proxy.origin}});
  const error = await rejection(client.post(`https://${host}/x`, {json: {}}));
  expect(error.exitCode).toBe(6);
  expect(error.status).toBeUndefined();
});

test('a server at the other end of a tunnel that refuses a body while it is being sent is heard', async () => {
  // A relay between the two would have to be as careful as the client: this proxy hands the tunnel to the server
  // itself.
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
  const call = client.post(`https://${host}`, {...body, https: {rejectUnauthorized: false}});
  expect(await rejection(call)).toMatchObject({status: 413});
});

describe('proxyFor', () => {
  const proxy = 'http://proxy.test:3128/';

  test.each([
    ['https://a.test', {HTTPS_PROXY: proxy}, proxy],
    ['https://a.test', {https_proxy: proxy, HTTPS_PROXY: 'http://other.test'}, proxy],
    ['https://a.test', {HTTP_PROXY: proxy}, undefined],
    ['https://a.test', {ALL_PROXY: proxy, all_proxy: proxy}, undefined],
    ['http://a.test', {HTTP_PROXY: 'proxy.test:3128'}, proxy],
    ['http://a.test', {HTTP_PROXY: ''}, undefined],
    ['https://a.test', {}, undefined],
  ])('%s with %j goes through %s', (url, env, expected) => {
    expect(proxyFor(new URL(url), env)?.url.href).toBe(expected);
  });

  test.each([
    ['a.test', 'a.test', true],
    ['b.a.test', 'a.test', true],
    ['b.a.test', '.a.test', true],
    ['ba.test', 'a.test', false],
    ['a.test', '*', true],
    ['a.test', 'x.test  a.test', true],
    ['a.test', 'a.test:443', true],
    ['a.test', 'a.test:8443', false],
    ['10.1.2.3', '10.0.0.0/8', true],
    ['[fd00::1]', 'fd00::1', true],
    ['[fd00::1]', 'fd00::/8', true],
    ['a.test', '', false],
    ['a.test.', 'a.test', true],
    ['bücher.test', 'BÜCHER.test', true],
    ['b.xn--bcher-kva.test', '*.bücher.test', true],
    ['[fd00::1]', '[fd00:0::1]:443', true],
    ['a.test', 'test', true],
    ['[::ffff:10.0.0.1]', '10.0.0.1', false],
  ])('https://%s with NO_PROXY %j: past the proxy is %j', (host, noProxy, past) => {
    const used = proxyFor(new URL(`https://${host}`), {HTTPS_PROXY: proxy, no_proxy: noProxy});
    expect(used === undefined).toBe(past);
  });

  test.each(['localhost', 'api.localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '[::]'])(
    '%s is this machine: no proxy leads there',
    (host) => {
      const env = {HTTP_PROXY: proxy, HTTPS_PROXY: proxy};
      expect(proxyFor(new URL(`http://${host}:8080`), env)).toBeUndefined();
      expect(proxyFor(new URL(`https://${host}`), env)).toBeUndefined();
    },
  );

  test.each(['localhost.test', 'xlocalhost', '128.0.0.1', '126.255.255.255', '[::ffff:128.0.0.1]', '127.0.0.1.test'])(
    '%s is another machine',
    (host) => {
      expect(proxyFor(new URL(`http://${host}`), {HTTP_PROXY: proxy})).toBeDefined();
    },
  );

  test.each(['http://u:canary%zz@x:1', 'http://canary%:41b@x:1', 'socks5://u:canary@x:1', 'http://u:canary@x:port'])(
    'refuses %s without repeating it',
    (value) => {
      expect(() => proxyFor(new URL('https://a.test'), {HTTPS_PROXY: value})).toThrow(
        expect.objectContaining({
          code: 'ERR_OPTION_INVALID',
          message: 'HTTPS_PROXY is not the URL of an HTTP proxy.',
        }),
      );
    },
  );
});

/** Sends a byte now and then, until the other side has had enough. */
function drip(socket: Duplex, beginning: string): void {
  socket.write(beginning);
  const timer = setInterval(() => socket.write('x'), 5);
  socket.on('close', () => clearInterval(timer));
}
