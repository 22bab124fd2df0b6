import type {RequestListener} from 'node:http';
import {expect, test} from 'vitest';
import {probe, type ProbeRequest} from '../../src/http/probe.js';
import type {Environment} from '../../src/text/platform.js';
import {startServer} from './with-server.js';

const ignore = () => undefined;
const logger = {debug: ignore, info: ignore, warn: ignore};

interface Looked extends Partial<Omit<ProbeRequest, 'url'>> {
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  readonly secrets?: readonly string[];
}

function look(url: string, {env = {}, signal, secrets, ...request}: Looked = {}) {
  const accepts = (status: number) => status >= 200 && status < 300;
  return probe(
    {url: new URL(url), accepts, timeoutMs: 60_000, ...request},
    {env, logger, userAgent: 'mycli/0', signal, secrets},
  );
}

/** Looks at what a server answers. */
async function lookAt(answer: RequestListener, looked?: Looked) {
  const {origin} = await startServer(answer);
  return look(`${origin}/page?token=1`, looked);
}

test('passes a page with an accepted status, without any credentials', async () => {
  const headers: unknown[] = [];
  const answer = await lookAt((request, response) => {
    headers.push(request.headers);
    response.end('fine');
  });
  expect(answer).toEqual({status: 200, problem: undefined});
  expect(headers).toEqual([expect.not.objectContaining({authorization: expect.anything() as unknown})]);
  expect(headers).toEqual([expect.objectContaining({'user-agent': 'mycli/0', 'accept-encoding': 'identity'})]);
});

test('quotes a short answer on one line, with secrets masked and long text cut', async () => {
  const answer = await lookAt(
    (_, response) => response.writeHead(503).end(`down\u001B[31m\n::error::x hunter22 ${'y'.repeat(400)}`),
    {secrets: ['hunter22']},
  );
  expect(answer.status).toBe(503);
  expect(answer.problem).toMatch(/^it returned 503 Service Unavailable: down ::error::x \*\*\* y+…$/);
  expect(answer.problem?.length).toBeLessThan(350);
});

test('misses a text that is not there', async () => {
  expect(await lookAt((_, response) => response.end('Hello'), {text: 'a "quoted" text'})).toEqual({
    status: 200,
    problem: String.raw`its body does not contain "a \"quoted\" text"`,
  });
});

test.each([
  [undefined, {status: 200}],
  ['never', {status: 200, problem: 'it could not be read: The response is longer than 8388608 bytes.'}],
])('reads no endless body: with the text %s it finds %j', async (text, expected) => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const answer = await lookAt(
    (_, response) => {
      const write = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    },
    {text},
  );
  expect(answer).toEqual(expected);
});

test('follows redirects to the same origin', async () => {
  const answer = await lookAt(
    (request, response) => {
      if (request.url?.startsWith('/page')) response.writeHead(302, {location: '/home'}).end();
      else response.end('home');
    },
    {text: 'home'},
  );
  expect(answer).toEqual({status: 200, problem: undefined});
});

test('sends no credentials that a redirect names', async () => {
  const credentials: unknown[] = [];
  const answer = await lookAt((request, response) => {
    credentials.push(request.headers.authorization);
    const location = `http://ann:secret@${String(request.headers.host)}/home`;
    if (request.url?.startsWith('/page')) response.writeHead(302, {location}).end();
    else response.end('home');
  });
  expect(answer).toEqual({status: 200, problem: undefined});
  expect(credentials).toEqual([undefined, undefined]);
});

test('follows no redirect to another origin, and does not quote its query', async () => {
  const requests: unknown[] = [];
  const other = await startServer((request, response) => {
    requests.push(request.url);
    response.end();
  });
  const answer = await lookAt((_, response) =>
    response.writeHead(301, {location: `${other.origin}/login?token=secret`}).end(),
  );
  expect(answer).toEqual({
    status: 301,
    problem: `it redirects to another origin, ${other.origin}/login, which is not followed`,
  });
  expect(requests).toEqual([]);
});

test('gives up on redirects in a circle', async () => {
  let count = 0;
  const answer = await lookAt((_, response) => {
    count += 1;
    response.writeHead(307, {location: '/page'}).end();
  });
  expect(answer.problem).toBe('it redirects more than 10 times');
  expect(count).toBe(11);
});

test.concurrent('gives up on a server that does not answer in time', async () => {
  const answer = await lookAt(ignore, {timeoutMs: 50});
  expect(answer).toEqual({problem: 'there was no complete response within 0.05 s'});
});

test('rejects with the reason of an abort', async () => {
  const controller = new AbortController();
  const reason = new Error('stop');
  const looking = lookAt(() => controller.abort(reason), {signal: controller.signal});
  await expect(looking).rejects.toBe(reason);
});

test('goes through the proxy', async () => {
  const urls: unknown[] = [];
  const {origin} = await startServer((request, response) => {
    urls.push(request.url);
    response.end();
  });
  const answer = await look('http://shop.example/health', {env: {http_proxy: origin}});
  expect(answer.status).toBe(200);
  expect(urls).toEqual(['http://shop.example/health']);
});

test.each<[string, number, Readonly<Record<string, string>>, string, boolean]>([
  ['a login', 401, {'www-authenticate': 'Basic realm="site"'}, '', true],
  ['a refusal that wants a login', 403, {'www-authenticate': 'Bearer'}, '', true],
  ['the page of a gateway', 403, {'content-type': 'text/html'}, '<html><h1>Request blocked</h1></html>', true],
  ['a challenge', 403, {'cf-mitigated': 'challenge'}, '', true],
  ['an answer of the app', 403, {'content-type': 'application/json'}, '{"message": "No order"}', false],
  ['an answer of the app without a challenge', 401, {'content-type': 'application/json'}, '{}', false],
  ['the error page of a server', 503, {'content-type': 'text/html'}, '<html></html>', false],
])('tells %s from what an app answers', async (_what, status, headers, body, isRefused) => {
  expect(await lookAt((_, response) => response.writeHead(status, headers).end(body))).toMatchObject({
    status,
    isRefused,
  });
});

test('sends its headers to the origin of the page only', async () => {
  const seen: unknown[] = [];
  const answer = await lookAt(
    ({url, headers}, response) => {
      seen.push([url, headers['x-gate'], headers['accept']]);
      if (url === '/page?token=1') response.writeHead(302, {location: '/in'}).end();
      else response.end('fine');
    },
    {headers: {'x-gate': 'open', accept: 'text/html'}},
  );
  expect(answer.status).toBe(200);
  expect(seen).toEqual([
    ['/page?token=1', 'open', 'text/html'],
    ['/in', 'open', 'text/html'],
  ]);
});
