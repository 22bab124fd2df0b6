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
  await client.environments('/third', {method: 'DELETE'});
  await send(`${runtime.origin}/openapi.json`);
  const promised = operations.flatMap(({id, answers}) =>
    Object.entries(answers)
      .filter(([status, answer]) => /^[23]/.test(status) && answer['x-only-hosted'] !== true)
      .map(([status]) => `${id} ${status}`),
  );
  await expect.poll(() => promised.filter((name) => !seen.has(name))).toEqual([]);
});
