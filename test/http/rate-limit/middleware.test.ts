import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {
  createRateLimitMiddleware,
  type RateLimitMiddleware,
  type RateLimitMiddlewareConfig,
} from '../../../src/http/rate-limit/index.js';
import {refuseFirst, startRecordingServer} from '../with-server.js';

const quick = {baseDelayMs: 1, maxDelayMs: 5};

function recordingLogger() {
  const lines: string[] = [];
  return {
    lines,
    logger: {info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line)},
  };
}

/** A client of the kind that the middleware is for: `fetch` in the context sends through the whole chain. */
function chain(middleware: RateLimitMiddleware, rewrap: (request: Request) => Request = (request) => request) {
  const dispatch = async (given: Request): Promise<Response> => {
    const request = rewrap(given);
    middleware.onRequest({request});
    const response = await fetch(request);
    return middleware.onResponse({request, response, fetch: dispatch});
  };
  return dispatch;
}

async function send(config: RateLimitMiddlewareConfig, request: Request): Promise<Response> {
  const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger, ...config});
  middleware.onRequest({request});
  return middleware.onResponse({request, response: await fetch(request)});
}

function post(origin: string, body: RequestInit['body'] = 'the whole body', init: RequestInit = {}): Request {
  return new Request(`${origin}/x`, {method: 'POST', body, ...init});
}

describe.each([0, 1, 2, 3])('after %d answers of 429', (times) => {
  test('the loop over the global fetch ends with the success, and each try sent the whole body', async () => {
    const server = await startRecordingServer(refuseFirst(times));
    const response = await send({}, post(server.origin));
    expect(response.status).toBe(201);
    expect(server.requests.map(({body}) => body.toString())).toEqual(Array(times + 1).fill('the whole body'));
  });

  test('the re-dispatch helper does the same, although the chain makes new requests of ours', async () => {
    const server = await startRecordingServer(refuseFirst(times));
    const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger});
    const response = await chain(middleware, (request) => new Request(request))(post(server.origin));
    expect(response.status).toBe(201);
    expect(server.requests.map(({body}) => body.toString())).toEqual(Array(times + 1).fill('the whole body'));
  });
});

test('out of retries, the last response is the result, still readable', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const response = await send({maxRetries: 2}, post(server.origin));
  expect(response.status).toBe(429);
  expect(await response.text()).toBe('{"detail":"slow down"}');
  expect(server.requests).toHaveLength(3);
});

test('the re-dispatch helper is called once for each response, and the count continues through the chain', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const {lines, logger} = recordingLogger();
  const middleware = createRateLimitMiddleware({...quick, maxRetries: 2, prefix: 'API', logger});
  const response = await chain(middleware, (request) => new Request(request))(post(server.origin));
  expect(response.status).toBe(429);
  expect(server.requests).toHaveLength(3);
  expect(lines).toEqual([
    expect.stringMatching(/^\[API RATE\] 429 Too Many Requests: retry 1 of 2 in \d ms$/),
    expect.stringMatching(/^\[API RATE\] 429 Too Many Requests: retry 2 of 2 in \d ms$/),
  ]);
});

test('a re-dispatch that signs each URL anew counts on', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const middleware = createRateLimitMiddleware({...quick, maxRetries: 2, logger: recordingLogger().logger});
  let nonces = 0;
  const dispatch = chain(middleware, (request) => {
    nonces += 1;
    return new Request(`${server.origin}/x/${nonces}?signature=${nonces}`, request);
  });
  expect((await dispatch(post(server.origin))).status).toBe(429);
  expect(server.requests.map(({url}) => url)).toEqual([1, 2, 3].map((nonce) => `/x/${nonce}?signature=${nonce}`));
});

test('a re-dispatch helper that does not lead back here makes one retry', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger});
  const request = post(server.origin);
  middleware.onRequest({request});
  await middleware.onResponse({request, response: await fetch(request), fetch: async (again) => fetch(again)});
  expect(server.requests).toHaveLength(2);
});

test('a request that is handed in again and again is retried maxRetries times in all', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const {lines, logger} = recordingLogger();
  const middleware = createRateLimitMiddleware({...quick, logger});
  const request = post(server.origin);
  middleware.onRequest({request});
  let response = await fetch(request);
  for (let turn = 0; turn < 6; turn += 1) response = await middleware.onResponse({request, response, fetch});
  expect(response.status).toBe(429);
  expect(server.requests.map(({body}) => body.toString())).toEqual(Array(4).fill('the whole body'));
  expect(lines.map((line) => /retry \d of 3/.exec(line)?.[0])).toEqual([
    'retry 1 of 3',
    'retry 2 of 3',
    'retry 3 of 3',
  ]);
});

test('the middleware without any fetch hands the answer back, readable, and waits for nothing', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const {lines, logger} = recordingLogger();
  const middleware = createRateLimitMiddleware({maxDelayMs: 2_000_000_000, baseDelayMs: 2_000_000_000, logger});
  const request = post(server.origin);
  middleware.onRequest({request});
  const response = await fetch(request);
  vi.stubGlobal('fetch', undefined);
  const handed = await middleware.onResponse({request, response});
  vi.unstubAllGlobals();
  expect(handed).toBe(response);
  expect(await handed.text()).toContain('slow down');
  expect(lines).toEqual([]);
});

test('the middleware counts two requests at a time each for itself', async () => {
  const server = await startRecordingServer((response, request) => {
    const seen = server.requests.filter(({url}) => url === request.url).length;
    response.writeHead(seen <= 3 ? 429 : 200).end();
  });
  const dispatch = chain(createRateLimitMiddleware({...quick, logger: recordingLogger().logger}));
  const statuses = await Promise.all(
    ['a', 'b'].map(async (name) => (await dispatch(new Request(`${server.origin}/${name}`))).status),
  );
  expect(statuses).toEqual([200, 200]);
});

test('config.fetch sends the retries when there is no re-dispatch helper', async () => {
  const server = await startRecordingServer(refuseFirst(2));
  const urls: string[] = [];
  const response = await send(
    {
      fetch: async (request) => {
        urls.push(request.url);
        return fetch(request);
      },
    },
    post(server.origin),
  );
  expect(response.status).toBe(201);
  expect(urls).toEqual([`${server.origin}/x`, `${server.origin}/x`]);
});

test("a client's own fetch comes after config.fetch and before the global one", async () => {
  const answer = (text: string) => async () => new Response(text);
  const last = async (config: RateLimitMiddlewareConfig) => {
    const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger, ...config});
    const limited = new Response(null, {status: 429});
    const options = {fetch: answer('of the client')};
    return (await middleware.onResponse({request: new Request('http://a.test'), response: limited, options})).text();
  };
  expect(await last({fetch: answer('of the configuration')})).toBe('of the configuration');
  expect(await last({})).toBe('of the client');
});

test('the global fetch is looked up when it is needed', async () => {
  const server = await startRecordingServer(refuseFirst(1));
  const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger});
  const request = post(server.origin);
  middleware.onRequest({request});
  const response = await fetch(request);
  const later = vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response('from the later fetch'));
  const last = await middleware.onResponse({request, response});
  expect(await last.text()).toBe('from the later fetch');
  later.mockRestore();
});

describe.each([
  ['with a body', 'the whole body'],
  ['without a body', null],
])('a request %s whose headers were changed after the copy was made', (_, body) => {
  test.each<[string, (headers: Headers) => void, string | undefined]>([
    ['was removed is not sent again', (headers) => headers.delete('x-own'), undefined],
    ['was replaced is sent again as it is', (headers) => headers.set('x-own', 'new'), 'new'],
    ['got one more value is sent again with both', (headers) => headers.append('x-own', 'more'), 'old, more'],
  ])('a header that %s', async (__, change, expected) => {
    const server = await startRecordingServer(refuseFirst(1));
    const request = post(server.origin, body, {headers: {'x-own': 'old', 'content-type': 'text/x-own'}});
    const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger});
    middleware.onRequest({request});
    const response = await fetch(request.clone());
    change(request.headers);
    if (expected === undefined) request.headers.delete('content-type');
    expect((await middleware.onResponse({request, response})).status).toBe(201);
    expect(server.requests.map(({headers}) => headers['x-own'])).toEqual(['old', expected]);
    expect(server.requests[1]?.headers['content-type']).toBe(expected === undefined ? undefined : 'text/x-own');
    expect(server.requests[1]?.body.toString()).toBe(body ?? '');
  });
});

test('headers that were set after the copy was made are sent again too', async () => {
  const server = await startRecordingServer(refuseFirst(1));
  const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger});
  const request = post(server.origin);
  middleware.onRequest({request});
  request.headers.set('x-late', 'yes');
  await middleware.onResponse({request, response: await fetch(request)});
  expect(server.requests.map(({headers}) => headers['x-late'])).toEqual(['yes', 'yes']);
});

test('a streamed body is sent again whole', async () => {
  const server = await startRecordingServer(refuseFirst(2));
  const body = new ReadableStream({
    start(controller) {
      for (const part of ['one ', 'two ', 'three']) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  const response = await send({}, post(server.origin, body, {duplex: 'half'}));
  expect(response.status).toBe(201);
  expect(server.requests.map((request) => request.body.toString())).toEqual(Array(3).fill('one two three'));
});

test('a request whose body is spent and was not kept is not retried: a warning, no exception', async () => {
  const server = await startRecordingServer(refuseFirst(1));
  const {lines, logger} = recordingLogger();
  const middleware = createRateLimitMiddleware({...quick, prefix: 'API', logger});
  const request = post(server.origin);
  const response = await fetch(request);
  expect(await middleware.onResponse({request, response})).toBe(response);
  expect(lines).toEqual(['[API RATE] Not retried: the body of POST /x was already read.']);
  expect(server.requests).toHaveLength(1);
});

test('a request whose body is spent already can be handed in', async () => {
  const request = post('http://a.test');
  await request.text();
  expect(() => createRateLimitMiddleware(quick).onRequest({request})).not.toThrow();
});

test.each([
  ['its answer passes', {}, 200],
  ['no retries are left', {maxRetries: 0}, 429],
])('the copy of a request is released when %s', async (_, config, status) => {
  const middleware = createRateLimitMiddleware({...quick, ...config});
  const request = post('http://a.test');
  const clone = vi.spyOn(request, 'clone');
  middleware.onRequest({request});
  await middleware.onResponse({request, response: new Response('', {status})});
  expect(clone.mock.results).toMatchObject([{value: {bodyUsed: true}}]);
});

test('a response that is not passed on is released, unless someone reads it', async () => {
  const read = new Response('read by somebody', {status: 429});
  const reader = read.body?.getReader();
  const answers = [read, new Response('limited', {status: 429}), new Response('done')];
  const given = [...answers];
  const fetchNext = async () => answers.shift() ?? Response.error();
  const middleware = createRateLimitMiddleware({...quick, logger: recordingLogger().logger, fetch: fetchNext});
  const first = new Response('limited', {status: 429});
  const last = await middleware.onResponse({request: new Request('http://a.test'), response: first});
  expect(await last.text()).toBe('done');
  expect([first, ...given].map(({bodyUsed}) => bodyUsed)).toEqual([true, false, true, true]);
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('read by somebody');
});

test.each([
  ['maxRetries is 0', {maxRetries: 0}, 429],
  ['the status is not in the list', {}, 503],
  ['the list names others', {statusCodes: [503]}, 429],
])('the very response passes untouched when %s', async (_, config, status) => {
  const server = await startRecordingServer(refuseFirst(1, status));
  const middleware = createRateLimitMiddleware({...quick, ...config});
  const request = post(server.origin);
  middleware.onRequest({request});
  const response = await fetch(request);
  expect(await middleware.onResponse({request, response})).toBe(response);
  expect(response.bodyUsed).toBe(false);
  expect(server.requests).toHaveLength(1);
});

test('an abort ends the wait, sends nothing more and resolves with the last response', async () => {
  const server = await startRecordingServer(refuseFirst(Infinity));
  const controller = new AbortController();
  const waits: number[] = [];
  const middleware = createRateLimitMiddleware({
    baseDelayMs: 20_000,
    logger: recordingLogger().logger,
    onRetry: ({delayMs}) => {
      waits.push(delayMs);
      setTimeout(() => controller.abort(), 5);
    },
  });
  const request = post(server.origin, 'body', {signal: controller.signal});
  middleware.onRequest({request});
  const response = await fetch(request);
  expect(await middleware.onResponse({request, response})).toBe(response);
  expect(waits).toHaveLength(1);
  expect(server.requests).toHaveLength(1);
});

describe('waits', () => {
  beforeEach(() => void vi.useFakeTimers({now: Date.UTC(2026, 10, 21, 12)}));
  afterEach(() => void vi.useRealTimers());

  const limited = (retryAfter?: string) =>
    new Response(null, {status: 429, ...(retryAfter === undefined ? {} : {headers: {'retry-after': retryAfter}})});

  test.each([
    ['7', 7000],
    ['Sat, 21 Nov 2026 12:00:09 GMT', 9000],
    ['Fri, 20 Nov 2026 12:00:00 GMT', 0],
    ['99999', 30_000],
  ])('last as long as Retry-After %j says, the cap kept: %d ms', async (retryAfter, expected) => {
    const sentAt: number[] = [];
    const start = Date.now();
    const middleware = createRateLimitMiddleware({
      logger: recordingLogger().logger,
      fetch: async () => {
        sentAt.push(Date.now() - start);
        return new Response('done');
      },
    });
    const result = middleware.onResponse({request: new Request('http://a.test'), response: limited(retryAfter)});
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await result).status).toBe(200);
    expect(sentAt).toEqual([expected]);
  });

  test('grow with each retry when there is no Retry-After, and are logged with what was cut', async () => {
    const {lines, logger} = recordingLogger();
    const answers = [limited(), limited('3600'), new Response('done')];
    const middleware = createRateLimitMiddleware({logger, fetch: async () => answers.shift() ?? Response.error()});
    const result = middleware.onResponse({request: new Request('http://a.test'), response: limited()});
    await vi.advanceTimersByTimeAsync(120_000);
    await result;
    const delays = lines.map((line) => Number(/in (\d+) ms/.exec(line)?.[1]));
    expect(delays[0]).toBeGreaterThanOrEqual(1000);
    expect(delays[0]).toBeLessThanOrEqual(1200);
    expect(delays[1]).toBeGreaterThanOrEqual(2000);
    expect(delays[1]).toBeLessThanOrEqual(2400);
    expect(lines[2]).toBe('[RATE] 429 Too Many Requests: retry 3 of 3 in 30000 ms; the server asked for 3600000 ms');
  });

  test('are logged to console.warn when no logger is given', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const middleware = createRateLimitMiddleware({prefix: 'X', fetch: async () => new Response('done')});
    const result = middleware.onResponse({request: new Request('http://a.test'), response: limited('1')});
    await vi.advanceTimersByTimeAsync(1000);
    await result;
    expect(warn.mock.calls).toEqual([['[X RATE] 429 Too Many Requests: retry 1 of 3 in 1000 ms']]);
    warn.mockRestore();
  });
});
