import {describe, expect, test} from 'vitest';
import {v2Archive} from './archives.js';
import {send, sendRaw} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A runtime with a target `staging` that runs a bundle, and both ways to change it. */
async function startTarget() {
  const {runtime, client} = await startRuntime();
  await client.pushV2(await v2Archive());
  await client.deploy(1, 'staging');
  const patch = (value: unknown) => ({...client.json(value), method: 'PATCH'});
  const legacy = (path: string, init?: RequestInit) => client.legacy(`projects/shop/target/staging/${path}`, init);
  const api = (path: string, init?: RequestInit) => client.environments(`/staging${path}`, init);
  const page = (path: string, headers: Record<string, string> = {}) =>
    send(`${runtime.appsOrigin}/shop/staging${path}`, {headers});
  return {runtime, client, patch, legacy, api, page};
}

describe('target configuration', () => {
  test('settings that one protocol sets are what the other answers, in its words', async () => {
    const {api, legacy, patch} = await startTarget();
    const changed = await legacy(
      '',
      patch({
        ssr_region: 'eu-west-1',
        ssr_whitelisted_ips: '10.0.0.0/8 192.168.0.0/16',
        ssr_proxy_configs: [{path: 'api', host: 'api.example.com'}],
        log_level: 'DEBUG',
        is_production: true,
        name: 'Staging',
      }),
    );
    expect(changed).toMatchObject({status: 200, json: {ssr_region: 'eu-west-1', log_level: 'DEBUG', name: 'Staging'}});
    expect((await api('')).json).toMatchObject({
      displayName: 'Staging',
      ssrRegion: 'eu_west_1',
      ssrWhitelistedIps: '10.0.0.0/8 192.168.0.0/16',
      ssrProxyConfigs: [{path: 'api', host: 'api.example.com', protocol: 'https'}],
      logLevel: 'debug',
      isProduction: true,
      enableSourceMaps: false,
    });
    expect((await api('', patch({distributedTracing: true}))).json).toMatchObject({distributedTracing: true});
    expect(await api('', patch({}))).toMatchObject({status: 400});
  });

  test('what changes its servers publishes again what the target runs, and nothing else does', async () => {
    const {legacy, patch} = await startTarget();
    const deployments = async () => (await legacy('deploy/')).json.count;
    await legacy('', patch({is_production: true}));
    expect(await deployments()).toBe(1);
    await legacy('', patch({enable_source_maps: true}));
    expect(await deployments()).toBe(2);
  });

  test('redirects answer before the app does, with what is forwarded', async () => {
    const {legacy, api, client, page} = await startTarget();
    const first = {from_path: '/old page', to_url: '/new', http_status_code: 302, forward_querystring: true};
    expect(await legacy('redirect/', client.json({...first, from_path: '/old%20page'}))).toMatchObject({status: 201});
    const wild = {source: '/blog/*', destination: 'https://blog.example/*', forwardWildcard: true};
    expect(await api('/redirects', client.json(wild))).toMatchObject({status: 201, json: {httpStatusCode: 301}});
    const location = async (path: string) => {
      const {status, headers} = await page(path);
      return `${status} ${headers.get('location')}`;
    };
    expect(await location('/old%20page?a=1')).toBe('302 /shop/staging/new?a=1');
    expect(await location('/blog/2026/x y?a=1')).toBe('301 https://blog.example/2026/x%20y');
    expect(await legacy('redirect/', client.json({...first, from_path: '/old%20page'}))).toMatchObject({status: 409});
    expect(await legacy(`redirect/${encodeURIComponent('/old%20page')}/`, {method: 'DELETE'})).toMatchObject({
      status: 204,
    });
    expect(await page('/old%20page')).toMatchObject({status: 404});
  });

  test('the address of a redirect has one query, its fragment last, only ASCII, and a path stays on the site', async () => {
    const {runtime, api, client} = await startTarget();
    const forwarded = {forwardQuerystring: true, forwardWildcard: true};
    for (const [source, destination] of [
      ['/q', '/new?x=1'],
      ['/h', '/new#part'],
      ['/u', '/ö'],
      ['/all/*', '/*'],
      ['/shop/*', 'https://shop.example/*?from=old'],
    ]) {
      const body = client.json({source, destination, ...forwarded});
      expect(await api('/redirects', body)).toMatchObject({status: 201});
    }
    const host = `staging--shop.localhost:${new URL(runtime.appsOrigin).port}`;
    const location = async (path: string) => {
      const {headers} = await sendRaw(runtime.appsOrigin, {path, headers: {host}});
      return headers.location;
    };
    expect(await location('/q?z=1')).toBe('/new?x=1&z=1');
    expect(await location('/q')).toBe('/new?x=1');
    expect(await location('/h?z=1')).toBe('/new?z=1#part');
    expect(await location('/u')).toBe('/%C3%B6');
    expect(await location('/all/a%3Fb')).toBe('/a%3Fb');
    for (const path of ['//evil.example', '/%2fevil.example'])
      expect(await location(`/all${path}`)).toBe('/evil.example');
    expect(await location('/all/%5cevil.example')).toBe('/%5Cevil.example');
    expect(await location('/shop/a?z=1')).toBe('https://shop.example/a?from=old&z=1');
  });

  test('an access header shuts the site to all who do not send it, and its value is not told', async () => {
    const {api, client, page} = await startTarget();
    expect(await page('/static/app.js')).toMatchObject({status: 200});
    const {status, json} = await api('/access-control-headers', client.json({value: 'open sesame'}));
    expect({status, value: json.value}).toEqual({status: 201, value: '********'});
    expect(await page('/static/app.js')).toMatchObject({status: 401});
    expect(await page('/static/app.js', {'x-sfdc-access-control': 'open sesame'})).toMatchObject({status: 200});
    expect(await api(`/access-control-headers/${json.id}`, {method: 'DELETE'})).toMatchObject({status: 204});
    expect(await page('/static/app.js')).toMatchObject({status: 200});
    expect(await api('/access-control-headers', client.json({value: 'short'}))).toMatchObject({status: 400});
  });

  test('the page shows what is set for a target, and no secret of it', async () => {
    const {runtime, legacy, client, patch} = await startTarget();
    await legacy('', patch({ssr_proxy_configs: [{path: 'api', host: 'api.example.com'}], log_level: 'DEBUG'}));
    await legacy('redirect/', client.json({from_path: '/old', to_url: '/new'}));
    await legacy('access-control-header/', client.json({value: 'open sesame'}));
    const {body} = await send(`${runtime.origin}/`);
    for (const text of [
      'api → api.example.com',
      'logLevel: &quot;debug&quot;',
      '/old → /new',
      'Protected: visitors need',
    ])
      expect(body).toContain(text);
    expect(body).not.toContain('open sesame');
  });

  test('one environment is primary, and is not deleted', async () => {
    const {api, client} = await startTarget();
    await client.deploy(1, 'other');
    for (const path of ['/other', '/staging']) await client.environments(`${path}/primary`, {method: 'PUT'});
    const {json} = await client.environments('');
    const primary = json.data.map((row: {environmentId: string; isPrimary: boolean}) => [
      row.environmentId,
      row.isPrimary,
    ]);
    expect(Object.fromEntries(primary)).toEqual({other: false, staging: true});
    expect(await api('', {method: 'DELETE'})).toMatchObject({status: 409});
  });

  test('a copy has the settings of its source, without proxies and what belongs to one target', async () => {
    const {legacy, client, patch} = await startTarget();
    const proxies = [{path: 'api', host: 'api.example.com'}];
    await legacy('', patch({ssr_proxy_configs: proxies, is_production: true, allow_cookies: true}));
    const {json} = await client.legacy('projects/shop/target/qa/clone/', client.json({from_target_slug: 'staging'}));
    expect(json).toMatchObject({ssr_proxy_configs: [], is_production: false, allow_cookies: true});
  });

  test('a new API key ends the one before, also after a restart', async () => {
    const {client, runtime} = await startTarget();
    const {status, json} = await client.legacy('users/me/api_key/', {method: 'POST'});
    expect(status).toBe(201);
    expect((await client.legacy('projects/')).status).toBe(401);
    const headers = {authorization: `Bearer ${json.api_key}`};
    expect((await send(`${runtime.origin}/api/projects/`, {headers})).status).toBe(200);
    expect(runtime.credentials.apiKey).toBe(json.api_key);
  });
});
