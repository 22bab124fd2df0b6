import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {connect} from 'node:net';
import {describe, expect, test} from 'vitest';
import {startLocalRuntime, type RequestRecord} from '../../src/testing.js';
import {v2Archive} from './archives.js';
import {beginUpload, send, sendRaw} from './client.js';
import {startRuntime} from './with-runtime.js';

describe('the server', () => {
  test.each([
    ['localhost', 200],
    ['localhost:1234', 200],
    ['127.0.0.1', 200],
    ['[::1]:80', 200],
    ['LOCALHOST', 200],
    ['runtime.example:4000', 200],
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['evil.example@localhost', 400],
    ['localhost/evil', 400],
    ['a b', 400],
    ['localhost:99999', 400],
  ])('answers the host "%s" with %i, at both ports', async (host, status) => {
    const {runtime} = await startRuntime({allowedHosts: ['Runtime.example']});
    for (const origin of [runtime.origin, runtime.appsOrigin]) {
      expect((await sendRaw(origin, {headers: {host}})).status).toBe(status);
    }
  });

  test('answers requests for its own host', async () => {
    const {runtime} = await startRuntime({host: 'localhost'});
    expect(runtime.origin).toMatch(/^http:\/\/localhost:\d+$/);
    expect((await fetch(runtime.origin)).status).toBe(200);
  });

  test('refuses pages of other origins', async () => {
    const {runtime} = await startRuntime({auth: false});
    const ask = (origin: string) => sendRaw(`${runtime.origin}/api/projects/shop/bundles/`, {headers: {origin}});
    for (const origin of ['https://evil.example', 'null', 'file:///x', runtime.appsOrigin, 'http://localhost']) {
      expect([origin, (await ask(origin)).status]).toEqual([origin, 403]);
    }
    expect((await ask(runtime.origin)).status).toBe(200);
  });

  test.each([
    [403, 'POST', {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors'}],
    [403, 'POST', {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate'}],
    [403, 'POST', {'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors'}],
    [403, 'GET', {'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors'}],
    [200, 'GET', {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate'}],
    [200, 'GET', {'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate'}],
    [415, 'POST', {'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors'}],
    [415, 'POST', {}],
  ])('without credentials answers %i to a %s with %j', async (status, method, headers) => {
    const {runtime} = await startRuntime({auth: false});
    const url = `${runtime.origin}/api/projects/shop/${method === 'GET' ? 'bundles/' : 'target/live/deploy/'}`;
    expect((await sendRaw(url, {method, headers: {'content-type': 'text/plain', ...headers}})).status).toBe(status);
  });

  test('lets an app be called by pages of others: that is for the app to decide', async () => {
    const {runtime} = await startRuntime();
    const headers = {origin: 'https://shop.example', 'sec-fetch-site': 'cross-site'};
    expect((await sendRaw(`${runtime.appsOrigin}/`, {headers})).status).toBe(200);
  });

  test('refuses an upload without credentials before its body arrives, then reads the rest', async () => {
    const {runtime} = await startRuntime();
    const socket = connect(Number(new URL(runtime.origin).port), '127.0.0.1');
    const size = 5_000_000;
    socket.write(`POST /api/v2/projects/shop/bundles/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
    // A server that had closed by now would answer this with a reset.
    for (let sent = 0; sent < size; sent += 100_000) {
      await new Promise((resolve) => socket.write(Buffer.alloc(100_000), resolve));
    }
    socket.destroy();
  });

  test('decodes each part of its path', async () => {
    const {runtime, client} = await startRuntime();
    for (const path of ['/api/projects/%zz/bundles/', '/api/archives/%zz/1']) {
      expect([path, (await sendRaw(runtime.origin, {path, headers: client.legacyHeaders})).status]).toEqual([
        path,
        400,
      ]);
    }
    expect((await client.legacy('projects/caf%C3%A9/bundles/')).status).toBe(200);
  });

  test.each([
    ...['/storefront', '/storefront/nothing'].map(
      (path) => [path, 'application/problem+json', {title: 'Not Found', type: 'about:blank'}] as const,
    ),
    ...['/api', '/api/nothing', '/api/oauth2/tokens', '/nothing', '/shop/staging/', '/openapi.jsons'].map(
      (path) => [path, 'application/json', {message: `Nothing is served at ${path}.`}] as const,
    ),
  ] as const)('refuses an unknown path in the form of its protocol: %s', async (path, type, more) => {
    const {runtime} = await startRuntime();
    const {status, headers, json} = await send(`${runtime.origin}${path}`);
    expect([status, headers.get('content-type')]).toEqual([404, type]);
    expect(json).toEqual({detail: `Nothing is served at ${path}.`, ...more});
  });

  test('records requests without secrets', async () => {
    const seen: RequestRecord[] = [];
    const {runtime, client} = await startRuntime({onRequest: (record) => seen.push(record)});
    const {json} = await client.pushV2(await v2Archive());
    const {json: answer} = await client.legacy(`projects/shop/bundles/${json.id}/download/`);
    await (await fetch(answer.download_url, {headers: {'user-agent': 'test/1'}})).arrayBuffer();
    await client.token();
    await expect.poll(() => seen).toHaveLength(4);
    expect(seen).toEqual(runtime.requests);
    expect(seen.map(({method, route, status}) => [method, route, status])).toEqual([
      ['POST', 'upload', 201],
      ['GET', 'download', 200],
      ['GET', 'archive', 200],
      ['POST', 'token', 200],
    ]);
    expect(seen[2]).toMatchObject({path: '/api/archives/shop/1', userAgent: 'test/1'});
    const {apiKey, clientSecret} = runtime.credentials;
    const text = JSON.stringify(seen);
    for (const secret of [apiKey, clientSecret, 'signature']) expect(text).not.toContain(secret);
  });

  test('gives every response the ID of its record', async () => {
    const {runtime, client} = await startRuntime();
    const {headers} = await client.site('');
    await expect.poll(() => runtime.requests).toHaveLength(1);
    expect(runtime.requests[0]?.requestId).toBe(headers.get('x-request-id'));
  });

  test('reports that a port is in use', async () => {
    const {runtime} = await startRuntime();
    const port = Number(new URL(runtime.origin).port);
    await expect(startLocalRuntime({port})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining(String(port)),
    });
  });

  test('reports that an address is not of this machine, and which option to change', async () => {
    await expect(startLocalRuntime({host: '203.0.113.5'})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'The local runtime cannot listen on 203.0.113.5, port 0: this machine does not have the address.',
      suggestions: [expect.stringContaining('--host')],
    });
  });

  test.each([{organizationId: 'x'.repeat(33)}, {organizationId: ''}, {apiKey: ''}])(
    'refuses credentials that no client can have: %j',
    async (credentials) => {
      await expect(startLocalRuntime({credentials})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
    },
  );

  test('does not start if already aborted, and stops when aborted', async () => {
    const reason = new Error('enough');
    await expect(startLocalRuntime({signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
    const controller = new AbortController();
    const {runtime} = await startRuntime({signal: controller.signal});
    controller.abort(reason);
    await expect.poll(() => existsSync(runtime.dataDirectory)).toBe(false);
    await expect(fetch(runtime.origin)).rejects.toThrow('fetch failed');
  });

  test('can be closed during an upload, even twice', async () => {
    const {runtime} = await startRuntime();
    const upload = beginUpload(runtime);
    const failed = new Promise((resolve) => upload.on('error', resolve));
    await expect.poll(() => readdir(`${runtime.dataDirectory}/temporary`)).toHaveLength(1);
    await Promise.all([runtime.close(), runtime.close()]);
    expect(await failed).toMatchObject({code: 'ECONNRESET'});
    expect(existsSync(runtime.dataDirectory)).toBe(false);
  });
});
