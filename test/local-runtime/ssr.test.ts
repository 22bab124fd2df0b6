import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {WebSocket} from 'ws';
import type {LocalRuntimeOptions} from '../../src/testing.js';
import {v2Archive} from './archives.js';
import {sendRaw} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A runtime with apps, and what they and it say. */
async function startApps(
  files: Readonly<Record<string, string>>,
  options: LocalRuntimeOptions = {},
  onFinished?: typeof onTestFinished,
) {
  const [warnings, output]: [string[], string[]] = [[], []];
  const own: LocalRuntimeOptions = {
    ssr: true,
    onWarning: (message) => warnings.push(message),
    onAppOutput: (line) => output.push(line),
  };
  const {runtime, client} = await startRuntime({...own, ...options}, onFinished);
  const deploy = async (build: Readonly<Record<string, string>>): Promise<void> => {
    const settings = {ssrOnly: ['**/*.js', '**/*.mjs', '!static/**'], ssrShared: ['static/**'], ssrParameters: {}};
    const {json} = await client.pushV2(await v2Archive(build, {settings}), {matchMode: 'ignore_missing'});
    await client.deploy(json.id);
  };
  await deploy(files);
  const ask = (path: string, init: RequestInit = {}) => client.site(`shop/production/${path}`, init);
  return {runtime, client, deploy, ask, warnings, output};
}

const program = `
  import {createServer} from 'node:http';
  import {readFileSync} from 'node:fs';
  const answers = {
    '/env': () => JSON.stringify(process.env),
    '/cwd': () => readFileSync('server/secret.mjs', 'utf8'),
    '/exit': () => process.exit(7),
    '/abort': () => process.abort(),
    '/throw': () => setImmediate(() => { throw new Error('thrown by the app'); }),
    '/never': () => new Promise(() => undefined),
    '/long': () => void process.stdout.write('x'.repeat(150_000)),
    '/log': () => console.log('a line \\x1b[31mof the app'),
  };
  createServer(async (request, response) => {
    if (request.url === '/moved') return response.writeHead(302, {location: '/cart', 'set-cookie': ['a=1', 'b=2']}).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = await answers[request.url]?.();
    if (request.url === '/throw') return;
    response.setHeader('x-pid', process.pid);
    response.end(body ?? JSON.stringify([request.method, request.url, request.headers, Buffer.concat(chunks).toString()]));
  }).listen(process.env.PORT, '0.0.0.0', () => console.log('listening'));
`;
const server = {'ssr.mjs': program, 'server/secret.mjs': 'of the server', 'static/app.js': 'of the browser'};

test('a program that listens on PORT answers what is not a file', async () => {
  const {ask, runtime, output} = await startApps(server);
  expect((await ask('static/app.js')).body).toBe('of the browser');
  const [method, url, headers, body] = JSON.parse((await ask('cart/%2F?x=1', {method: 'POST', body: 'hello'})).body);
  expect([method, url, body]).toEqual(['POST', '/cart/%2F?x=1', 'hello']);
  const {host} = new URL(runtime.appsOrigin);
  expect(headers).toMatchObject({
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': 'http',
    'x-forwarded-prefix': '/shop/production',
  });
  expect(output).toContain('shop/production: listening');
  const moved = await ask('moved');
  expect([moved.status, moved.headers.get('location')]).toEqual([302, '/shop/production/cart']);
  expect(moved.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const head = await ask('', {method: 'HEAD'});
  expect([head.status, head.body]).toEqual([200, '']);
  const {requests} = runtime;
  await expect
    .poll(() => requests.some(({path, status, route}) => /moved/.test(path) && status === 302 && route === 'site'))
    .toBe(true);
});

test('events flow, cookies are for this host, and a WebSocket is refused with the reason', async () => {
  const {runtime} = await startApps({
    'ssr.mjs': `
      import {createServer} from 'node:http';
      const cookies = ['a=1; Domain=shop.example; Path=/; Secure; HttpOnly', '__Host-b=2; Path=/; Secure', 'c=3; secure; SameSite=None'];
      createServer((request, response) => {
        response.writeHead(200, {'content-type': 'text/event-stream', 'set-cookie': cookies}).write('data: 1\\n\\n');
      }).listen(process.env.PORT);`,
  });
  const events = await fetch(`${runtime.appsOrigin}/shop/production/events`);
  const reader = events.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 1\n\n');
  await reader?.cancel();
  expect(events.headers.getSetCookie()).toEqual([
    'a=1; Path=/; HttpOnly',
    '__Host-b=2; Path=/; Secure',
    'c=3; secure; SameSite=None',
  ]);
  const headers = {connection: 'Upgrade', upgrade: 'websocket'};
  const refused = await sendRaw(`${runtime.appsOrigin}/shop/production/live`, {headers});
  expect([refused.status, refused.body]).toEqual([501, expect.stringContaining('no WebSockets')]);
});

test('a server that takes forms of its own origin only knows it: adapter-node', async () => {
  const {runtime} = await startApps({
    'index.js': `
      const {createServer} = require('node:http');
      createServer(({headers}, response) => {
        const {PROTOCOL_HEADER, HOST_HEADER} = process.env;
        const origin = headers[PROTOCOL_HEADER] + '://' + headers[HOST_HEADER];
        response.writeHead(headers.origin === origin ? 200 : 403).end(origin);
      }).listen(process.env.PORT);`,
    'handler.js': '',
    'server/index.js': '',
  });
  const site = runtime.siteUrl('shop', 'production');
  const {origin, host} = new URL(site);
  const form = {method: 'POST', headers: {host, origin, 'content-type': 'application/x-www-form-urlencoded'}};
  expect(await sendRaw(new URL('/form', site).href, form)).toMatchObject({status: 200, body: origin});
});

const bare = `
  import {createServer} from 'node:net';
  const answers = {
    '/old': '302 Found\\r\\nLocation: /shop/production?x=1',
    '/other': '302 Found\\r\\nLocation: /shop/productions',
    '/upgrade': '101 Switching Protocols\\r\\nConnection: upgrade\\r\\nUpgrade: x',
  };
  createServer((socket) => socket.on('error', () => undefined).on('data', (data) => {
    const url = String(data).split(' ')[1];
    if (url === '/wait') {
      console.log('waiting');
      return socket.on('close', () => console.log('gone'));
    }
    const head = answers[url];
    const body = head === undefined ? String(data) : '';
    socket.end('HTTP/1.1 ' + (head ?? '200 OK') + '\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n' + body);
  })).listen(process.env.PORT, () => console.log('listening'));
`;

test('output without a line break is passed on in pieces', async () => {
  const {ask, output} = await startApps(server);
  await ask('long');
  const pieces = () =>
    output.filter((line) => line.includes('xxx')).map((line) => line.replace('shop/production: ', ''));
  await expect.poll(() => pieces().join('').length).toBeGreaterThan(65_536);
  await ask('log');
  await expect.poll(() => pieces().join('')).toBe(`${'x'.repeat(150_000)}a line \x1b[31mof the app`);
  expect(pieces().length).toBeGreaterThan(1);
});

test('the server of an app: neither it nor a client gets more through the runtime than it is to have', async () => {
  const {ask, output, runtime} = await startApps({'ssr.mjs': bare, 'static/app.js': ''});
  const body = 'GET /admin HTTP/1.1\r\n\r\n';
  const smuggled = await sendRaw(`${runtime.appsOrigin}/shop/production/echo`, {
    headers: {connection: 'content-length, host', 'content-length': String(body.length)},
    write: (request) => request.end(body),
  });
  expect(smuggled.body).toMatch(new RegExp(`content-length: ${String(body.length)}\r\n`));
  expect(smuggled.body).toContain(`host: ${new URL(runtime.appsOrigin).host}\r\n`);
  const echoed = (await ask('echo', {headers: {cookie: 'a=1; b=2'}})).body;
  expect(echoed).toContain('cookie: a=1; b=2\r\n');
  expect((await ask('old')).headers.get('location')).toBe('/shop/production?x=1');
  expect((await ask('other')).headers.get('location')).toBe('/shop/production/shop/productions');
  expect((await ask('upgrade')).status).toBe(502);
  const leaving = new AbortController();
  const asked = ask('wait', {signal: leaving.signal}).catch(() => undefined);
  await expect.poll(() => output).toContain('shop/production: waiting');
  leaving.abort();
  await asked;
  await expect.poll(() => output).toContain('shop/production: gone');
});

test('the server of an app has an environment and a folder of its own, and no files that it can be asked for', async () => {
  const {ask, runtime} = await startApps(server, {ssrEnvironment: {API_URL: 'http://127.0.0.1:1', PORT: '1'}});
  const env = JSON.parse((await ask('env')).body);
  expect(env).toEqual({
    ...{API_URL: 'http://127.0.0.1:1', NODE_ENV: 'production', HOST: '127.0.0.1', HOSTNAME: '127.0.0.1'},
    PORT: expect.stringMatching(/^\d{2,}$/),
  });
  expect(JSON.stringify(env)).not.toContain(runtime.credentials.apiKey);
  expect((await ask('cwd')).body).toBe('of the server');
  // Whatever address the program asks for, nobody else on the network reaches it.
  await expect(fetch(`http://127.0.0.2:${env.PORT}`)).rejects.toThrow('fetch failed');
  expect(JSON.parse((await ask('ssr.mjs')).body)[1]).toBe('/ssr.mjs');
});

test.each([
  ['exit', /ended with exit code 7/],
  ['abort', /ended with signal SIGABRT/],
  ['throw', /ended with exit code 1[^]*thrown by the app/],
])('a crash by /%s is answered with 502, and the next request starts it again', async (path, reason) => {
  const {ask, warnings} = await startApps(server);
  const crash = await ask(path);
  expect([crash.status, crash.headers.get('content-type')]).toEqual([502, 'text/plain; charset=utf-8']);
  expect(crash.body).toMatch(reason);
  expect(crash.body).toContain('The next request starts it again.');
  expect(warnings).toEqual([expect.stringMatching(/^The server of shop\/production ended with/)]);
  expect(await ask('cart')).toMatchObject({status: 200});
});

test('the first line about an app that fails says why', async () => {
  const {ask, warnings} = await startApps({'ssr.mjs': "console.log('starting');\nimport 'express';"});
  const reason =
    /^The server of shop\/production ended with exit code 1: Error \[ERR_MODULE_NOT_FOUND\]: Cannot find package 'express'.*$/m;
  expect((await ask('')).body).toMatch(reason);
  expect(warnings).toEqual([expect.stringMatching(reason)]);
});

test.each([
  [`throw new RangeError('the real cause')`, ': RangeError: the real cause.'],
  ['Promise.reject(new TypeError("rejected"))', ': TypeError: rejected.'],
  ['class Fatal extends Error {}; throw new Fatal("own")', ': Fatal [Error]: own.'],
  ['JSON.parse("{")', ': SyntaxError: '],
  ['throw "a text"', ': a text.'],
  [
    'throw Object.assign(new Error("long"), {all: Array.from({length: 99}, (_, index) => index + " ".repeat(80))})',
    ': Error: long.',
  ],
  ['process.exit(1)', '.'],
])('the error that is named as the cause of a crash is the one that ended the server: %s', async (ending, reason) => {
  const source = `console.error(new Error('harmless, caught')); setImmediate(() => (0, eval)(${JSON.stringify(ending)}))`;
  const {ask, warnings} = await startApps({'ssr.js': source});
  await ask('');
  expect(warnings).toEqual([expect.stringContaining(`The server of shop/production ended with exit code 1${reason}`)]);
});

test.concurrent('a server of an app that takes too long is answered with 504, and goes on', async ({
  onTestFinished,
}) => {
  const {ask} = await startApps(server, {ssrTimeoutSeconds: 2}, onTestFinished);
  // On a busy machine it may take longer to start, too.
  const pid = async () => {
    let answer = await ask('log');
    while (answer.status !== 200) answer = await ask('log');
    return answer.headers.get('x-pid');
  };
  const first = await pid();
  expect((await ask('never')).status).toBe(504);
  expect(await pid()).toBe(first);
});

test.concurrent('a server of an app that does not listen, or ends without an error, is answered with 502', async ({
  onTestFinished,
}) => {
  const waiting = await startApps(
    {'ssr.js': 'setInterval(() => undefined, 1000)'},
    {ssrTimeoutSeconds: 1},
    onTestFinished,
  );
  expect(await waiting.ask('')).toMatchObject({status: 502, body: expect.stringContaining('did not listen on PORT')});
  const ended = await startApps({'ssr.js': '42'}, {}, onTestFinished);
  const reason = 'ended with exit code 0 before it listened on PORT, and exported no handler.';
  expect(await ended.ask('')).toMatchObject({status: 502, body: expect.stringContaining(reason)});
});

const ofNode = '(request, response) => response.end("page of " + request.url)';
const ofTheWeb = '({url}) => new Response("page of " + new URL(url).pathname)';
const ofGateway = `(event, context, callback) => callback(null, {
  statusCode: 200,
  multiValueHeaders: {'x-method': [event.httpMethod]},
  body: Buffer.from('page of ' + event.path).toString('base64'),
  isBase64Encoded: true,
})`;

const ofStreams = `(stream) => async ({path}) => {
  const metadata = {statusCode: 200, headers: {}, cookies: ['a=1', 'b=2']};
  globalThis.awslambda.HttpResponseStream.from(stream, metadata).end('page of ' + path);
}`;

test.each([
  ['a handler of node', 'ssr.js', `exports.handler = ${ofNode}`],
  ['an app of Express', 'ssr.js', `module.exports = Object.assign(${ofNode}, {handle: 1})`],
  ['a handler of web requests', 'ssr.mjs', `export default async ${ofTheWeb}`],
  ['a text', 'ssr.js', 'export const handler = ({url}) => "page of " + new URL(url).pathname;'],
  ['a fetch function', 'server/index.mjs', `export default {fetch: ${ofTheWeb}}`],
  ['an app of Hono', 'ssr.mjs', `export default {get() { return this; }, fetch: ${ofTheWeb}}`],
  ['an app of H3', 'ssr.mjs', `export default {handler: ({req}) => req.method, fetch: ${ofTheWeb}}`],
  ['a server', 'ssr.mjs', `import http from "node:http"; export default http.createServer(${ofNode})`],
  ['a handler of gateway events', 'ssr.js', `exports.get = ${ofGateway}`],
  ['a maker of streaming handlers', 'ssr.mjs', `export const buildHandler = ${ofStreams}`],
])('the server of an app may export %s', async (_, file, source) => {
  const {ask} = await startApps({[file]: source, 'static/app.js': ''});
  expect(await ask('cart')).toMatchObject({status: 200, body: 'page of /cart'});
});

test('an app of PWA Kit finds what its hosting service has: variables, its files in build, an ID for each request', async () => {
  const {ask} = await startApps({
    'ssr.js': `exports.get = async ({headers}) => ({body: JSON.stringify({
      bundle: process.env.BUNDLE_ID, id: headers['x-correlation-id'],
      file: require('node:fs').readFileSync(process.cwd() + '/build/static/app.js', 'utf8'),
    })})`,
    'static/app.js': 'of the browser',
  });
  expect(JSON.parse((await ask('')).body)).toEqual({
    ...{bundle: 'local', file: 'of the browser'},
    id: expect.stringMatching(/^[\da-f-]{36}$/),
  });
  expect((await ask('mobify/bundle/local/static/app.js')).body).toBe('of the browser');
});

test('a handler that throws is answered with 500, and goes on', async () => {
  const {ask} = await startApps({
    'ssr.mjs': 'let count = 0; export default () => { if (!count++) throw new Error("x"); return "ok"; }',
  });
  expect((await ask('')).status).toBe(500);
  expect((await ask('')).body).toBe('ok');
});

test('the server of an app ends when another bundle is deployed, and with the runtime', async () => {
  const {ask, deploy, runtime} = await startApps(server);
  const first = Number((await ask('log')).headers.get('x-pid'));
  await deploy({'ssr.mjs': program, 'static/app.js': ''});
  const second = Number((await ask('log')).headers.get('x-pid'));
  await expect.poll(() => isRunning(first)).toBe(false);
  expect(isRunning(second)).toBe(true);
  await runtime.close();
  await expect.poll(() => isRunning(second)).toBe(false);
});

const parent = `
  import {spawn} from 'node:child_process';
  import {createServer} from 'node:http';
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => undefined, 60_000)'], {stdio: 'inherit', detached: true});
  console.log('child', child.pid);
  createServer((request, response) => request.url === '/exit' ? process.exit(3) : response.end('ok')).listen(process.env.PORT);
`;

test('a program that the server of an app has started does not keep it from ending', async () => {
  const {ask, deploy, output, runtime, warnings} = await startApps({'ssr.mjs': parent, 'static/app.js': ''});
  const children = () => output.flatMap((line) => /child (\d+)/.exec(line)?.[1] ?? []).map(Number);
  onTestFinished(() => {
    for (const child of children()) process.kill(child);
  });
  expect((await ask('')).body).toBe('ok');
  expect((await ask('exit')).body).toContain('ended with exit code 3');
  expect((await ask('')).body).toBe('ok');
  await deploy({'static/index.html': ''});
  await runtime.close();
  expect(children().map(isRunning)).toEqual([true, true]);
  expect(warnings).toEqual([expect.stringContaining('ended with exit code 3')]);
});

test('the server of an app does not keep the runtime open while it starts', async () => {
  const {ask, runtime, output} = await startApps({
    'ssr.js': 'process.on("SIGTERM", () => undefined); console.log(process.pid); setInterval(() => undefined, 1000)',
  });
  const asked = ask('').catch(() => undefined);
  await expect.poll(() => output).toHaveLength(1);
  const pid = Number(output[0]?.split(' ')[1]);
  expect(isRunning(pid)).toBe(true);
  await runtime.close();
  expect(isRunning(pid)).toBe(false);
  await asked;
});

test('a bundle without a server is served as without --ssr, and nothing runs without it', async () => {
  const {ask} = await startApps({'static/index.html': 'page'});
  expect((await ask('')).headers.get('location')).toBe('/shop/production/static/index.html');
  expect((await ask('nowhere')).status).toBe(404);
  const off = await startApps(server, {ssr: false});
  expect((await off.ask('cart')).status).toBe(404);
  expect((await off.ask('cart', {method: 'POST'})).status).toBe(405);
});

test('faults apply to the answers of an app', async () => {
  const {ask, runtime} = await startApps(server, {faults: ['truncatex1:route=site', '503x1:route=site']});
  await expect(ask('cart')).rejects.toThrow();
  expect((await ask('cart')).status).toBe(503);
  expect((await sendRaw(`${runtime.appsOrigin}/shop/production/cart`)).status).toBe(200);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a client that does not read its logs gets the newest lines, and how many were dropped before them', async () => {
  const count = 30_000;
  const flood = `
    import {createServer} from 'node:http';
    createServer((request, response) => {
      for (let line = 1; line <= ${count}; line += 1) console.log(line + ' ' + 'x'.repeat(1000));
      response.end('done');
    }).listen(process.env.PORT);
  `;
  const {runtime, ask, output} = await startApps({'ssr.mjs': flood, 'static/app.js': ''}, {auth: false});
  const socket = new WebSocket(`${runtime.origin.replace('http', 'ws')}/?project=shop&environment=production`);
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.pause();
  await ask('flood');
  await expect.poll(() => output.length).toBe(count);
  const numbers: number[] = [];
  let dropped = 0;
  const complete = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      for (const {message} of JSON.parse(data.toString()) as {message: string}[]) {
        const [, , , text = ''] = message.split('\t');
        dropped += Number(/^Dropped (\d+) lines? /.exec(text)?.[1] ?? 0);
        if (/^\d+ x/.test(text)) numbers.push(Number.parseInt(text, 10));
        if (numbers.at(-1) === count) resolve();
      }
    });
  });
  socket.resume();
  await complete;
  expect(dropped).toBeGreaterThan(0);
  expect(numbers.length + dropped).toBe(count);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
});

test('a connection to the logs begins with the last lines that were logged', async () => {
  const app =
    "import {createServer} from 'node:http';\ncreateServer(({url}, response) => { console.log(url); response.end(); }).listen(process.env.PORT);";
  const {runtime, ask, output} = await startApps({'ssr.mjs': app, 'static/app.js': ''}, {auth: false});
  await ask('before');
  await expect.poll(() => output.length).toBe(1);
  const socket = new WebSocket(`${runtime.origin.replace('http', 'ws')}/?project=shop&environment=production`);
  onTestFinished(() => socket.terminate());
  const [data] = (await once(socket, 'message')) as [Buffer];
  const [{message, timestamp} = {message: '', timestamp: 0}, ...more] = JSON.parse(data.toString()) as {
    message: string;
    timestamp: number;
  }[];
  const [time = '', , , text] = message.split('\t');
  expect([text, ...more]).toEqual(['/before']);
  // Published clients show it.
  expect(timestamp).toBe(Date.parse(time));
});

test('the page of a target has what its app logs with its indentation, and without colors', async () => {
  const app =
    "import {createServer} from 'node:http';\ncreateServer((_, response) => { console.log('    \\u001b[31mat\\u001b[39m cart'); response.end(); }).listen(process.env.PORT);";
  const {runtime, ask, output} = await startApps({'ssr.mjs': app, 'static/app.js': ''});
  await ask('cart');
  await expect.poll(() => output.length).toBe(1);
  const response = await fetch(`${runtime.origin}/-/projects/shop/targets/production`);
  expect(await response.text()).toMatch(/>\S+Z INFO {5}at cart<\/pre>/);
});
