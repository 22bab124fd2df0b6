import {describe, expect, test} from 'vitest';
import {build, gnuTar, v2Archive} from './archives.js';
import {send, sendRaw, v1Body, v2Form, type Reply} from './client.js';
import {startRuntime} from './with-runtime.js';

const v1Prefix = {prefix: 'shop/bld', gzip: false};

describe('the legacy backend', () => {
  test('accepts a v1 bundle, with its data anywhere in the document', async () => {
    const {client} = await startRuntime();
    const {data, ...rest} = JSON.parse(v1Body(await gnuTar(build, v1Prefix))) as Record<string, unknown>;
    for (const body of [
      {data, ...rest},
      {...rest, data},
    ]) {
      expect(await client.pushV1(JSON.stringify(body))).toMatchObject({
        status: 200,
        json: {bundle_id: expect.any(Number), message: 'first', warnings: []},
      });
    }
  });

  test('lists bundles in pages, newest first, with the targets that run them', async () => {
    const {client, runtime} = await startRuntime();
    const archive = await v2Archive();
    for (const message of ['one', 'two', 'three']) await client.pushV2(archive, {message});
    await client.deploy(2);
    const {json} = await client.legacy('projects/shop/bundles/?limit=2');
    expect(json).toMatchObject({
      count: 3,
      previous: null,
      results: [
        {id: 3, message: 'three', status: 1, deletion_status: 'ACTIVE', in_use_by: []},
        {id: 2, message: 'two', in_use_by: ['production']},
      ],
    });
    expect(json.next).toBe(`${runtime.origin}/api/projects/shop/bundles/?limit=2&offset=2`);
    const {json: last} = await client.legacy('projects/shop/bundles/?limit=2&offset=2');
    expect(last).toMatchObject({next: null, results: [{id: 1, message: 'one'}]});
  });

  test('returns empty lists for an unused project and target, and no such target', async () => {
    const {client} = await startRuntime();
    expect((await client.legacy('projects/new/bundles/')).json).toMatchObject({count: 0, results: []});
    expect((await client.legacy('projects/new/target/new/deploy/')).json).toMatchObject({count: 0, results: []});
    expect(await client.legacy('projects/new/target/new/')).toMatchObject({
      status: 404,
      json: {detail: expect.stringContaining('"new"')},
    });
  });

  test('lists projects and targets, which are created on first use', async () => {
    const {client} = await startRuntime();
    expect((await client.legacy('projects/')).json).toEqual({count: 0, next: null, previous: null, results: []});
    const archive = await v2Archive();
    for (const project of ['shop', 'blog']) await client.pushV2(archive, {}, project);
    for (const target of ['staging', 'production']) await client.deploy(1, target);
    const {json: projects} = await client.legacy('projects/');
    expect(projects.results.map(({slug, name}: Record<string, string>) => [slug, name])).toEqual([
      ['blog', 'blog'],
      ['shop', 'shop'],
    ]);
    expect((await client.legacy('projects/?limit=1&offset=1')).json).toMatchObject({
      count: 2,
      results: [{slug: 'shop'}],
    });
    const {json: targets} = await client.legacy('projects/shop/target/');
    expect(targets).toMatchObject({count: 2, results: [{slug: 'production'}, {slug: 'staging'}]});
    expect(targets.results[1]).toEqual((await client.legacy('projects/shop/target/staging/')).json);
    expect((await client.legacy('projects/blog/target/')).json).toMatchObject({count: 0, results: []});
  });

  test('deletes several bundles independently', async () => {
    const {client} = await startRuntime();
    const archive = await v2Archive();
    for (let count = 0; count < 3; count += 1) await client.pushV2(archive);
    await client.deploy(2);
    const {status, json} = await client.legacy(
      'projects/shop/bundles/bulk-delete/',
      client.json({bundle_ids: [1, 2, 3, 9, 1]}),
    );
    expect(status).toBe(202);
    expect(json).toEqual({
      rejected_bundles: [
        {bundle_id: 2, errors: expect.stringContaining('in use by "production"')},
        {bundle_id: 9, errors: expect.stringContaining('no bundle 9')},
      ],
      bundles_queued_for_cleanup: [1, 3],
    });
    expect((await client.legacy('projects/shop/bundles/')).json).toMatchObject({count: 1, results: [{id: 2}]});
    for (const body of [{}, {bundle_ids: []}, {bundle_ids: ['1']}, {bundle_ids: 1}]) {
      expect((await client.legacy('projects/shop/bundles/bulk-delete/', client.json(body))).status).toBe(400);
    }
  });

  test.each(['', '/'])('serves every path, ending in "%s"', async (slash) => {
    const {client, runtime} = await startRuntime();
    const archive = await v2Archive();
    const form = {method: 'POST', body: v2Form(archive)};
    const tar = v1Body(await gnuTar(build, v1Prefix));
    expect((await client.legacy(`v2/projects/shop/bundles${slash}`, form)).status).toBe(201);
    expect((await client.pushV1(tar, `projects/shop/builds${slash}`)).status).toBe(200);
    expect((await client.pushV1(tar, `projects/shop/builds/production${slash}`)).status).toBe(200);
    const body = client.json({bundle_id: 1});
    expect((await client.legacy(`projects/shop/target/staging/deploy${slash}`, body)).status).toBe(201);
    for (const path of ['', '/shop/bundles', '/shop/bundles/1/download', '/shop/target', '/shop/target/staging']) {
      expect([path, (await client.legacy(`projects${path}${slash}`)).status]).toEqual([path, 200]);
    }
    expect((await client.legacy(`projects/shop/target/staging/deploy${slash}`)).json.count).toBe(1);
    expect((await client.api(`shop/bundles${slash}`)).status).toBe(200);
    expect((await client.legacy(`projects/shop/bundles/2${slash}`, {method: 'DELETE'})).status).toBe(202);
    const bulk = client.json({bundle_ids: [1]});
    expect((await client.legacy(`projects/shop/bundles/bulk-delete${slash}`, bulk)).status).toBe(202);
    const token = {method: 'POST', headers: {authorization: 'Basic x'}, body: new URLSearchParams()};
    expect((await send(`${runtime.credentials.tokenUrl}${slash}`, token)).json.error).toBe('invalid_client');
    expect((await client.legacy(`projects/shop/nothing${slash}`)).status).toBe(404);
  });

  test('reports errors in both "detail" and "message", since clients read either', async () => {
    const {client} = await startRuntime();
    const {json} = await client.legacy('projects/shop/bundles/7/download/');
    expect(json).toEqual({detail: expect.stringContaining('no bundle 7'), message: json.detail});
  });

  test('gives a presigned URL that needs no credentials and supports resuming, and refuses a forged one', async () => {
    const {client} = await startRuntime();
    const archive = await v2Archive();
    const {json} = await client.pushV2(archive);
    const {json: answer} = await client.legacy(`projects/shop/bundles/${json.id}/download/`);
    const whole = await fetch(answer.download_url);
    expect(Buffer.from(await whole.arrayBuffer()).equals(archive)).toBe(true);
    const rest = await fetch(answer.download_url, {headers: {range: 'bytes=100-'}});
    expect(rest.status).toBe(206);
    expect(rest.headers.get('content-range')).toBe(`bytes 100-${archive.length - 1}/${archive.length}`);
    expect(Buffer.from(await rest.arrayBuffer()).equals(archive.subarray(100))).toBe(true);
    const forged = answer.download_url.replace(/expires=\d/, 'expires=9');
    expect((await fetch(forged)).status).toBe(403);
  });

  test('expires a presigned URL after an hour', async () => {
    let now = new Date('2030-01-01T00:00:00Z');
    const {client} = await startRuntime({now: () => now});
    const {json} = await client.pushV2(await v2Archive());
    const {json: answer} = await client.legacy(`projects/shop/bundles/${json.id}/download/`);
    now = new Date('2030-01-01T01:00:01Z');
    expect((await fetch(answer.download_url)).status).toBe(403);
  });

  // Each look at the clock is at a later time: one of them is the end of the deletion.
  test.each([30, 31, 32, 33, 34, 35, 36, 37])(
    'lists its targets at any moment of a deletion: over after %i looks',
    async (looks) => {
      let time = Date.parse('2030-01-01T00:00:00Z');
      let step = 0;
      const {client} = await startRuntime({now: () => new Date((time += step)), deploymentSeconds: 1});
      await client.pushV2(await v2Archive());
      await client.deploy(1);
      expect((await client.legacy('projects/shop/target/production/', {method: 'DELETE'})).status).toBeLessThan(300);
      step = 1000 / looks;
      const answers: Reply[] = [];
      while (answers.at(-1)?.json.count !== 0) answers.push(await client.legacy('projects/shop/target/'));
      expect(new Set(answers.map(({status}) => status))).toEqual(new Set([200]));
      expect(answers[0]?.json).toMatchObject({results: [{deletion_status: 'CLEANUP_IN_PROGRESS'}]});
    },
  );

  test('deletes a bundle, keeps one that a target runs, and never reuses an ID', async () => {
    const {client} = await startRuntime();
    const archive = await v2Archive();
    for (let count = 0; count < 2; count += 1) await client.pushV2(archive);
    await client.deploy(1);
    expect((await client.legacy('projects/shop/bundles/1/', {method: 'DELETE'})).status).toBe(409);
    expect((await client.legacy('projects/shop/bundles/2/', {method: 'DELETE'})).status).toBe(202);
    expect((await client.legacy('projects/shop/bundles/2/', {method: 'DELETE'})).status).toBe(404);
    expect((await client.deploy(2)).status).toBe(404);
    expect((await client.pushV2(archive)).json.id).toBe(3);
  });

  test.each([
    ['no credentials', () => '', 401],
    ['a wrong key', () => 'Bearer wrong', 401],
    ['the key of Basic', (key: string) => `Basic ${Buffer.from(`someone:${key}`).toString('base64')}`, 200],
  ])('answers a request with %s', async (_, authorizationOf, status) => {
    const {runtime} = await startRuntime();
    const headers = {authorization: authorizationOf(runtime.credentials.apiKey)};
    const response = await fetch(`${runtime.origin}/api/projects/shop/bundles/`, {headers});
    expect(response.status).toBe(status);
    expect(response.headers.has('www-authenticate')).toBe(status === 401);
  });

  test('needs no credentials when auth is off', async () => {
    const {runtime} = await startRuntime({auth: false});
    expect((await fetch(`${runtime.origin}/api/projects/shop/bundles/`)).status).toBe(200);
  });

  test.each(['a%2Fb', 'a%5Cb', 'a%00b'])('refuses the project name %s', async (name) => {
    const {runtime, client} = await startRuntime();
    const path = `/api/projects/${name}/bundles/`;
    const reply = await sendRaw(runtime.origin, {path, headers: client.legacyHeaders});
    expect(reply.status).toBe(400);
  });

  test('lists the methods of a path, and returns 404 elsewhere', async () => {
    const {client} = await startRuntime();
    const wrong = await client.legacy('projects/shop/bundles/', {method: 'PUT'});
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await client.legacy('projects/shop/other')).status).toBe(404);
  });

  test.each(['limit=0', 'limit=201', 'limit=x', 'offset=-1'])('refuses the range %s', async (query) => {
    const {client} = await startRuntime();
    expect((await client.legacy(`projects/shop/bundles/?${query}`)).status).toBe(400);
  });

  test('refuses to deploy anything but a bundle ID', async () => {
    const {client} = await startRuntime();
    expect((await client.deploy('one')).status).toBe(400);
    expect((await client.legacy('projects/shop/target/production/deploy/', {method: 'POST', body: '{}'})).status).toBe(
      415,
    );
  });
});
