import {describe, expect, test} from 'vitest';
import {isThisMachine} from '../../src/local-runtime/pages/pages-protocol.js';
import type {LocalRuntime} from '../../src/testing.js';
import {build, config, gnuTar, v2Archive} from './archives.js';
import {send, sendRaw, v1Body} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A runtime whose project `shop` has a bundle that is deployed, and one that is not. */
async function startFilled(options: Parameters<typeof startRuntime>[0] = {}) {
  const {runtime, client} = await startRuntime(options);
  await client.pushV2(await v2Archive(), {message: 'The first'});
  await client.deploy(1);
  await client.pushV2(await v2Archive({...build, 'static/new.js': 'new'}), {message: 'The second'});
  return {runtime, client};
}

/** Asks for a page. */
const page = (runtime: LocalRuntime, path = '') => send(`${runtime.origin}/${path}`);

/** The texts of a page, as people see them. */
const textOf = (body: string) =>
  body
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/&\w+;/g, (entity) => ({'&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&'})[entity] ?? entity);

/** Sends a form as a browser does. */
function post(
  runtime: LocalRuntime,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = new URLSearchParams(fields);
  return send(`${runtime.origin}/-/${path}`, {method: 'POST', body, headers: {origin: runtime.origin, ...headers}});
}

describe('the pages', () => {
  test('show what runs where, and say what to type before anything was pushed', async () => {
    const {client, runtime} = await startRuntime();
    const empty = (await page(runtime)).body;
    expect(empty).toContain(`MYCLI_RUNTIME_ORIGIN=${runtime.origin}`);
    expect(empty).toContain('mycli bundle:push --project my-shop --target staging --wait');
    await client.pushV2(await v2Archive(), {message: 'The first'});
    await client.deploy(1);
    const {body} = await page(runtime);
    expect(textOf(body)).toMatch(
      /shop \/ production Live production--shop\.localhost:\d+ Bundle 1 The first just now by .* Bundle 1 The first shop production Live /,
    );
    expect(body).toContain('href="/-/projects/shop/bundles/1"');
  });

  test('show a project and a bundle', async () => {
    const {runtime} = await startFilled();
    const project = textOf((await page(runtime, '-/projects/shop')).body);
    expect(project).toMatch(
      /production Live .* Bundle 1 The first just now by .* Bundle 2 The second .* Bundle 1 The first/,
    );
    const bundle = textOf((await page(runtime, '-/projects/shop/bundles/2')).body);
    expect(bundle).toMatch(
      /The second .* 5 files, .* server-only: 1 file, .* shared: 3 files, .*Folder Size static [\d.]+ k?B .*static\/new.js/,
    );
    expect(bundle).toContain('"ssrShared": [ "static/**/*" ]');
  });

  test('show the names of the variables of a target, and what was invalidated', async () => {
    const {client, runtime} = await startFilled();
    const change = {...client.json({API_KEY: {value: 'canary'}, COLOR: {value: 'blue'}}), method: 'PATCH'};
    await client.legacy('projects/shop/target/production/env-var/', change);
    for (const pattern of ['/a/*', '/<b>'])
      await client.legacy('projects/shop/target/production/invalidation/', client.json({pattern, items: null}));
    const {body} = await page(runtime, '-/projects/shop');
    expect(textOf(body)).toContain('Variables: API_KEY, COLOR');
    expect(textOf(body)).toMatch(/Invalidations Pattern .*\/<b> production .* \/a\/\* production /);
    expect(body).not.toContain('canary');
  });

  test('show a target with its log, its variables and its deployments, and roll it back', async () => {
    const {client, runtime} = await startFilled({ssr: true});
    const path = '-/projects/shop/targets/production';
    expect(textOf((await page(runtime, path)).body)).toContain('Nothing was logged yet.');
    await client.deploy(2);
    const later = (await page(runtime, path)).body;
    // One has to open what holds the button, also without JavaScript.
    expect(later).toMatch(
      /<details id="deployment-1"><summary [^>]*>Roll back to this…<\/summary>\n[^]*<button [^>]*>Roll back<\/button><\/form><\/details>/,
    );
    expect(textOf(later)).toMatch(/Bundle 1 The first shop production Finished \d+ \w+ \d{4}, [\d:]+ \S+ /);
    const {status} = await post(runtime, 'projects/shop/deploy', {bundle: '1', target: 'production'});
    expect(status).toBe(303);
    expect(textOf((await page(runtime, path)).body)).toMatch(/Live .* Bundle 1 The first just now/);
    expect((await page(runtime, '-/projects/shop/targets/none')).status).toBe(404);
  });

  test('say that no server runs where none can', async () => {
    const {runtime} = await startFilled();
    expect((await page(runtime, '-/projects/shop/targets/production')).body).toContain('Start it with --ssr');
  });

  test('download and delete a bundle, unless a target runs it', async () => {
    const {runtime} = await startFilled();
    const {body} = await page(runtime, '-/projects/shop/bundles/2');
    const [, link = '', name] = /href="([^"]*)" download="([^"]*)"/.exec(body) ?? [];
    expect(name).toBe('bundle-2.tar.gz');
    // One has to open what holds the button, also without JavaScript.
    expect(body).toMatch(
      /<details><summary>Delete bundle 2…<\/summary>[^]*<form [^]*<button>Delete bundle 2<\/button>/,
    );
    expect((await send(link.replaceAll('&amp;', '&'))).status).toBe(200);
    expect((await post(runtime, 'projects/shop/bundles/1/delete', {})).status).toBe(409);
    expect((await post(runtime, 'projects/shop/bundles/2/delete', {}, {origin: 'http://evil'})).status).toBe(403);
    const deleted = await post(runtime, 'projects/shop/bundles/2/delete', {});
    expect([deleted.status, deleted.headers.get('location')]).toEqual([303, '/-/projects/shop?done=delete']);
    expect(textOf((await page(runtime, '-/projects/shop')).body)).not.toContain('Bundle 2');
  });

  test('list 50 bundles at a time, and those that a filter finds', async () => {
    const {client, runtime} = await startRuntime();
    const archive = await v2Archive();
    for (let number = 1; number <= 52; number += 1) await client.pushV2(archive, {message: `Release <${number}>`});
    const texts = async (query: string) => textOf((await page(runtime, `-/projects/shop${query}`)).body);
    expect(await texts('')).toMatch(/Bundle 52 .*Bundle 3 .*1 to 50 of 52\. +Older/);
    expect(await texts('?page=1')).toMatch(/Bundle 2 .*Bundle 1 .*51 to 52 of 52\. Newer/);
    expect(await texts('?page=9')).toMatch(/Bundle 2 .*51 to 52 of 52\. Newer/);
    const found = await texts(`?filter=${encodeURIComponent('<51>')}`);
    expect(found).toContain('Bundle 51 Release <51>');
    expect(found).not.toContain('Bundle 50 ');
    // As the list shows it.
    expect(await texts(`?filter=${encodeURIComponent(' Bundle 51 ')}`)).toContain('Bundle 51 Release <51>');
    expect(await texts('?filter=none')).toContain('No bundle matches the filter.');
  });

  test('show the cards of all targets and projects, and what to do only where it can be done', async () => {
    const {client, runtime} = await startRuntime();
    const archive = await v2Archive();
    await client.pushV2(archive);
    expect(textOf((await page(runtime, '-/projects/shop')).body)).not.toContain('Open a project');
    for (let number = 1; number <= 51; number += 1) {
      await client.pushV2(archive, {}, `other-${number}`);
      await client.legacy(`projects/shop/target/t${number}/deploy/`, client.json({bundle_id: 1}));
    }
    const cards = async (path: string) => (await page(runtime, path)).body.match(/<li class="card">/g)?.length;
    expect([await cards(''), await cards('-/projects/shop')]).toEqual([102, 51]);
  });

  test('say how many deployments there are if they list only the newest', async () => {
    const {client, runtime} = await startFilled();
    for (let number = 2; number <= 9; number += 1) await client.deploy(2);
    expect(textOf((await page(runtime, '')).body)).toContain('The newest 8 of 9.');
    expect(textOf((await page(runtime, '-/projects/shop')).body)).not.toContain('The newest');
  });

  test('shorten a long message between characters', async () => {
    const {client, runtime} = await startRuntime();
    await client.pushV2(await v2Archive(), {message: '😀'.repeat(200)});
    expect((await page(runtime, '-/projects/shop')).body).toContain(`${'😀'.repeat(59)}…${'😀'.repeat(59)}<`);
  });

  test('show a v1 bundle with the categories that its push gave', async () => {
    const {client, runtime} = await startRuntime();
    await client.pushV1(v1Body(await gnuTar(build, {prefix: 'shop/bld', gzip: false})));
    const bundle = textOf((await page(runtime, '-/projects/shop/bundles/1')).body);
    expect(bundle).toMatch(/server-only: 1 file, .* shared: 2 files, .* other: 1 file, /);
  });

  test.each(['-/projects/none', '-/projects/shop/bundles/9', '-/nothing'])(
    'say so when there is none at %s',
    async (path) => {
      const {runtime} = await startRuntime();
      const {status, body} = await page(runtime, path);
      expect([status, textOf(body)]).toEqual([404, expect.stringContaining('Not found')]);
    },
  );

  test('allow nothing but their own style and script, and no frame', async () => {
    const {runtime} = await startFilled();
    for (const path of ['', '-/projects/shop', '-/projects/shop/bundles/1', '-/nothing', '-/style.css', '-/live.js']) {
      const {headers, body} = await page(runtime, path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      const tags = path.includes('.') ? '' : body.replaceAll(/>[^<]*</g, '><');
      expect(tags).not.toMatch(/\son\w+=|\sstyle=|<script(?! src="\/-\/live\.js" defer><\/script>)|<style/i);
    }
  });

  test('escape everything that was uploaded', async () => {
    const {client, runtime} = await startRuntime();
    const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const project = encodeURIComponent('<b>"shop');
    const settings = {...config, ssrShared: ['static/**'], ssrParameters: {note: '</pre><script>alert(3)</script>'}};
    const archive = await v2Archive({'ssr.js': 'x', "static/'><img src=x>.js": 'x'}, {settings});
    const {json} = await client.pushV2(archive, {message: evil}, project);
    const deploy = `projects/${project}/target/${encodeURIComponent('<i>x')}/deploy/`;
    await client.legacy(deploy, client.json({bundle_id: json.id}));
    for (const path of ['', `-/projects/${project}`, `-/projects/${project}/bundles/${json.id}`]) {
      const {status, body} = await page(runtime, path);
      expect(status).toBe(200);
      expect(body).not.toMatch(/<b>|<i>|<img src=x|<script>/);
      expect(textOf(body)).toContain('<script>alert(2)</script>');
    }
  });

  test('are met by no fault, and not recorded', async () => {
    const {runtime} = await startRuntime({faults: ['503', 'latency=1000000']});
    expect((await page(runtime)).status).toBe(200);
    const {status, headers, body} = await page(runtime, '-/icon.svg');
    expect([status, headers.get('content-type'), body]).toEqual([200, 'image/svg+xml', expect.stringMatching(/^<svg/)]);
    expect(runtime.requests).toEqual([]);
  });

  test('answer to no foreign host name', async () => {
    const {runtime} = await startRuntime();
    const refused = await sendRaw(runtime.origin, {headers: {host: 'evil.example'}});
    expect([refused.status, refused.body]).toEqual([421, expect.stringContaining('evil.example')]);
  });

  test.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:192.0.2.1', false],
    ['192.0.2.127', false],
    ['::', false],
    [undefined, false],
  ])('are for browsers on this machine: %s: %s', (address, expected) => {
    expect(isThisMachine(address)).toBe(expected);
  });
});

describe('the buttons', () => {
  test('deploy a bundle, then lead to its target', async () => {
    const {runtime} = await startFilled();
    const {status, headers} = await post(runtime, 'projects/shop/deploy', {bundle: '2', target: 'production'});
    expect([status, headers.get('location')]).toEqual([303, '/-/projects/shop/targets/production?done=deploy']);
    const {body} = await page(runtime, '-/projects/shop/targets/production?done=deploy');
    expect(textOf(body)).toMatch(/The deployment has started.* production Live \S+ Bundle 2 The second just now/);
  });

  test('create a target only if one has agreed', async () => {
    const {runtime} = await startFilled();
    const fields = {bundle: '2', target: 'prodction'};
    const asked = await post(runtime, 'projects/shop/deploy', fields);
    expect([asked.status, textOf(asked.body)]).toEqual([
      200,
      expect.stringContaining('shop has no target called prodction . Choose another one , or create it:'),
    ]);
    expect((await page(runtime, '-/projects/shop/targets/prodction')).status).toBe(404);
    const [, name = '', value = ''] = /<button class="main" name="(\w+)" value="(\w+)">/.exec(asked.body) ?? [];
    expect((await post(runtime, 'projects/shop/deploy', {...fields, [name]: value})).status).toBe(303);
    expect((await page(runtime, '-/projects/shop/targets/prodction')).status).toBe(200);
  });

  test('are refused from other origins, and without one', async () => {
    const {runtime} = await startFilled({auth: false});
    const fields = {bundle: '2', target: 'staging', create: 'yes'};
    for (const headers of [
      {origin: runtime.appsOrigin},
      {origin: runtime.siteUrl('shop', 'staging').slice(0, -1)},
      {origin: 'https://evil.example'},
      {origin: 'null'},
      {'sec-fetch-site': 'same-site'},
    ]) {
      expect([headers, (await post(runtime, 'projects/shop/deploy', fields, headers)).status]).toEqual([headers, 403]);
    }
    const plain = await sendRaw(`${runtime.origin}/-/projects/shop/deploy`, {
      method: 'POST',
      headers: {'content-type': 'application/x-www-form-urlencoded'},
      write: (request) => request.end(new URLSearchParams(fields).toString()),
    });
    expect(plain.status).toBe(403);
    expect(textOf((await page(runtime, '-/projects/shop')).body)).not.toContain('/ staging');
    expect((await post(runtime, 'projects/shop/deploy', fields)).status).toBe(303);
  });

  test.each([
    [{bundle: '9', target: 'staging'}, 404],
    [{bundle: '1', target: '../x'}, 400],
    [{bundle: '1', target: ''}, 400],
    [{bundle: '1', target: 'Stagin g', create: 'yes'}, 400],
  ])('say what is wrong with %j', async (fields, expected) => {
    const {runtime} = await startFilled();
    const {status, body} = await post(runtime, 'projects/shop/deploy', fields);
    expect([status, body]).toEqual([expected, expect.stringContaining('class="notice problem"')]);
  });
});

describe('the faults', () => {
  test('are switched on and off, and apply to requests', async () => {
    const {client, runtime} = await startFilled();
    const add = (fault: string) => post(runtime, 'faults', {fault});
    const {status, headers} = await add('503x1:route=list');
    expect([status, headers.get('location')]).toEqual([303, '/-/faults']);
    await add('429:route=list');
    const shown = textOf((await page(runtime, '-/faults')).body);
    expect(shown).toContain('503x1:route=list 1 Remove');
    expect(shown).toContain('429:route=list No limit Remove');
    const list = async () => (await client.legacy('projects/shop/bundles/')).status;
    expect([await list(), await list(), await list()]).toEqual([503, 429, 429]);
    const {body} = await page(runtime, '-/faults');
    expect(body).not.toContain('503x1:route=list');
    const [, number = ''] = /name="fault" value="(\d+)"/.exec(body) ?? [];
    expect((await post(runtime, 'faults/remove', {fault: number})).status).toBe(303);
    expect(await list()).toBe(200);
    expect(textOf((await page(runtime, '-/faults')).body)).toContain('No faults');
  });

  test('that are invalid are shown again with the reason, and nothing from elsewhere changes', async () => {
    const {runtime} = await startFilled();
    const {status, body} = await post(runtime, 'faults', {fault: '<b>x'});
    expect([status, textOf(body)]).toEqual([422, expect.stringContaining('The fault "<b>x" is invalid')]);
    expect(body).toContain('value="&lt;b&gt;x"');
    expect((await post(runtime, 'faults', {fault: '503'}, {origin: runtime.appsOrigin})).status).toBe(403);
    expect((await post(runtime, 'faults/remove', {fault: '1'}, {origin: runtime.appsOrigin})).status).toBe(403);
    expect(textOf((await page(runtime, '-/faults')).body)).toContain('No faults');
  });
});
