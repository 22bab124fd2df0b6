import {expect, test} from 'vitest';
import {v2Archive, build} from './archives.js';
import {startRuntime} from './with-runtime.js';

const parallel = <Result>(count: number, act: (index: number) => Promise<Result>): Promise<readonly Result[]> =>
  Promise.all(Array.from({length: count}, (_, index) => act(index)));

test('a runtime keeps every variable that 20 requests set at the same time', async () => {
  const {client} = await startRuntime();
  await client.pushV2(await v2Archive(build));
  await client.deploy(1);
  const statuses = await parallel(20, async (index) => {
    const change = {...client.json({[`A${String(index)}`]: {value: 'x'}}), method: 'PATCH'};
    return (await client.legacy('projects/shop/target/production/env-var/', change)).status;
  });
  const {json} = await client.legacy('projects/shop/target/production/env-var/?limit=100');
  const names = json.results.flatMap((row: object) => Object.keys(row));
  expect(names).toHaveLength(statuses.filter((status) => status === 204).length);
  expect(new Set(statuses)).toEqual(new Set([204]));
});

test('a runtime makes a target once, and refuses the others that ask at the same time', async () => {
  const {client} = await startRuntime();
  await client.pushV2(await v2Archive(build));
  const statuses = await parallel(4, async () => {
    const {status} = await client.legacy('projects/shop/target/', client.json({slug: 'qa', name: 'qa'}));
    return status;
  });
  expect(statuses.toSorted()).toEqual([201, 409, 409, 409]);
});

test('a target that is being copied is not made by another request', async () => {
  const {client} = await startRuntime();
  await client.pushV2(await v2Archive(build));
  await client.deploy(1);
  const copy = client.legacy('projects/shop/target/qa/clone/', client.json({from_target_slug: 'production'}));
  const plain = client.legacy('projects/shop/target/', client.json({slug: 'qa', name: 'qa'}));
  const statuses = [(await copy).status, (await plain).status];
  expect(statuses.toSorted()).toEqual([201, 409]);
});

test('a runtime keeps every invalidation that is asked for at the same time', async () => {
  const {client, runtime} = await startRuntime();
  await client.pushV2(await v2Archive(build));
  await client.deploy(1);
  const path = 'projects/shop/target/production/invalidation/';
  await parallel(10, (index) => client.legacy(path, client.json({pattern: `/p${String(index)}`, items: null})));
  const page = await (await fetch(`${runtime.origin}/-/projects/shop`)).text();
  for (const index of Array(10).keys()) expect(page).toContain(`/p${String(index)}`);
});
