import type {OutgoingHttpHeaders} from 'node:http';
import {inspect} from 'node:util';
import {buffer} from 'node:stream/consumers';
import net, {type Socket} from 'node:net';
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {
  authorize,
  createRequestBodies,
  createRetryWait,
  openStream,
  readJsonBody,
  type HttpClient,
} from '../../src/http/index.js';
import {quick, reasonOf, rejection, testClient, testSource, zeroSource} from './test-client.js';
import {selfSigned} from './self-signed.js';
import {sendJson, startOn, startRecordingServer, startServer, startTcpServer, startTlsServer} from './with-server.js';

const bodies = createRequestBodies();

/** Calls `then` when everything that one request announced has arrived. */
function afterRequest(socket: Socket, bodyBytes: number, then: () => void): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    const head = received.indexOf('\r\n\r\n');
    if (head !== -1 && received.length >= head + 4 + bodyBytes) then();
  });
}

describe('answers that are compressed although nobody asked', () => {
  const encodings = {gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync};

  test.each(Object.entries(encodings))('are read in %s, of errors too', async (encoding, compress) => {
    const server = await startRecordingServer((response, {method}) => {
      const body = compress('{"detail":"because"}');
      response.writeHead(method === 'GET' ? 200 : 400, {'content-encoding': encoding}).end(body);
    });
    const {http} = await testClient();
    expect(readJsonBody(await http.get(server.origin))).toEqual({detail: 'because'});
    expect(await http.get(server.origin).json()).toEqual({detail: 'because'});
    expect((await rejection(http.post(server.origin, {json: {}}))).message).toContain('because');
  });

  test.each([
    ['gzip', gzipSync(Buffer.alloc(9 * 1024 * 1024)), 'is longer than 8388608 bytes'],
    ['gzip', Buffer.from('no gzip'), 'is not valid gzip'],
    ['zstd', Buffer.from('whatever'), 'has an unknown content encoding'],
  ])('in %s that cannot be read are told as such, once', async (encoding, body, problem) => {
    const server = await startRecordingServer((response) => {
      response.writeHead(200, {'content-encoding': encoding}).end(body);
    });
    const {http} = await testClient();
    const error = await rejection(http.get(`${server.origin}/x`));
    expect(error).toMatchObject({code: 'ERR_RESPONSE_INVALID', message: `The response to GET /x ${problem}.`});
    expect(server.requests).toHaveLength(1);
  });
});

describe('answers that are not 2xx', () => {
  test.each([
    [400, 'ERR_REJECTED', 7],
    [401, 'ERR_UNAUTHORIZED', 4],
    [403, 'ERR_FORBIDDEN', 4],
    [500, 'ERR_SERVER', 7],
  ])('%d becomes %s, exit code %d', async (status, code, exitCode) => {
    const server = await startRecordingServer((response) => {
      response.writeHead(status, {'x-request-id': 'req-1'}).end('{"detail":"because"}');
    });
    const {http} = await testClient();
    const error = await rejection(http.post(`${server.origin}/a/b?token=secret-query`, {json: {}}));
    expect(error).toMatchObject({
      code,
      exitCode,
      status,
      method: 'POST',
      path: '/a/b',
      requestId: 'req-1',
      details: {serverMessage: 'because'},
    });
    expect(error.message).toContain('because');
    expect(inspect(error, {depth: Infinity})).not.toContain('secret-query');
    expect(server.requests).toHaveLength(1);
  });

  test.each<[string, number, OutgoingHttpHeaders, string, string]>([
    ['a page', 403, {'content-type': 'text/html; charset=utf-8'}, '<!DOCTYPE html><h1>Blocked</h1>', 'ERR_NETWORK'],
    ['a page without a type', 401, {}, '\n<html>Log in</html>', 'ERR_NETWORK'],
    ['a type, and nothing else', 403, {'content-type': 'text/html'}, '', 'ERR_NETWORK'],
    ['a page of mod_security', 406, {'content-type': 'text/html'}, '<html>Not Acceptable!', 'ERR_NETWORK'],
    ['a challenge of Cloudflare', 403, {'cf-mitigated': 'challenge'}, '{"message":"wait"}', 'ERR_NETWORK'],
    ['an edge of Akamai', 403, {server: 'AkamaiGHost'}, '', 'ERR_NETWORK'],
    ['a captive portal', 511, {}, '', 'ERR_NETWORK'],
    ['JSON by another name', 403, {'content-type': 'text/html'}, '{"message":"no"}', 'ERR_FORBIDDEN'],
    ['XML', 401, {'content-type': 'application/xml'}, '<?xml version="1.0"?><Error/>', 'ERR_UNAUTHORIZED'],
    ['a page of another site', 404, {'content-type': 'text/html'}, '<html>Not Found</html>', 'ERR_NETWORK'],
    ['a page that takes no POST', 405, {'content-type': 'text/html'}, '<html>Not Allowed</html>', 'ERR_NETWORK'],
    ['not found in JSON', 404, {'content-type': 'application/json'}, '{"detail":"no"}', 'ERR_REJECTED'],
  ])('where the service speaks JSON, %s (%d) with %j and %j is %s', async (_, status, headers, body, code) => {
    const server = await startRecordingServer((response, _request, count) => {
      if (count === 1) sendJson(response, 200, {});
      else response.writeHead(status, headers).end(body);
    });
    const forgotten: unknown[] = [];
    const auth = {getAuthorizationHeader: async () => 'Bearer a', invalidate: () => forgotten.push(1)};
    const http = authorize((await testClient()).http, auth, server.origin);
    await http.get(server.origin);
    const error = await rejection(http.post(`${server.origin}/x`, {json: {}}));
    expect(error).toMatchObject({code, status});
    if (code !== 'ERR_NETWORK') return;
    expect(error).toMatchObject({exitCode: 6, message: expect.stringMatching(/^Something between you/) as string});
    expect([error.message, ...error.suggestions].join()).not.toMatch(/credential|key/i);
    expect([server.requests.length, forgotten]).toEqual([2, []]);
  });

  test.each([
    [[429], 4, /--max-retries/],
    [[503], 1, /add 429 to rateLimit\.statusCodes/],
  ])(
    'a 429 that is answered with statusCodes %j: %d attempts, and the advice that helps',
    async (codes, attempts, advice) => {
      const server = await startRecordingServer((response) => response.writeHead(429).end());
      const {http} = await testClient({rateLimit: {...quick, statusCodes: codes}});
      const error = await rejection(http.get(server.origin));
      expect(error).toMatchObject({code: 'ERR_RATE_LIMITED', suggestions: [expect.stringMatching(advice)]});
      expect(server.requests).toHaveLength(attempts);
    },
  );

  test.each([{}, {rateLimit: {...quick, statusCodes: [429, 503]}}])(
    'maintenance changed nothing, whatever is retried (%j)',
    async (options) => {
      const server = await startRecordingServer((response) => {
        response.writeHead(503, {'X-MRT-Read-Only': 'True'}).end('{"detail":"back at 10:00"}');
      });
      const {http} = await testClient(options);
      const error = await rejection(http.post(server.origin, {json: {}}));
      expect(error).toMatchObject({
        ...{code: 'ERR_MAINTENANCE', exitCode: 7, status: 503},
        message: 'The service is read-only for maintenance; nothing was changed: back at 10:00.',
        suggestions: ['Try again when the maintenance is over.'],
      });
    },
  );

  test('a page is a refusal of a service that may speak HTML', async () => {
    const server = await startRecordingServer((response) => response.writeHead(401).end('<html>Unauthorized</html>'));
    const {http} = await testClient();
    expect(await rejection(http.post(server.origin))).toMatchObject({code: 'ERR_UNAUTHORIZED'});
  });

  test('redirects are not followed, neither for uploads nor for downloads', async () => {
    const other = await startRecordingServer((response) => sendJson(response, 200, {}));
    const server = await startRecordingServer((response) => {
      response.writeHead(307, {location: `${other.origin}/next?secret-query=1`}).end();
    });
    const {http} = await testClient();
    for (const method of ['POST', 'GET'] as const) {
      const error = await rejection(http(server.origin, {method}));
      expect(error).toMatchObject({code: 'ERR_RESPONSE_INVALID', status: 307});
      expect(error.suggestions.join()).toContain(`${other.origin}/next`);
      expect(inspect(error)).not.toContain('secret-query');
    }
    expect(await rejection(buffer(http.stream(server.origin)))).toMatchObject({code: 'ERR_RESPONSE_INVALID'});
    expect(other.requests).toHaveLength(0);
  });

  test('throwHttpErrors: false lets them pass', async () => {
    const server = await startRecordingServer((response) => sendJson(response, 404, {}));
    const {http} = await testClient();
    expect(await http.get(server.origin, {throwHttpErrors: false})).toMatchObject({statusCode: 404});
  });
});

describe('requests that change nothing', () => {
  test.each([
    ['GET is', {}, 3],
    ['HEAD is', {method: 'HEAD'}, 3],
    ['POST that may be repeated is', {method: 'POST', repeatable: true}, 3],
    ['GET that may not be repeated is not', {repeatable: false}, 1],
    ['PUT is not', {method: 'PUT'}, 1],
  ] as const)('%s repeated after 5xx, with its body', async (_, options, count) => {
    const server = await startRecordingServer((response) => response.writeHead(503).end());
    const http: HttpClient = (await testClient()).http;
    const method = 'method' in options ? options.method : 'GET';
    const hasBody = method === 'POST' || method === 'PUT';
    const request = {...options, ...(hasBody && {json: {a: 1}})};
    expect(await rejection(http(server.origin, request))).toMatchObject({code: 'ERR_SERVER'});
    expect(server.requests.map(({body}) => body.toString())).toEqual(Array(count).fill(hasBody ? '{"a":1}' : ''));
  });
});

describe('a connection that ends', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH'] as const)(
    'after the whole %s was sent: the outcome is unknown, and the message says how to look',
    async (method) => {
      let connections = 0;
      const source = testSource(100_000);
      const server = await startTcpServer((socket) => {
        connections += 1;
        afterRequest(socket, source.size, () => socket.resetAndDestroy());
      });
      const {http} = await testClient();
      const error = await rejection(http(`${server.origin}/x`, {method, ...bodies.file(source)}));
      expect(error).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN', exitCode: 10, method, path: '/x'});
      expect(error.suggestions.join()).toContain('bundle:list');
      expect(connections).toBe(1);
    },
  );

  test.each([
    ['PUT', {}, 'ERR_OUTCOME_UNKNOWN'],
    ['PROPFIND', {}, 'ERR_NETWORK'],
    ['POST', {changesNothing: true}, 'ERR_NETWORK'],
  ] as const)('each time that a %s is repeated (%j): %s', async (method, options, code) => {
    let connections = 0;
    const server = await startTcpServer((socket) => {
      connections += 1;
      afterRequest(socket, 7, () => socket.resetAndDestroy());
    });
    const {http} = await testClient();
    const request = http(server.origin, {method, repeatable: true, json: {a: 1}, ...options});
    expect(await rejection(request)).toMatchObject({code});
    expect(connections).toBe(3);
  });

  test('after a PUT that is repeated when nobody listens any more: the outcome is unknown', async () => {
    const listener = net.createServer((socket) => {
      listener.close();
      afterRequest(socket, 7, () => socket.end());
    });
    const server = await startOn(listener, 'http');
    const {http} = await testClient();
    const request = http.put(server.origin, {repeatable: true, json: {a: 1}});
    expect(await rejection(request)).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN'});
  });

  test('in the middle of a 429: it is retried', async () => {
    let connections = 0;
    const server = await startTcpServer((socket) => {
      connections += 1;
      const answer =
        connections === 1
          ? '429 Too Many Requests\r\ncontent-length: 9\r\n\r\n'
          : '200 OK\r\ncontent-length: 2\r\n\r\n{}';
      afterRequest(socket, 2, () => socket.end(`HTTP/1.1 ${answer}`));
    });
    const {http} = await testClient();
    expect(await http.post(server.origin, {json: {}}).json()).toEqual({});
  });
});

describe('no connection', () => {
  test('an unknown host is not retried', async () => {
    const {http, remarks} = await testClient();
    const error = await rejection(http.post('http://nonexistent.invalid/x', {json: {}}));
    expect(error.exitCode).toBe(6);
    expect(error.message).toContain('nonexistent.invalid');
    // Without any name server the look-up ends in EAI_AGAIN, which is retried.
    const {code} = error.cause as {code?: string};
    expect(remarks).toHaveLength(code === 'ENOTFOUND' ? 0 : quick.maxRetries);
  });

  test('a certificate that nobody signed is not accepted, and not tried again', async () => {
    const server = await startTlsServer((_, response) => response.end());
    const {http, remarks} = await testClient();
    const error = await rejection(http.get(server.origin));
    expect(error).toMatchObject({code: 'ERR_TLS', exitCode: 6});
    expect(error.suggestions.join()).toContain('NODE_EXTRA_CA_CERTS');
    expect(remarks).toEqual([]);
  });

  test('a server that speaks no TLS is told from one whose certificate is not accepted', async () => {
    const server = await startTcpServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const {http} = await testClient();
    const error = await rejection(http.get(server.origin.replace('http:', 'https:')));
    expect(error).toMatchObject({code: 'ERR_TLS', exitCode: 6});
    expect(error.message).toMatch(/^Cannot establish a TLS connection to 127\.0\.0\.1:\d+: wrong version number\.$/);
    expect(error.suggestions.join()).not.toContain('NODE_EXTRA_CA_CERTS');
  });
});

describe('servers that stall', () => {
  test('while the body is being sent: a time-out, and nothing was carried out', async () => {
    const server = await startTcpServer((socket) => socket.pause());
    const {http} = await testClient({timeouts: {idleMs: 100}});
    const error = await rejection(http.post(server.origin, bodies.file(zeroSource(50 * 1024 * 1024))));
    expect(error).toMatchObject({code: 'ERR_TIMEOUT', exitCode: 6});
  });

  test('a server that sends bytes and accepts none of the body: the message has the limit that it exceeded', async () => {
    const server = await startTcpServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
        socket.on('close', () => clearInterval(timer));
      });
    });
    const {http} = await testClient({timeouts: {idleMs: 200}});
    const error = await rejection(http.post(server.origin, bodies.file(zeroSource(50 * 1024 * 1024))));
    expect(error).toMatchObject({code: 'ERR_TIMEOUT', exitCode: 6});
    expect(error.message).toMatch(/stalled: no progress while sending for 0\.2 s\.$/);
    expect(error.suggestions).toContain('To allow more time, pass --idle-timeout SECONDS.');
  });

  test('a name that is looked up for ever ends with the time to connect', async () => {
    const {http} = await testClient({timeouts: {connectMs: 50}});
    const call = http.post('http://api.example.test/x', {json: {}, dnsLookup: () => undefined});
    const error = await rejection(call);
    expect(error).toMatchObject({code: 'ERR_TIMEOUT', exitCode: 6});
    expect(error.suggestions).toContain('To allow more time, pass --connect-timeout SECONDS.');
  });

  test.each([
    ['GET', 'ERR_TIMEOUT'],
    ['POST', 'ERR_OUTCOME_UNKNOWN'],
  ] as const)('a %s that nobody answers ends with the flag that allows more time', async (method, code) => {
    const server = await startServer(() => undefined);
    const {http} = await testClient({timeouts: {requestMs: 100}});
    const error = await rejection(http(server.origin, {method}));
    expect(error).toMatchObject({code});
    expect(error.suggestions).toContain('To allow more time, pass --request-timeout SECONDS.');
  });

  test('an answer before the end of the body lets go of a connection that nobody reads', async () => {
    let closed: () => void = () => undefined;
    const end = new Promise<void>((resolve) => (closed = resolve));
    const server = await startTcpServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        // Its end would not be seen: it does not read.
        const timer = setInterval(() => socket.write('x'), 5);
        socket.on('close', closed).on('close', () => clearInterval(timer));
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}');
      });
    });
    const {http} = await testClient();
    const error = await rejection(http.post(server.origin, bodies.file(zeroSource(50 * 1024 * 1024))));
    expect(error).toMatchObject({status: 413});
    await end;
  });

  test('a slow upload that keeps moving takes as long as it takes', async () => {
    const size = 4 * 1024 * 1024;
    const idleMs = 3000;
    const server = await startServer((request, response) => {
      let received = 0;
      // A pause is far shorter than the time-out, all of them together are longer.
      const slowUntil = performance.now() + 1.2 * idleMs;
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (performance.now() > slowUntil) return;
        request.pause();
        setTimeout(() => request.resume(), 40);
      });
      request.on('end', () => sendJson(response, 200, {received}));
    });
    const {http} = await testClient({timeouts: {idleMs}});
    expect(await http.post(server.origin, bodies.file(zeroSource(size))).json()).toEqual({received: size});
  });
});

test('an answer that trickles in over TLS makes progress', async () => {
  const server = await startTlsServer((_, response) => {
    response.writeHead(200, {'content-length': '8'});
    let left = 8;
    const timer = setInterval(() => {
      response.write('1');
      left -= 1;
      if (left === 0) clearInterval(timer);
    }, 150);
  });
  const {http} = await testClient({timeouts: {idleMs: 1000}});
  const answer = http.get(server.origin, {https: {certificateAuthority: selfSigned.cert}} as object);
  expect((await answer).body).toBe('11111111');
});

test('a stream that gets no connection is asked for as often as any request: nothing was sent', async () => {
  let connections = 0;
  const server = await startTcpServer(() => void (connections += 1));
  const {http} = await testClient({timeouts: {connectMs: 100}});
  const waitToRetry = createRetryWait(quick, new AbortController().signal);
  const opened = openStream(http, `https://127.0.0.1:${String(server.port)}/x`, {}, waitToRetry);
  expect(await rejection(opened)).toMatchObject({code: 'ERR_TIMEOUT', exitCode: 6});
  expect(connections).toBe(1 + quick.maxRetries);
});

describe('an archive whose server sends the frame of an answer, and nothing in it', () => {
  test('zeros of the size of a chunk: a time-out', async () => {
    const server = await startTcpServer((socket) => {
      afterRequest(socket, 0, () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n');
        const timer = setInterval(() => socket.write('0'), 5);
        socket.on('close', () => clearInterval(timer));
      });
    });
    const {http} = await testClient({timeouts: {idleMs: 300}});
    const error = await rejection(buffer(http.stream(server.origin)));
    expect(error).toMatchObject({code: 'ERR_TIMEOUT', exitCode: 6});
  });

  test('a reader that is slower than the time-out is no fault of the server', async () => {
    const bytes = 4 * 1024 * 1024;
    const server = await startServer((_, response) => void response.end(Buffer.alloc(bytes)));
    const idleMs = 1000;
    const {http} = await testClient({timeouts: {idleMs}});
    let read = 0;
    for await (const chunk of http.stream(server.origin)) {
      if (read === 0) await new Promise((resolve) => setTimeout(resolve, 2 * idleMs));
      read += (chunk as Buffer).length;
    }
    expect(read).toBe(bytes);
  });
});

describe('what got offers', () => {
  test('json, text, buffer, extend and streams work', async () => {
    const server = await startRecordingServer((response) => sendJson(response, 200, {a: 1}));
    const http = (await testClient()).http.extend({headers: {'x-plugin': 'yes'}});
    expect(await http.get(server.origin).json()).toEqual({a: 1});
    expect(await http.get(server.origin).text()).toBe('{"a":1}');
    expect(readJsonBody(await http.get(server.origin))).toEqual({a: 1});
    expect(String(await buffer(http.stream(server.origin)))).toBe('{"a":1}');
    for (const {headers} of server.requests) {
      expect(headers).toMatchObject({'x-plugin': 'yes', 'user-agent': 'test/1.2.3'});
    }
  });

  test("a mistake in a caller's hook stays what it is, without got's objects on it", async () => {
    const {http} = await testClient();
    const broken = http.extend({
      hooks: {
        beforeRequest: [
          () => {
            throw new RangeError('a bug in the plugin');
          },
        ],
      },
    });
    const error = await reasonOf(broken.get('http://127.0.0.1:1', {headers: {authorization: 'Bearer secret-token'}}));
    expect(error).toMatchObject({message: 'a bug in the plugin'});
    expect(inspect(error, {depth: Infinity, showHidden: true})).not.toContain('secret-token');
  });
});
