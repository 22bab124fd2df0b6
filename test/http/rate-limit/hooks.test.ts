import {got} from 'got';
import {afterEach, expect, test, vi} from 'vitest';
import {createRateLimitHooks} from '../../../src/http/rate-limit/index.js';
import {refuseFirst, startRecordingServer} from '../with-server.js';

const silent = {info: () => undefined, warn: () => undefined};
const quick = {baseDelayMs: 1, maxDelayMs: 5, logger: silent};

afterEach(() => void vi.useRealTimers());

test.each([0, 1, 2, 3])('plain got sends a streamed body whole after %d answers of 429', async (times) => {
  const server = await startRecordingServer(refuseFirst(times));
  const client = got.extend({hooks: createRateLimitHooks(quick)});
  const attempts: number[] = [];
  const createBody = async function* (attempt: number) {
    attempts.push(attempt);
    yield Buffer.from('one ');
    yield Buffer.from('two');
  };
  const response = await client.post(`${server.origin}/x`, {headers: {'content-length': '7'}, context: {createBody}});
  expect(response.statusCode).toBe(201);
  expect(server.requests.map(({body}) => body.toString())).toEqual(Array(times + 1).fill('one two'));
  expect(attempts).toEqual(Array.from({length: times + 1}, (_, index) => index + 1));
});

test("got's own retries never double them", async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const client = got.extend({hooks: createRateLimitHooks({...quick, maxRetries: 1}), retry: {limit: 5, noise: 0}});
  await expect(client.get(`${server.origin}/x`)).rejects.toMatchObject({
    code: 'ERR_NON_2XX_3XX_RESPONSE',
    response: {statusCode: 429},
  });
  expect(server.requests).toHaveLength(2);
});

test("got's own retries of other statuses stay", async () => {
  const server = await startRecordingServer(refuseFirst(1, 503));
  const retry = {limit: 1, calculateDelay: ({computedValue}: {computedValue: number}) => Math.min(computedValue, 1)};
  const client = got.extend({hooks: createRateLimitHooks(quick), retry});
  expect(await client.get(`${server.origin}/x`)).toMatchObject({statusCode: 201});
  expect(server.requests).toHaveLength(2);
});

test.each([
  [429, 'Too Many Requests', '429 Too Many Requests'],
  [499, '', '499'],
])('a wait is as long as Retry-After says, and told with status and words: %d "%s"', async (status, words, reason) => {
  const server = await startRecordingServer((response, _, count) => {
    if (count === 1) response.writeHead(status, words, {'retry-after': '0'});
    response.end();
  });
  const events: unknown[] = [];
  const onRetry = (event: unknown) => events.push(event);
  const hooks = createRateLimitHooks({statusCodes: [status], logger: silent, onRetry});
  await got.extend({hooks}).get(`${server.origin}/x`);
  expect(events).toEqual([{attempt: 1, maxRetries: 3, delayMs: 0, status, rateLimited: true, reason}]);
});

test('each call of a client counts for itself', async () => {
  const server = await startRecordingServer((response, _, count) => {
    response.writeHead(count % 3 === 0 ? 200 : 429).end();
  });
  const client = got.extend({hooks: createRateLimitHooks({...quick, maxRetries: 2}), retry: {limit: 0}});
  for (let call = 0; call < 3; call += 1) await client.get(`${server.origin}/x`);
  expect(server.requests).toHaveLength(9);
});

test('an abort ends the wait, and leaves no timer behind', async () => {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
  const server = await startRecordingServer(refuseFirst(Infinity));
  const controller = new AbortController();
  const onRetry = () => void setImmediate(() => controller.abort());
  const client = got.extend({hooks: createRateLimitHooks({logger: silent, onRetry}), retry: {limit: 0}});
  await expect(client.get(server.origin, {signal: controller.signal})).rejects.toThrow('aborted');
  expect(vi.getTimerCount()).toBe(0);
  expect(server.requests).toHaveLength(1);
});
