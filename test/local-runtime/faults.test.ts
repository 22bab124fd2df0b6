import {readdir} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {parseFault} from '../../src/testing.js';
import {FaultBook, faultText} from '../../src/local-runtime/faults.js';
import {v2Archive} from './archives.js';
import {beginUpload, sendRaw} from './client.js';
import {startRuntime} from './with-runtime.js';

describe('parseFault', () => {
  test.each([
    ['429', {action: 'status', status: 429}],
    ['429x2:retry-after=1', {action: 'status', status: 429, count: 2, retryAfter: '1'}],
    [
      '302x1:location=http://127.0.0.1:1/a,b',
      {action: 'status', status: 302, count: 1, location: 'http://127.0.0.1:1/a,b'},
    ],
    [
      '429:retry-after=Fri, 31 Dec 2027 23:59:59 GMT,route=upload',
      {action: 'status', status: 429, retryAfter: 'Fri, 31 Dec 2027 23:59:59 GMT', route: 'upload'},
    ],
    ['429x1:route=upload,after=65536', {action: 'status', status: 429, count: 1, route: 'upload', after: 65536}],
    ['latency=200x3:route=list', {action: 'latency', milliseconds: 200, count: 3, route: 'list'}],
    ['resetx1:route=upload,after=1000000', {action: 'reset', count: 1, route: 'upload', after: 1_000_000}],
    ['hang', {action: 'hang'}],
    ['drop', {action: 'drop'}],
    ['failx1:route=deploy', {action: 'fail', count: 1, route: 'deploy'}],
  ])('reads and writes %s', (spec, rule) => {
    expect(parseFault(spec)).toEqual(rule);
    expect(parseFault(faultText(parseFault(spec)))).toEqual(rule);
  });

  test.each([
    '',
    'nonsense',
    '42',
    '429x0',
    '429:route=nowhere',
    '429:color=red',
    '429:route=upload,route=deploy',
    '429=5',
    'latency',
    'latency=200:after=1',
    'reset:retry-after=1',
    'fail:after=1',
    'status',
    'latency=2147483648',
    '429:retry-after=€',
    'failx1:route=list',
  ])('refuses "%s", naming it', (spec) => {
    expect(() => parseFault(spec)).toThrow(expect.objectContaining({code: 'ERR_OPTION_INVALID'}));
    expect(() => parseFault(spec)).toThrow(`The fault "${spec}"`);
  });

  test('suggests the fault that was probably meant', () => {
    expect(() => parseFault('restx1')).toThrow('Did you mean "reset"?');
  });

  test('names the routes of a fault that others cannot have', async () => {
    const problem =
      'The fault "fail:route=list" is invalid: "fail" applies only to the routes deploy, upload, create-target.';
    expect(() => parseFault('fail:route=list')).toThrow(problem);
    const {runtime} = await startRuntime();
    expect(() => runtime.addFault({action: 'fail', route: 'list'})).toThrow(problem);
  });
});

describe('a fault', () => {
  test('answers the given number of requests to its route, after the whole body, then stops', async () => {
    const {client, runtime} = await startRuntime({faults: ['429x2:retry-after=7,route=upload']});
    const archive = await v2Archive();
    const replies = [];
    for (let count = 0; count < 3; count += 1) replies.push(await client.pushV2(archive));
    expect(replies.map(({status}) => status)).toEqual([429, 429, 201]);
    expect(replies.map(({headers}) => headers.get('retry-after'))).toEqual(['7', '7', null]);
    const [first, , third] = runtime.requests;
    expect(first).toMatchObject({route: 'upload', status: 429, fault: 'status'});
    expect(first?.bytesReceived).toBe(third?.bytesReceived);
    expect((await client.legacy('projects/shop/bundles/')).json.count).toBe(1);
  });

  test('has the error format of its protocol', async () => {
    const {client, runtime} = await startRuntime();
    runtime.addFault({action: 'status', status: 503, route: 'list'});
    runtime.addFault('500x1:route=token');
    expect((await client.token()).json.error).toBe('server_error');
    expect((await client.legacy('projects/shop/bundles/')).json).toMatchObject({
      detail: expect.stringContaining('503'),
    });
    expect((await client.api('shop/bundles')).json).toMatchObject({title: 'Service Unavailable'});
    runtime.clearFaults();
    expect((await client.api('shop/bundles')).status).toBe(200);
  });

  test('without a route applies to all requests', async () => {
    const {client} = await startRuntime({faults: ['503']});
    for (const path of ['', 'nowhere', 'shop/production/']) expect((await client.site(path)).status).toBe(503);
  });

  test('can answer early, while the body is still being sent, and close', async () => {
    const {runtime, client} = await startRuntime({faults: ['429x1:route=upload,after=65536']});
    const reply = await sendRaw(`${runtime.origin}/api/v2/projects/shop/bundles/`, {
      method: 'POST',
      headers: {...client.legacyHeaders, 'content-length': '100000000'},
      write: (request) => request.write(Buffer.alloc(100_000)),
    });
    expect([reply.status, reply.headers.connection]).toEqual([429, 'close']);
    await expect.poll(() => runtime.requests).toHaveLength(1);
    expect(runtime.requests[0]?.bytesReceived).toBeGreaterThanOrEqual(65_536);
  });

  test('can reset the connection in the middle of a body', async () => {
    const {runtime, client} = await startRuntime({faults: ['resetx1:route=upload,after=1000']});
    await expect(
      sendRaw(`${runtime.origin}/api/v2/projects/shop/bundles/`, {
        method: 'POST',
        headers: {...client.legacyHeaders, 'content-length': '100000000'},
        write: (request) => request.write(Buffer.alloc(2000)),
      }),
    ).rejects.toMatchObject({code: 'ECONNRESET'});
    await expect.poll(() => runtime.requests).toHaveLength(1);
    expect(runtime.requests[0]).toMatchObject({status: 0, fault: 'reset'});
  });

  test('can truncate a response', async () => {
    const {client} = await startRuntime({faults: ['truncatex1:route=list', 'truncatex1:route=archive,after=10']});
    const url = 'projects/shop/bundles/';
    await expect(client.legacy(url)).rejects.toThrow('terminated');
    await client.pushV2(await v2Archive());
    const {json} = await client.legacy(`${url}1/download/`);
    const response = await fetch(json.download_url);
    expect(response.status).toBe(200);
    const received: number[] = [];
    await expect(async () => {
      for await (const chunk of response.body ?? []) received.push(...chunk);
    }).rejects.toThrow('terminated');
    expect(received).toHaveLength(10);
  });

  test('can keep a client waiting forever, until the server closes', async () => {
    const {client, runtime} = await startRuntime({faults: ['hang:route=list', 'latency=1000000x1:route=site']});
    const waiting = client.legacy('projects/shop/bundles/');
    const outcome = expect(waiting).rejects.toThrow('fetch failed');
    const late = expect(client.site('')).rejects.toThrow('fetch failed');
    expect((await client.token()).status).toBe(200);
    await runtime.close();
    await outcome;
    await late;
  });

  test('latency can be combined with another fault', async () => {
    const {client, runtime} = await startRuntime({faults: ['latency=50x1:route=list', '503x1:route=list']});
    expect((await client.legacy('projects/shop/bundles/')).status).toBe(503);
    expect((await client.legacy('projects/shop/bundles/')).status).toBe(200);
    expect(runtime.requests[0]?.durationMs).toBeGreaterThanOrEqual(49);
  });

  test('that is invalid fails the start', async () => {
    await expect(startRuntime({faults: ['nonsense']})).rejects.toThrow('The fault "nonsense"');
  });
});

test('fail without a route is for the next deployment, not for a target that is made before it', () => {
  const faults = new FaultBook();
  faults.add('failx1');
  expect(faults.take('create-target', 'fail')).toBeUndefined();
  expect(faults.take('deploy', 'fail')).toMatchObject({action: 'fail'});
  faults.add('failx1:route=create-target');
  expect(faults.take('create-target', 'fail')).toMatchObject({action: 'fail'});
});

test('a client that disconnects during an upload leaves nothing behind', async () => {
  const {runtime} = await startRuntime();
  const request = beginUpload(runtime).on('error', () => undefined);
  await new Promise((resolve) => request.write(Buffer.alloc(500_000), resolve));
  request.destroy();
  await expect.poll(() => runtime.requests).toHaveLength(1);
  expect(runtime.requests[0]).toMatchObject({status: 0, route: 'upload'});
  await expect.poll(() => readdir(`${runtime.dataDirectory}/temporary`)).toEqual([]);
});
