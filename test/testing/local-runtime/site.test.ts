import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {build, gnuTar, hostileArchive, v2Archive} from './archives.js';
import {sendRaw, v1Body} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A runtime with a bundle deployed to production. */
async function startDeployed(archive?: Uint8Array) {
  const started = await startRuntime();
  expect((await started.client.pushV2(archive ?? (await v2Archive()))).status).toBe(201);
  expect((await started.client.deploy(1)).status).toBe(201);
  return started;
}

describe('a deployed bundle', () => {
  test('serves its shared files with their types, without credentials', async () => {
    const {client} = await startDeployed();
    const script = await client.site('shop/production/static/app.js');
    expect([script.status, script.body]).toEqual([200, build['static/app.js']]);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('x-content-type-options')).toBe('nosniff');
    const head = await client.site('shop/production/static/app.js', {method: 'HEAD'});
    expect([head.status, head.body, head.headers.get('content-length')]).toEqual([
      200,
      '',
      String(build['static/app.js']?.length),
    ]);
  });

  test('is not sent again to a client that has it', async () => {
    const {client} = await startDeployed();
    const etag = (await client.site('shop/production/static/app.js')).headers.get('etag') ?? '';
    const again = await client.site('shop/production/static/app.js', {headers: {'if-none-match': etag}});
    expect([again.status, again.body]).toEqual([304, '']);
    await client.deploy(1);
    const later = await client.site('shop/production/static/app.js', {headers: {'if-none-match': etag}});
    expect(later.status).toBe(200);
  });

  test.each([
    ['bytes=0-3', 206, 'cons'],
    ['bytes=-2', 206, '")'],
    ['bytes=18-', 206, ')'],
    ['bytes=90-', 416, ''],
    ['lines=1-2', 200, build['static/app.js']],
  ])('serves the range %s', async (range, status, body) => {
    const {client} = await startDeployed();
    const reply = await client.site('shop/production/static/app.js', {headers: {range}});
    expect([reply.status, reply.body]).toEqual([status, body]);
  });

  test('serves neither server-only files nor the configuration nor the rest', async () => {
    const {client, runtime} = await startDeployed();
    for (const file of ['ssr.js', '.runtime/config.json', 'server/hidden.txt', '', 'static', 'static/none.js']) {
      const {status} = await client.site(`shop/production/${file}`);
      expect([file, status]).toEqual([file, file === '' ? 302 : 404]);
    }
    const [site = ''] = await readdir(path.join(runtime.dataDirectory, 'sites'));
    const files = await readdir(path.join(runtime.dataDirectory, 'sites', site), {recursive: true});
    expect(files.sort()).toEqual(['static', 'static/app.js', 'static/index.html']);
  });

  test('serves no file that is both server-only and shared', async () => {
    const settings = {ssrOnly: ['ssr.js', 'static/secret.js'], ssrShared: ['**/*'], ssrParameters: {}};
    const {client} = await startDeployed(await v2Archive({...build, 'static/secret.js': 'secret'}, {settings}));
    expect((await client.site('shop/production/static/secret.js')).status).toBe(404);
    expect((await client.site('shop/production/server/hidden.txt')).body).toBe('hidden');
  });

  test('leads to its page from the top', async () => {
    const {client} = await startDeployed();
    const bare = await client.site('shop/production');
    expect([bare.status, bare.headers.get('location')]).toEqual([308, '/shop/production/']);
    const top = await client.site('shop/production/');
    expect([top.status, top.headers.get('location')]).toEqual([302, '/shop/production/static/index.html']);
    expect((await client.site('shop/production/static/')).body).toBe(build['static/index.html']);
  });

  test('serves a page at the top in its place', async () => {
    const settings = {ssrOnly: ['ssr.js'], ssrShared: ['index.html'], ssrParameters: {}};
    const {client} = await startDeployed(await v2Archive({...build, 'index.html': 'top'}, {settings}));
    const page = await client.site('shop/production/');
    expect([page.status, page.body, page.headers.get('content-type')]).toEqual([
      200,
      'top',
      'text/html; charset=utf-8',
    ]);
  });

  test.each([
    '/shop/production/static/../ssr.js',
    '/shop/production/../../../credentials.json',
    '/shop/production/%2e%2e/%2e%2e/credentials.json',
    '/shop/production/..%2f..%2fcredentials.json',
    '/shop/production/static%2fapp.js',
    '/shop/production/..%5c..%5ccredentials.json',
    '/shop/production/static//app.js',
    '/shop/production/static/app.js%00',
    '/shop/production//etc/passwd',
  ])('does not answer %s', async (requested) => {
    const {runtime} = await startDeployed();
    expect((await sendRaw(runtime.origin, {path: requested})).status).toBe(404);
  });

  test('follows links between shared files, and none to others', async () => {
    const settings = JSON.stringify({ssrOnly: ['ssr.js'], ssrShared: ['static/**'], ssrParameters: {}});
    const archive = await hostileArchive(
      {name: 'bld/b.json', content: settings},
      {name: 'bld/static/app.js', content: 'app'},
      {name: 'bld/static/inside.js', type: 'symlink', linkname: 'app.js'},
      {name: 'bld/static/outside.js', type: 'symlink', linkname: '../ssr.js'},
    );
    const {client} = await startRuntime();
    expect((await client.pushV2(archive, {configPath: 'b.json'})).status).toBe(201);
    await client.deploy(1);
    expect((await client.site('shop/production/static/inside.js')).body).toBe('app');
    expect((await client.site('shop/production/static/outside.js')).status).toBe(404);
  });

  test('serves what a v1 push lists as shared', async () => {
    const {client} = await startRuntime();
    const tar = await gnuTar(build, {prefix: 'shop/bld', gzip: false});
    const body = v1Body(tar, {ssr_shared: ['static/app.js']});
    expect((await client.pushV1(body, 'projects/shop/builds/production/')).status).toBe(200);
    expect((await client.site('shop/production/static/app.js')).body).toBe(build['static/app.js']);
    expect((await client.site('shop/production/static/index.html')).status).toBe(404);
    expect((await client.site('shop/production/ssr.js')).status).toBe(404);
  });
});

test('the top of the server says that it is for development', async () => {
  const {client} = await startRuntime();
  const {status, body} = await client.site('');
  expect([status, body]).toEqual([200, expect.stringContaining('for development only')]);
});
