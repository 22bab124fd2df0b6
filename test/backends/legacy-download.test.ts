import {PassThrough, Writable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import type {BackendContextOptions} from '../../src/backends/backend-context.js';
import type {DownloadRequest, DownloadStart} from '../../src/backends/contract.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import type {LegacyBackendOptions} from '../../src/backends/legacy/connection.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import type {RetryEvent} from '../../src/http/types.js';
import {startRecordingServer, type Handler, type RecordedRequest} from '../recording-server.js';
import {contextFor, promised} from './context-for.js';

const download = promised(legacyBackend.download);
const isArchive = ({path}: RecordedRequest) => path.startsWith('/archive');

/** A legacy service whose presigned URL is `/archive` of its own origin, or `address`, and what is answered there. */
async function startService(archive: Handler, address?: string) {
  const server = await startRecordingServer((request, response) => {
    if (isArchive(request)) return archive(request, response);
    return {status: 200, body: {download_url: address ?? `${server.origin}/archive`}};
  });
  return server;
}

/** Downloads bundle 7: the bytes, what was told of their start, and the waits; `maxRetries` is 3. */
async function downloadFrom(
  origin: string,
  request: Partial<DownloadRequest> = {},
  more: Partial<Pick<BackendContextOptions, 'signal' | 'timeouts'>> = {},
) {
  const starts: DownloadStart[] = [];
  const waits: RetryEvent[] = [];
  const context = await contextFor<LegacyBackendOptions>(
    {origin, auth: new ApiKeyStrategy({apiKey: 'canary-key'})},
    {rateLimit: {baseDelayMs: 1}, onRetry: (event) => waits.push(event), ...more},
  );
  const writeTo = new PassThrough();
  const onStart = (start: DownloadStart) => starts.push(start);
  const done = download({bundleId: '7', writeTo, onStart, ...request}, context);
  return {bytes: async () => String((await Promise.all([buffer(writeTo), done]))[0]), done, starts, waits};
}

const resume = {offset: 30, validator: '"v1"'};

describe('a download from legacy', () => {
  test('asks for the presigned URL and goes there without credentials', async () => {
    await using server = await startService(() => ({status: 200, body: 'abcdef', headers: {etag: '"v1"'}}));
    const {bytes} = await downloadFrom(server.origin);
    expect(await bytes()).toBe('abcdef');
    expect(server.requests.map(({method, path}) => `${method} ${path}`)).toEqual([
      'GET /api/projects/my%20shop/bundles/7/download/',
      'GET /archive',
    ]);
    expect(server.requests.map(({headers}) => headers.authorization)).toEqual(['Bearer canary-key', undefined]);
    expect(server.requests[1]?.headers).not.toHaveProperty('range');
    expect(server.requests[1]?.headers).not.toHaveProperty('if-range');
  });

  test.each([5, 'file:///etc/passwd', 'ftp://x/', 'http://unix:/run/x.sock:/y'])(
    'with %j for the URL in the answer is an error',
    async (address) => {
      await using server = await startRecordingServer(() => ({status: 200, body: {download_url: address}}));
      const {done} = await downloadFrom(server.origin);
      await expect(done).rejects.toMatchObject({
        code: 'ERR_RESPONSE_INVALID',
        message: expect.stringContaining('download_url') as string,
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  test('ends with its signal, though the archive is here and only keeping it takes time', async () => {
    await using server = await startService(() => ({status: 200, body: 'abcdef'}));
    const controller = new AbortController();
    const writeTo = new Writable({
      write: (_chunk, _encoding, written) => written(),
      final: () => setImmediate(() => controller.abort()),
    });
    const {done} = await downloadFrom(server.origin, {writeTo}, {signal: controller.signal});
    await expect(done).rejects.toThrow('aborted');
  });

  test('ends with what whoever is told of its start throws, and asks once', async () => {
    await using server = await startService(() => ({status: 200, body: 'abcdef'}));
    const reason = new Error('no room');
    const onStart = () => {
      throw reason;
    };
    const {done} = await downloadFrom(server.origin, {onStart});
    await expect(done).rejects.toBe(reason);
    expect(server.requests.filter(isArchive)).toHaveLength(1);
  });

  test.each([
    [
      {'content-length': '6', etag: '"v1"'},
      {offset: 0, total: 6, validator: '"v1"'},
    ],
    [
      {'content-length': '6', etag: 'W/"v1"'},
      {offset: 0, total: 6},
    ],
    [{'transfer-encoding': 'chunked'}, {offset: 0}],
  ])('tells before the first byte what the headers %j say', async (headers, start) => {
    await using server = await startService(() => ({status: 200, body: 'abcdef', headers}));
    const {bytes, starts} = await downloadFrom(server.origin, {resume});
    expect(await bytes()).toBe('abcdef');
    expect(starts).toEqual([start]);
  });

  test.each([
    ['bytes 30-32/33', {}, {total: 33, validator: '"v1"'}],
    ['bytes 30-32/*', {etag: '"v1"'}, {total: undefined, validator: '"v1"'}],
    ['bytes 30-32/33', {etag: '"other"'}, {total: 33, validator: '"other"'}],
    ['bytes 30-32/33', {etag: 'W/"v1"'}, {total: 33, validator: 'W/"v1"'}],
  ])('goes on where it broke off when the server sends %s with %j, and tells the ETag', async (range, etag, start) => {
    const headers = {'content-range': range, ...etag};
    await using server = await startService(() => ({status: 206, body: 'def', headers}));
    const {bytes, starts} = await downloadFrom(server.origin, {resume});
    expect(await bytes()).toBe('def');
    expect(starts).toEqual([{offset: 30, ...start}]);
    expect(server.requests[1]?.headers).toMatchObject({range: 'bytes=30-', 'if-range': '"v1"'});
  });

  test.each([
    ['bytes 29-32/33', resume],
    ['bytes 30-32/33 or so', resume],
    ['bytes 30-29/30', resume],
    ['bytes 30-35/33', resume],
    ['', resume],
    ['bytes 0-5/6', undefined],
  ])('refuses the part %j when %o was asked for, and asks once', async (range, asked) => {
    const headers = {'content-range': range};
    await using server = await startService(() => ({status: 206, body: 'def', headers}));
    const {done, starts} = await downloadFrom(server.origin, {resume: asked});
    await expect(done).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      message: expect.stringContaining('a different part') as string,
    });
    expect(starts).toEqual([]);
    expect(server.requests.filter(isArchive)).toHaveLength(1);
  });
});

describe('an archive that cannot be had at once', () => {
  test.each<[string, Handler, number, object]>([
    ['a connection that breaks twice more', () => undefined, 3, {code: 'ERR_NETWORK'}],
    ['a limited rate as often as configured', () => ({status: 429, body: ''}), 4, {status: 429}],
    ['a refusal never', () => ({status: 404, body: ''}), 1, {code: 'ERR_REJECTED', status: 404}],
  ])('is asked for again: %s', async (_, handler, times, failure) => {
    await using server = await startService(handler);
    const {done, waits} = await downloadFrom(server.origin);
    await expect(done).rejects.toMatchObject(failure);
    expect(server.requests.filter(isArchive)).toHaveLength(times);
    expect(waits).toHaveLength(times - 1);
  });
});
