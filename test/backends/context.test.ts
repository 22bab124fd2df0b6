import {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test, vi} from 'vitest';
import {startRecordingServer} from '../recording-server.js';
import type {ByteSource} from '../../src/http/types.js';
import {contextFor, silent} from './context-for.js';

test('a context has what is given to a call', async () => {
  const given = {projectSlug: 'shop', targetSlug: 'staging', env: {A: '1'}};
  expect(await contextFor({region: 'eu'}, given)).toMatchObject({...given, options: {region: 'eu'}});
});

test('a context runs any number of requests at once without a warning, and an abort ends them all', async () => {
  const warnings: string[] = [];
  const keep = ({name}: Error) => void warnings.push(name);
  process.on('warning', keep);
  onTestFinished(() => void process.off('warning', keep));
  const controller = new AbortController();
  const reason = new Error('stop');
  await using server = await startRecordingServer(async () => {
    if (server.requests.length === 12) controller.abort(reason);
    return new Promise(() => undefined);
  });
  const {http} = await contextFor({}, {signal: controller.signal});
  const outcomes = await Promise.allSettled(Array.from({length: 12}, async () => http.get(server.origin)));
  expect(outcomes).toEqual(outcomes.map(() => ({status: 'rejected', reason})));
  // Warnings arrive in the order in which they are emitted.
  process.emitWarning('the last', 'Last');
  await vi.waitUntil(() => warnings.includes('Last'));
  expect(warnings).toEqual(['Last']);
});

test('the client of a context has the user agent, the time-outs and the secrets to mask', async () => {
  await using server = await startRecordingServer(() => new Promise(() => undefined));
  const {http} = await contextFor({}, {timeouts: {requestMs: 1000}, secrets: ['canary'], rateLimit: {maxRetries: 0}});
  const failed = http.post(`${server.origin}/canary`);
  await expect(failed).rejects.toMatchObject({message: expect.stringContaining('/***') as string});
  expect(server.requests.map(({headers}) => headers['user-agent'])).toEqual(['mycli/0.0.0-test']);
});

test('what a backend learns is masked from then on: in its log, in errors and by whoever wants to know', async () => {
  await using server = await startRecordingServer(() => ({status: 400, body: {error: 'learned-1 and learned-2'}}));
  const [log, told]: [string[], string[]] = [[], []];
  const logger = {...silent, info: (message: string) => log.push(message)};
  const {http, logger: own, maskSecret} = await contextFor({}, {logger, onSecret: (secret) => told.push(secret)});
  own.info('learned-1');
  maskSecret('learned-1');
  maskSecret(undefined);
  own.info('learned-1');
  maskSecret('learned-2');
  await expect(http.get(server.origin)).rejects.toMatchObject({
    message: expect.stringContaining('*** and ***') as string,
  });
  expect(log).toEqual(['learned-1', '***']);
  expect(told).toEqual(['learned-1', 'learned-2']);
});

test('progress of a body goes to whoever wants to know', async () => {
  await using server = await startRecordingServer(() => ({status: 200, body: {}}));
  const seen: number[] = [];
  const {http, bodies} = await contextFor({}, {onProgress: ({transferred}) => seen.push(transferred)});
  await http.post(server.origin, bodies.file(sourceOf('four')));
  expect(seen.at(-1)).toBe(4);
  const nobody = await contextFor({});
  await nobody.http.post(server.origin, nobody.bodies.file(sourceOf('four')));
  expect(server.requests).toHaveLength(2);
});

test('the parts of a file are sent one after the other, with the progress of the whole', async () => {
  await using server = await startRecordingServer(() => ({status: 200, body: {}}));
  const seen: (readonly [number, number | undefined])[] = [];
  const {http, bodies} = await contextFor({}, {onProgress: ({transferred, total}) => seen.push([transferred, total])});
  const source = sourceOf('abcdefg');
  for (let start = 0; start < source.size; start += 3) {
    await http.post(server.origin, bodies.file(source, {start, end: Math.min(start + 3, source.size) - 1}));
  }
  expect(server.requests.map(({body}) => body.toString())).toEqual(['abc', 'def', 'g']);
  expect(seen).toEqual([0, 3, 3, 6, 6, 7].map((transferred) => [transferred, 7]));
});

function sourceOf(text: string): ByteSource {
  const bytes = Buffer.from(text);
  return {
    size: bytes.length,
    createReadStream: ({start = 0, end = bytes.length - 1} = {}) => Readable.from([bytes.subarray(start, end + 1)]),
  };
}

test.each(['the client', 'a client of the backend'])(
  'the waits of %s are told to the nearest who asked',
  async (which) => {
    const told: string[] = [];
    const asked = (who: string) => ({
      logger: {...silent, info: () => told.push(`${who} logs`)},
      onRetry: () => told.push(who),
    });
    const waitIn = async (rateLimit: object) => {
      await using server = await startRecordingServer(() => ({status: 429, body: {}}));
      const context = await contextFor(
        {},
        {...asked('caller'), rateLimit: {maxRetries: 1, baseDelayMs: 1, ...rateLimit}},
      );
      if (which === 'the client') await expect(context.http.get(server.origin)).rejects.toMatchObject({status: 429});
      else await context.waitToRetry({retries: 0, status: 429, reason: '429'});
      return told.splice(0);
    };
    expect(await waitIn({})).toEqual(['caller logs', 'caller']);
    expect(await waitIn(asked('rate limit'))).toEqual(['rate limit logs', 'rate limit']);
  },
);

test('what a backend says of a retry is logged with the secrets masked', async () => {
  const log: string[] = [];
  const logger = {
    ...silent,
    info: (message: string) => log.push(message),
    warn: (message: string) => log.push(message),
  };
  const rateLimit = {maxRetries: 1, baseDelayMs: 1};
  const {waitToRetry} = await contextFor({}, {logger, secrets: ['canary'], rateLimit});
  expect(await waitToRetry({retries: 0, status: 429, reason: 'canary is limited'})).toBe(true);
  expect(log).toEqual([expect.stringContaining('*** is limited')]);
});

test.each(['the client', 'a client that it was extended to'])(
  'a stream of %s is asked for again until an answer begins',
  async (which) => {
    const statuses = [429, 200];
    await using server = await startRecordingServer(() => ({status: statuses.shift() ?? 500, body: 'the archive'}));
    const context = await contextFor({});
    const http = which === 'the client' ? undefined : context.http.extend({headers: {authorization: 'Bearer token'}});
    const {body, status} = await context.openStream(server.origin, {
      http,
      headers: {range: 'bytes=0-', 'if-range': undefined},
    });
    expect([status, await text(body)]).toEqual([200, 'the archive']);
    expect(server.requests.map(({headers}) => [headers.range, headers['if-range'], headers.authorization])).toEqual(
      Array.from({length: 2}, () => ['bytes=0-', undefined, http && 'Bearer token']),
    );
    await expect(context.openStream(server.origin)).rejects.toMatchObject({status: 500});
  },
);
