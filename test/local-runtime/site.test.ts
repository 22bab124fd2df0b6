import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {cacheControl} from '../../src/local-runtime/sites/serve-site.js';
import {build, gnuTar, hostileArchive, v2Archive} from './archives.js';
import {send, sendRaw, v1Body} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A runtime with a bundle deployed to production. */
async function startDeployed(archive?: Uint8Array) {
  const started = await startRuntime();
  expect((await started.client.pushV2(archive ?? (await v2Archive()))).status).toBe(201);
  expect((await started.client.deploy(1)).status).toBe(201);
  return started;
}

describe('a deployed bundle', () => {
  test('serves its files with their types, without credentials', async () => {
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

  test('is not resent to a client that has it', async () => {
    const {client, runtime} = await startDeployed();
    const ask = (headers: Readonly<Record<string, string>>) =>
      sendRaw(`${runtime.appsOrigin}/shop/production/static/app.js`, {headers});
    const {headers} = await ask({});
    const known = {'if-none-match': headers.etag ?? ''};
    expect(await ask(known)).toMatchObject({status: 304, body: ''});
    expect((await ask({'if-modified-since': headers['last-modified'] ?? ''})).status).toBe(304);
    expect((await ask({range: 'bytes=0-3', 'if-range': headers.etag ?? ''})).status).toBe(206);
    expect((await ask({range: 'bytes=0-3', 'if-range': '"other"'})).status).toBe(200);
    await client.deploy(1);
    expect((await ask(known)).status).toBe(200);
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

  test('serves everything except server-only files and the configuration', async () => {
    const {client, runtime} = await startDeployed(await v2Archive({...build, 'docs/intro/index.html': 'intro'}));
    const statuses = {
      'ssr.js': 404,
      '.runtime/config.json': 404,
      '.runtime': 404,
      'server/hidden.txt': 200,
      'docs/intro/': 200,
      '': 302,
      'static/none.js': 404,
      'static/none/': 404,
    };
    for (const [file, status] of Object.entries(statuses)) {
      expect([file, (await client.site(`shop/production/${file}`)).status]).toEqual([file, status]);
    }
    expect((await client.site('shop/production/cart')).body).toBe(
      'The deployed bundle does not serve a file at /shop/production/cart. ' +
        'If its server should answer, start the runtime with --ssr.\n',
    );
    const [site = ''] = await readdir(path.join(runtime.dataDirectory, 'sites'));
    const files = await readdir(path.join(runtime.dataDirectory, 'sites', site), {
      recursive: true,
      withFileTypes: true,
    });
    const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
    expect(names.sort()).toEqual(['app.js', 'hidden.txt', 'index.html', 'index.html']);
  });

  test('serves no file that is both server-only and shared', async () => {
    const settings = {ssrOnly: ['ssr.js', 'static/secret.js'], ssrShared: ['**/*'], ssrParameters: {}};
    const {client} = await startDeployed(await v2Archive({...build, 'static/secret.js': 'secret'}, {settings}));
    expect((await client.site('shop/production/static/secret.js')).status).toBe(404);
  });

  test('redirects to a folder with a trailing slash, and keeps the query', async () => {
    const {client, runtime} = await startDeployed(await v2Archive({...build, 'docs/a b/index.html': 'intro'}));
    const target = `${runtime.appsOrigin}/shop/production`;
    for (const [asked, location] of [
      ['docs/a%20b', '/shop/production/docs/a%20b/'],
      ['docs/a%20b?x=1&y=//evil', '/shop/production/docs/a%20b/?x=1&y=//evil'],
      ['docs', '/shop/production/docs/'],
      ['?x', '/shop/production/static/index.html?x'],
    ]) {
      const reply = await client.site(`shop/production/${asked}`);
      expect([asked, reply.status, reply.headers.get('location')]).toEqual([asked, 302, location]);
    }
    expect(await (await fetch(`${target}/docs/a%20b?x`)).text()).toBe('intro');
    expect((await client.site('shop/production?x=1')).headers.get('location')).toBe('/shop/production/?x=1');
  });

  test.each([
    '//evil.example/x',
    '/\\evil.example/x',
    '/%5Cevil.example/x',
    '/%2Fevil.example/x',
    '/..//evil.example',
    '/shop/production//evil.example',
    '/shop/production/\\evil.example',
    '/shop/production/static/..//evil.example',
    '/shop/production/static%0d%0aset-cookie:x',
  ])('redirects to no other origin: %s', async (requested) => {
    const {runtime} = await startDeployed();
    const {status, headers} = await sendRaw(runtime.appsOrigin, {path: requested});
    expect(headers['set-cookie']).toBeUndefined();
    if (headers.location === undefined) expect([400, 404]).toContain(status);
    else expect(new URL(headers.location, runtime.appsOrigin).origin).toBe(runtime.appsOrigin);
  });

  test.each([
    [undefined, undefined],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br ; q=1.0', 'br'],
    ['', undefined],
  ])('with Accept-Encoding %j is sent as %j', async (accepted, encoding) => {
    const files = {...build, 'static/app.js.br': 'small', 'static/app.js.gz': 'larger'};
    const {runtime} = await startDeployed(await v2Archive(files));
    const headers = accepted === undefined ? {} : {'accept-encoding': accepted};
    const reply = await sendRaw(`${runtime.appsOrigin}/shop/production/static/app.js`, {headers});
    expect(reply.headers['content-encoding']).toBe(encoding);
    const known = {...headers, 'if-none-match': reply.headers.etag ?? ''};
    const again = await sendRaw(`${runtime.appsOrigin}/shop/production/static/app.js`, {headers: known});
    expect(again).toMatchObject({status: 304, headers: {vary: 'accept-encoding'}});
    expect(reply.headers.etag?.includes(String(encoding))).toBe(encoding !== undefined);
    expect(reply.headers.vary).toBe('accept-encoding');
    expect(reply.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(reply.body).toBe({br: 'small', gzip: 'larger'}[encoding ?? ''] ?? build['static/app.js']);
  });

  test.each([
    '/shop/production/static/../ssr.js',
    '/shop/production/%2e%2e/%2e%2e/credentials.json',
    '/shop/production/..%2f..%2fcredentials.json',
    '/shop/production/static%2fapp.js',
    '/shop/production/static//app.js',
    '/shop/production/static/app.js%00',
  ])('does not answer %s', async (requested) => {
    const {runtime} = await startDeployed();
    expect((await sendRaw(runtime.appsOrigin, {path: requested})).status).toBe(404);
  });

  test('follows links between shared files, but not to others', async () => {
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

  test('from a v1 push serves everything not listed as server-only', async () => {
    const {client} = await startRuntime();
    const tar = await gnuTar(build, {prefix: 'shop/bld', gzip: false});
    const body = v1Body(tar, {ssr_shared: ['static/app.js']});
    expect((await client.pushV1(body, 'projects/shop/builds/production/')).status).toBe(200);
    for (const file of ['static/app.js', 'static/index.html', 'server/hidden.txt']) {
      expect((await client.site(`shop/production/${file}`)).body).toBe(build[file]);
    }
    expect((await client.site('shop/production/ssr.js')).status).toBe(404);
  });
});

test.each([
  ['', 200],
  ['cart', 404],
])('the root of the apps says what is there: /%s', async (path, expected) => {
  const {client} = await startDeployed();
  const {status, body} = await client.site(path);
  expect([status, body]).toEqual([expected, expect.stringContaining('http://TARGET--PROJECT.localhost:')]);
});

describe('the origin of the API', () => {
  test('is another one than that of the apps, whose server knows no API', async () => {
    const {runtime, client} = await startDeployed();
    expect(new URL(runtime.appsOrigin).port).not.toBe(new URL(runtime.origin).port);
    for (const place of ['api/projects/', 'storefront/deployments/v1/organizations/x/storefronts/shop/bundles']) {
      const reply = await send(`${runtime.appsOrigin}/${place}`, {headers: client.legacyHeaders});
      expect([place, reply.status]).toEqual([place, 404]);
    }
  });

  test.each([
    ['GET', '/shop/other/'],
    ['GET', '//evil.example'],
    ['GET', 'http://evil.example/x'],
    ['GET', 'http://evil.example/shop/production/'],
    ['GET', '/shop/production/'],
  ])('leads nowhere: %s %s', async (method, requested) => {
    const {runtime} = await startDeployed();
    const {status, headers} = await sendRaw(runtime.origin, {method, path: requested});
    expect([status, headers.location]).toEqual([404, undefined]);
  });
});

test.each([
  ['static/main.3f2a1b9c.js', true],
  ['chunk-5XKQWERT.js', true],
  ['assets/index-DiwrgT3a.js', true],
  ['client/_app/immutable/entry/start.js', true],
  ['.next/static/chunks/main.js', true],
  ['index.html', false],
  ['index-DiwrgT3a.html', false],
  ['static/app.js', false],
  ['bootstrap-datepicker.js', false],
  ['es2015-polyfills.js', false],
  ['Picture1.png', false],
  ['my-release2024.js', false],
])('%s may be kept forever: %s', (name, isImmutable) => {
  expect(cacheControl(name).includes('immutable')).toBe(isImmutable);
});

describe('a target at its own origin', () => {
  const site = {
    'index.html': '<script src="/assets/app.js"></script>',
    'about.html': 'about',
    'docs/index.html': 'docs',
    'assets/app.js': 'app',
    'ssr.js': 'server',
  };

  async function startSite(files: Readonly<Record<string, string>>) {
    const settings = {ssrOnly: ['ssr.js'], ssrShared: ['**/*'], ssrParameters: {}};
    const {runtime} = await startDeployed(await v2Archive({...site, ...files}, {settings}));
    const origin = runtime.siteUrl('shop', 'production');
    return (path: string, accept = '*/*') => sendRaw(new URL(path, origin).href, {headers: {accept}});
  }

  test('a target: is at the root of its origin, with links to the root, folders and pages', async () => {
    const get = await startSite({});
    for (const [path, body] of [
      ['/', site['index.html']],
      ['/assets/app.js', 'app'],
      ['/about', 'about'],
      ['/docs/', 'docs'],
    ] as const) {
      expect([path, await get(path)]).toEqual([path, expect.objectContaining({status: 200, body})]);
    }
    expect((await get('/docs?x=1')).headers.location).toBe('/docs/?x=1');
    expect((await get('/ssr.js')).status).toBe(404);
  });

  test('a target: an app with its routes in the browser gets its page for all of them, but not for files', async () => {
    const get = await startSite({});
    expect(await get('/cart/1', 'text/html,*/*')).toMatchObject({status: 200, body: site['index.html']});
    expect((await get('/assets/gone.js')).status).toBe(404);
  });

  test('a target: a site in the folder of its client is at its root, with its folders and what is missing', async () => {
    const {runtime} = await startDeployed(
      await v2Archive(
        {'client/index.html': 'home', 'client/docs/index.html': 'docs', 'client/404.html': 'gone', 'ssr.js': ''},
        {settings: {ssrOnly: ['ssr.js'], ssrShared: ['**/*'], ssrParameters: {}}},
      ),
    );
    const get = (path: string) => sendRaw(new URL(path, runtime.siteUrl('shop', 'production')).href);
    expect(await get('/')).toMatchObject({status: 200, body: 'home'});
    expect(await get('/docs/')).toMatchObject({status: 200, body: 'docs'});
    expect(await get('/nowhere')).toMatchObject({status: 404, body: 'gone'});
  });

  test('a target: its own 404.html answers for what is missing', async () => {
    const get = await startSite({'404.html': 'gone'});
    expect(await get('/cart/1', 'text/html,*/*')).toMatchObject({status: 404, body: 'gone'});
  });

  test('a target: is unknown to other hosts, and others to it', async () => {
    const {runtime} = await startDeployed();
    const {port} = new URL(runtime.appsOrigin);
    const status = async (host: string) => (await sendRaw(runtime.appsOrigin, {headers: {host}})).status;
    expect(await status(`production--other.localhost:${port}`)).toBe(404);
    expect(await status(`production--shop.example:${port}`)).toBe(421);
  });

  test.each([
    ['My Shop', 'production'],
    ['shop', 'a--b'],
    ['shop', 'x'.repeat(60)],
  ])('a target: has a path if its name cannot be a host name (%s, %s)', async (project, target) => {
    const {runtime} = await startRuntime();
    const path = `/${encodeURIComponent(project)}/${target}/`;
    expect(runtime.siteUrl(project, target)).toBe(`${runtime.appsOrigin}${path}`);
  });
});
