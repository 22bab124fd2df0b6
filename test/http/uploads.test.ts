import {lookup} from 'node:dns';
import https from 'node:https';
import {networkInterfaces} from 'node:os';
import {Readable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {createRequestBodies, type BodyOptions, type RetryEvent, type UploadProgress} from '../../src/http/index.js';
import {parseMultipart, quick, rejection, testClient, testSource, zeroSource} from './test-client.js';
import {startProxy} from './proxies.js';
import {selfSigned} from './self-signed.js';
import {closedPort, refuseFirst, sendJson, startRecordingServer, startServer, startTcpServer} from './with-server.js';

const megabyte = 1024 * 1024;

const fields = {
  message: 'Größe "1"\r\nzweite Zeile',
  rootDir: 'bld',
  configPath: '.runtime/config.json',
  matchMode: 'strict',
};

/** Bodies whose progress is kept in `events`. */
const bodiesFor = (events: UploadProgress[]) => createRequestBodies((event) => events.push(event));

function multipart(source = testSource(300_001), events: UploadProgress[] = []): BodyOptions {
  return bodiesFor(events).multipart({
    file: {name: 'bundle', filename: 'bundle.tar.gz', contentType: 'application/octet-stream', source},
    fields,
  });
}

function largeUpload(events: UploadProgress[] = []): BodyOptions {
  return bodiesFor(events).file(zeroSource(50 * megabyte));
}

test.each([0, 1, 4])('multipart: after %d answers of 429, the same whole body with its exact length', async (times) => {
  const server = await startRecordingServer(refuseFirst(times));
  const {http} = await testClient({rateLimit: {...quick, maxRetries: 4}});
  const source = testSource(300_001);
  await http.post(`${server.origin}/upload`, multipart(source));
  expect(server.requests).toHaveLength(times + 1);
  for (const request of server.requests) {
    expect(request.headers['content-length']).toBe(String(request.body.length));
    const parsed = await parseMultipart(request);
    expect(parsed.fields).toEqual(fields);
    expect(parsed.order).toEqual(['bundle', 'message', 'rootDir', 'configPath', 'matchMode']);
    expect(parsed.files).toMatchObject([{filename: 'bundle.tar.gz', mimeType: 'application/octet-stream'}]);
    expect(parsed.files[0]?.bytes.equals(source.bytes)).toBe(true);
  }
});

test('base64: a server that reads late gets what was sent, though all is made in the same memory', async () => {
  const events: UploadProgress[] = [];
  const received: Buffer[] = [];
  const server = await startServer((request, response) => {
    const readLate = async () => {
      // Until the connection takes no more.
      for (let before = -1; before !== events.length;) {
        before = events.length;
        for (let turn = 0; turn < 50; turn++) await setImmediate();
      }
      for await (const chunk of request) received.push(chunk as Buffer);
      response.end('{}');
    };
    void readLate();
  });
  const {http} = await testClient();
  const source = testSource(16 * megabyte + 1);
  await http.post(server.origin, bodiesFor(events).base64Json({value: {}, field: 'data', source}));
  expect(Buffer.concat(received).toString() === `{"data":"${source.bytes.toString('base64')}"}`).toBe(true);
});

describe('progress', () => {
  test('grows within an attempt, starts again with the next, and ends at the total', async () => {
    const server = await startRecordingServer(refuseFirst(2));
    const {http} = await testClient();
    const events: UploadProgress[] = [];
    await http.post(server.origin, multipart(testSource(500_000), events));
    const total = Number(server.requests[0]?.headers['content-length']);
    expect(new Set(events.map((event) => event.total))).toEqual(new Set([total]));
    expect(new Set(events.map((event) => event.attempt))).toEqual(new Set([1, 2, 3]));
    for (const attempt of [1, 2, 3]) {
      const transferred = events.filter((event) => event.attempt === attempt).map((event) => event.transferred);
      expect(transferred[0]).toBe(0);
      expect(transferred).toEqual([...transferred].sort((a, b) => a - b));
      expect(transferred.at(-1)).toBe(total);
    }
    expect(events.map(({attempt}) => attempt)).toEqual(events.map(({attempt}) => attempt).sort());
  });

  test('counts the bytes of a source, not those of its base64', async () => {
    const server = await startRecordingServer(refuseFirst(0));
    const {http} = await testClient();
    const events: UploadProgress[] = [];
    await http.post(
      server.origin,
      bodiesFor(events).base64Json({value: {}, field: 'data', source: testSource(300_000)}),
    );
    expect(new Set(events.map(({total}) => total))).toEqual(new Set([300_000]));
    expect(events.at(-1)?.transferred).toBe(300_000);
    const growing = events.map(({transferred}) => transferred);
    expect(growing).toEqual(growing.toSorted((a, b) => a - b));
  });

  test('of an empty file is none of none', async () => {
    const server = await startRecordingServer(refuseFirst(0));
    const {http} = await testClient();
    const events: UploadProgress[] = [];
    await http.post(server.origin, bodiesFor(events).file(testSource(0)));
    expect(events[0]).toEqual({transferred: 0, total: 0, attempt: 1});
  });
});

describe('a server that answers while the body is still being sent, and closes', () => {
  const codes = [
    [401, 'ERR_UNAUTHORIZED', 4],
    [413, 'ERR_REJECTED', 7],
    [429, 'ERR_RATE_LIMITED', 5],
  ] as const;

  test.each(codes)('%d is reported as itself', async (status, code, exitCode) => {
    const server = await startServer((request, response) => {
      request.once('data', () => {
        response.writeHead(status, {connection: 'close'}).end('{"detail":"not like this"}', () => request.destroy());
      });
    });
    const {http} = await testClient({rateLimit: {...quick, maxRetries: 1}});
    const error = await rejection(http.post(`${server.origin}/upload`, largeUpload()));
    expect(error).toMatchObject({code, exitCode, status, details: {serverMessage: 'not like this'}});
  });

  test.each([
    ['it reads all of it, and closes', Infinity, true],
    ['it reads all of it, and does not close', Infinity, false],
    ['it closes after a part of it', 10 * megabyte, true],
    ['it closes before the last bytes', 49.9 * megabyte, true],
    ['it closes at once', 0, true],
  ])('201 stands only if it reads everything: %s', async (_, bytes, closes) => {
    let received = 0;
    const server = await startTcpServer((socket) => {
      socket.on('data', (chunk) => {
        if (received === 0) socket.write('HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}');
        received += chunk.length;
        if (closes && received > Math.min(bytes, 50 * megabyte)) socket.destroy();
      });
    });
    const {http} = await testClient();
    const events: UploadProgress[] = [];
    const sent = http.post(`${server.origin}/upload`, largeUpload(events));
    if (bytes === Infinity) {
      expect(await sent).toMatchObject({statusCode: 201});
      expect(received).toBeGreaterThan(50 * megabyte);
      expect(events.at(-1)).toEqual({transferred: 50 * megabyte, total: 50 * megabyte, attempt: 1});
    } else {
      expect(await rejection(sent)).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN', exitCode: 10});
    }
  });

  test('a 429 from a server that keeps reading: the rest of the body is not sent during the wait', async () => {
    const received: number[] = [];
    const server = await startTcpServer((socket) => {
      const index = received.push(0) - 1;
      socket.on('data', (chunk) => {
        const before = received[index] ?? 0;
        const now = (received[index] = before + chunk.length);
        if (index === 0 && before === 0) {
          socket.write('HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n');
        } else if (index === 1 && before < 50 * megabyte && now > 50 * megabyte) {
          socket.end('HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}');
        }
      });
    });
    const {http} = await testClient({rateLimit: {maxRetries: 1}});
    await http.post(server.origin, largeUpload());
    expect(received).toHaveLength(2);
    expect(received[0]).toBeLessThan(50 * megabyte);
  });
});

describe('rate limits of the client', () => {
  test('503 is retried when it is in the list, and is a rate limit when it stays', async () => {
    const server = await startRecordingServer(refuseFirst(Infinity, 503));
    const {http} = await testClient({rateLimit: {...quick, statusCodes: [503], maxRetries: 2}});
    expect(await rejection(http.post(server.origin, multipart()))).toMatchObject({
      code: 'ERR_RATE_LIMITED',
      status: 503,
    });
    expect(server.requests).toHaveLength(3);
  });

  const ownAddress = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({internal, family}) => !internal && family === 'IPv4')?.address;

  test.skipIf(ownAddress === undefined)('refused connections are retried in the same way', async () => {
    const events: RetryEvent[] = [];
    const {http} = await testClient({onRetry: (event) => events.push(event)});
    const error = await rejection(http.post(`http://${String(ownAddress)}:${await closedPort()}/x`, multipart()));
    expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6, method: 'POST', path: '/x'});
    expect(events.map(({attempt, reason, status}) => ({attempt, reason, status}))).toEqual(
      [1, 2, 3].map((attempt) => ({attempt, reason: 'connection refused', status: undefined})),
    );
  });
});

describe('an upload that was not connected is sent after a wait', () => {
  type Lookup = (
    host: string,
    options: unknown,
    found: (error: Error | null, address?: string, family?: 4) => void,
  ) => void;

  test.each<[string, Lookup]>([
    ['no route to the host', (_, __, found) => found(Object.assign(new Error('no'), {code: 'EHOSTUNREACH'}))],
    ['no connection for 0.3 s', () => undefined],
  ])('%s', async (reason, fail) => {
    const server = await startRecordingServer(refuseFirst(0));
    const events: RetryEvent[] = [];
    const {http} = await testClient({timeouts: {connectMs: 300}, onRetry: (event) => events.push(event)});
    let lookups = 0;
    const dnsLookup: Lookup = (host, options, found) => {
      lookups += 1;
      if (lookups === 1) fail(host, options, found);
      else Reflect.apply(lookup, undefined, ['127.0.0.1', options, found]);
    };
    const upload = {...multipart(), dnsLookup} as object;
    expect(await http.post(`http://far.example.test:${server.port}/x`, upload)).toMatchObject({statusCode: 201});
    expect(events).toMatchObject([{attempt: 1, maxRetries: 3, reason}]);
    expect(server.requests).toHaveLength(1);
  });

  test('the handshake was cut off', async () => {
    const tls = https.createServer(selfSigned, (request, response) => {
      request.resume().once('end', () => sendJson(response, 201, {}));
    });
    let connections = 0;
    const server = await startTcpServer((socket) => {
      connections += 1;
      if (connections > 1) tls.emit('connection', socket);
      else socket.once('data', () => socket.destroy());
    });
    const {http} = await testClient();
    const upload = {...multipart(), https: {certificateAuthority: selfSigned.cert}} as object;
    expect(await http.post(server.origin.replace('http:', 'https:'), upload)).toMatchObject({statusCode: 201});
    expect(connections).toBe(2);
  });

  test('a proxy could not reach the host', async () => {
    const answers = ['502 Bad Gateway', '407 Proxy Authentication Required'];
    const proxy = await startProxy({
      tunnel: (socket) => socket.end(`HTTP/1.1 ${String(answers.shift())}\r\n\r\n`),
    });
    const events: RetryEvent[] = [];
    const {http} = await testClient({env: {HTTPS_PROXY: proxy.origin}, onRetry: (event) => events.push(event)});
    const error = await rejection(http.post('https://far.example.test/x', multipart()));
    expect(error).toMatchObject({exitCode: 6, message: expect.stringContaining('407') as string});
    expect(events).toMatchObject([{attempt: 1, reason: 'the proxy returned 502 Bad Gateway'}]);
  });
});

test('a connection that this machine refuses is not retried: something has to be started', async () => {
  const events: RetryEvent[] = [];
  const {http} = await testClient({onRetry: (event) => events.push(event)});
  const error = await rejection(http.get(`http://127.0.0.1:${await closedPort()}`));
  expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6});
  expect(error.suggestions).toEqual(['Start the service there, or check the address.']);
  expect(events).toEqual([]);
});

describe('a source whose size is not what it promised', () => {
  test.each([
    ['holds less', 90, 'now has only 90'],
    ['holds more', 110, 'now has more'],
  ])('%s: an error of the file, and the server never sees a whole request', async (_, actual, message) => {
    const server = await startRecordingServer(refuseFirst(0));
    const {http} = await testClient();
    const {createReadStream} = testSource(actual);
    const error = await rejection(http.post(server.origin, createRequestBodies().file({size: 100, createReadStream})));
    expect(error).toMatchObject({code: 'ERR_FILE_CHANGED', exitCode: 3});
    expect(error.message).toContain(message);
    expect(server.requests).toHaveLength(0);
  });

  test('fails while it is read: an error of the file, too', async () => {
    const server = await startRecordingServer(refuseFirst(0));
    const {http} = await testClient();
    const source = {
      size: 100,
      createReadStream: () =>
        new Readable({
          read() {
            this.destroy(Object.assign(new Error('ENOENT: no such file'), {code: 'ENOENT'}));
          },
        }),
    };
    const error = await rejection(http.post(server.origin, createRequestBodies().file(source)));
    expect(error).toMatchObject({code: 'ERR_FILE_CHANGED'});
    expect(error.message).toContain('ENOENT');
  });
});
