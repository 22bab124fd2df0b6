import {expect, test} from 'vitest';
import {build, gnuTar, v2Archive} from '../local-runtime/archives.js';
import {send, sendRaw, v1Body, v2Form} from '../local-runtime/client.js';
import {startRuntime} from '../local-runtime/with-runtime.js';
import {operations} from './contract.js';
import {recording} from './recorder.js';

test('each operation of the document is served, and gives each answer of it that is no refusal', async () => {
  const {seen} = recording();
  seen.clear();
  const {runtime, client} = await startRuntime({deploymentSeconds: 3600});
  const v1 = v1Body(await gnuTar(build, {prefix: 'shop/bld', gzip: false}));
  const v2 = await v2Archive();
  await client.pushV1(v1, 'projects/shop/builds/staging/');
  await client.pushV1(v1);
  await client.pushV2(v2);
  await client.api('shop/bundles', {method: 'POST', body: v2Form(v2)});
  await client.deploy(1, 'other');
  const third = 'shop/environments/third/deployments';
  const {json: deployment} = await client.api(third, client.json({bundleId: 1}));
  for (const path of ['shop/bundles', third, `${third}/${deployment.deploymentId}`]) await client.api(path);
  for (const path of ['', 'shop/bundles/', 'shop/target/', 'shop/target/staging/', 'shop/target/staging/deploy/']) {
    await client.legacy(`projects/${path}`);
  }
  const {json: link} = await client.legacy('projects/shop/bundles/2/download/');
  const {headers} = await send(link.download_url);
  await send(link.download_url, {headers: {range: 'bytes=100-'}});
  await sendRaw(link.download_url, {headers: {'if-none-match': headers.get('etag') ?? ''}});
  await client.legacy('projects/shop/bundles/2/', {method: 'DELETE'});
  await client.legacy('projects/shop/bundles/bulk-delete/', client.json({bundle_ids: [3, 99]}));
  const changes = {...client.json({A: {value: '1'}, B: {value: null}}), method: 'PATCH'};
  const staging = 'projects/shop/target/staging/';
  await client.legacy('projects/shop/target/', client.json({slug: 'fourth', name: 'Fourth'}));
  await client.legacy('projects/shop/target/fifth/clone/', client.json({from_target_slug: 'staging'}));
  const patch = (value: unknown) => ({...client.json(value), method: 'PATCH'});
  await client.legacy(staging, patch({is_production: false}));
  const redirect = {from_path: '/old', to_url: '/new'};
  await client.legacy(`${staging}redirect/`, client.json(redirect));
  await client.legacy(`${staging}redirect/`);
  await client.legacy(`${staging}redirect/%2Fold/`, patch({to_url: '/newer'}));
  await client.legacy(`${staging}redirect/%2Fold/`, {method: 'DELETE'});
  const header = client.json({value: 'a secret of visitors'});
  const {json: made} = await client.legacy(`${staging}access-control-header/`, header);
  await client.legacy(`${staging}access-control-header/`);
  await client.legacy(`${staging}access-control-header/${made.id}/`, {method: 'DELETE'});
  await client.legacy(`${staging}env-var/`, changes);
  await client.legacy(`${staging}env-var/`);
  await client.legacy(`${staging}invalidation/`, client.json({pattern: '/*', items: null}));
  await client.legacy(`${staging}jwt/`, {method: 'POST'});
  await client.legacy('projects/shop/target/fourth/', {method: 'DELETE'});
  await client.environments('', client.json({displayName: 'Fourth'}));
  await client.environments('/clone', client.json({displayName: 'Fifth', sourceEnvironmentId: 'third'}));
  for (const path of ['', '/third', '/third/environment-variables']) await client.environments(path);
  await client.environments('/third/environment-variables', changes);
  await client.environments('/third/cache-invalidations', client.json({pattern: '/*'}));
  await client.environments('/third', patch({isProduction: false}));
  const {json: added} = await client.environments('/third/redirects', client.json({source: '/a', destination: '/b'}));
  await client.environments(`/third/redirects/${added.id}`, patch({destination: '/c'}));
  await client.environments(`/third/redirects/${added.id}`, {method: 'DELETE'});
  const {json: opened} = await client.environments('/third/access-control-headers', header);
  await client.environments(`/third/access-control-headers/${opened.id}`, {method: 'DELETE'});
  for (const path of ['/redirects', '/access-control-headers']) await client.environments(`/third${path}`);
  await client.environments('/third', {method: 'DELETE'});
  await client.deploy(1, 'sixth');
  await client.environments('/sixth/primary', {method: 'PUT'});
  await client.storefronts();
  await client.legacy('users/me/api_key/', {method: 'POST'});
  await send(`${runtime.origin}/openapi.json`);
  const promised = operations.flatMap(({id, answers}) =>
    Object.entries(answers)
      .filter(([status, answer]) => /^[23]/.test(status) && answer['x-only-hosted'] !== true)
      .map(([status]) => `${id} ${status}`),
  );
  await expect.poll(() => promised.filter((name) => !seen.has(name))).toEqual([]);
});
