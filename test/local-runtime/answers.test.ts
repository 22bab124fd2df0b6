import {expect, test} from 'vitest';
import {answerShapes, shapeOf, type Json, type ShapeName} from '../backends/answer-shapes.js';
import {gnuTar, build, v2Archive} from './archives.js';
import {v1Body, v2Form, type Reply} from './client.js';
import {startRuntime} from './with-runtime.js';

/** What a string looks like: one that looks so in the published answer has to look so here. */
const forms: readonly RegExp[] = [
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^(https?:\/\/|\{origin\}\/)/,
  /^\d\d:\d\d:\d\d\.\d{6}$/,
  /^[\w-]+\.[\w-]+\.[\w-]+$/,
];

/** How an answer departs from a published one: names, types, values. */
function departures(name: ShapeName, answer: Json | undefined): readonly string[] {
  const {answer: published, optional, words = {}, open = []} = shapeOf(name);
  const found: string[] = [];
  const compare = (path: string, value: Json | undefined, sample: Json | undefined): void => {
    const say = (what: string) => found.push(`${name}: ${path} ${what}`);
    const allowed = words[path];
    if (value === undefined || value === null) {
      if (sample !== null && !optional.includes(path)) say('is missing');
    } else if (sample === undefined) say('is not published');
    else if (allowed !== undefined) {
      if (!allowed.includes(value)) say(`is ${JSON.stringify(value)}`);
    } else if (kindOf(value) !== kindOf(sample) && sample !== null) say(`is ${kindOf(value)}, not ${kindOf(sample)}`);
    else if (typeof value === 'string' && typeof sample === 'string') {
      if (forms.some((form) => form.test(sample) && !form.test(value))) say(`is ${value}, unlike ${sample}`);
    } else if (isList(value) && isList(sample)) {
      for (const item of value) compare(join(path, '0'), item, sample[0]);
    } else if (isObject(value) && isObject(sample) && !open.includes(path)) {
      for (const key of new Set([...Object.keys(value), ...Object.keys(sample)])) {
        compare(join(path, key), value[key], sample[key]);
      }
    }
  };
  if (published !== undefined) compare('', answer, published);
  else if (answer !== undefined) found.push(`${name} has a body`);
  return found;
}

const join = (path: string, key: string) => (path === '' ? key : `${path}.${key}`);
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json): value is {readonly [key: string]: Json} => typeof value === 'object' && !isList(value);
const kindOf = (value: Json) => (isList(value) ? 'a list' : value === null ? 'null' : typeof value);

test('every response of the local runtime has the published names, types and values', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const {client, runtime} = await startRuntime({deploymentSeconds: 100, now: () => now});
  const later = (seconds: number) => (now = new Date(now.getTime() + seconds * 1000));
  const seen = new Map<ShapeName, number>();
  const problems: string[] = [];
  const check = (name: ShapeName, {status, body, json}: Reply): Json => {
    const shape = shapeOf(name);
    seen.set(name, (seen.get(name) ?? 0) + 1);
    if (![shape.status, ...(shape.alsoStatus ?? [])].includes(status)) problems.push(`${name}: ${status} ${body}`);
    const answer = json as Json | undefined;
    problems.push(...departures(name, answer));
    return answer ?? null;
  };
  const lookAtAll = async () => {
    check('legacy bundles', await client.legacy('projects/shop/bundles/?limit=1&offset=1'));
    check('legacy deployments', await client.legacy('projects/shop/target/production/deploy/'));
    check('legacy targets', await client.legacy('projects/shop/target/'));
    check('legacy target', await client.legacy('projects/shop/target/production/'));
    check('legacy projects', await client.legacy('projects/'));
    check('Api bundles', await client.api('shop/bundles'));
    const deployments = check('Api deployments', await client.api('shop/environments/production/deployments'));
    const {data} = deployments as {readonly data: readonly {readonly deploymentId: string}[]};
    for (const {deploymentId} of data)
      check('Api deployment', await client.api(`shop/environments/production/deployments/${deploymentId}`));
  };
  const v1 = v1Body(await gnuTar(build, {prefix: 'shop/bld', gzip: false}));
  const v2 = await v2Archive();
  check('token', await client.token());
  check('legacy push v1', await client.pushV1(v1));
  check('legacy push v1 and deploy', await client.pushV1(v1, 'projects/shop/builds/production/'));
  check('legacy push v2', await client.pushV2(v2));
  check('Api upload', await client.api('shop/bundles', {method: 'POST', body: v2Form(v2)}));
  // Queued, in progress, finished, failed: a deployment is queued for a quarter of its time.
  for (const seconds of [0, 30, 100]) {
    later(seconds);
    await lookAtAll();
  }
  runtime.addFault('failx1');
  check('legacy deploy', await client.deploy(3));
  later(100);
  await lookAtAll();
  const deploy = client.json({bundleId: 4});
  check('Api deploy', await client.api('shop/environments/production/deployments', deploy));
  check('legacy download', await client.legacy('projects/shop/bundles/1/download/'));
  const several = client.json({bundle_ids: [1, 99]});
  check('legacy delete several', await client.legacy('projects/shop/bundles/bulk-delete/', several));
  check('legacy delete', await client.legacy('projects/shop/bundles/3/', {method: 'DELETE'}));
  for (const [name, reply] of [
    ['legacy refusal', await client.legacy('projects/shop/bundles/99/download/')],
    ['Api refusal', await client.api('shop/environments/production/deployments/none')],
  ] as const) {
    expect(reply.status).toBe(404);
    problems.push(...departures(name, reply.json as Json));
  }
  expect(problems).toEqual([]);
  expect([...seen.keys()].sort()).toEqual(Object.keys(answerShapes).sort());
});

test('a response that differs from the published ones is reported', () => {
  const row = {id: '7', status: 4, created_at: 'yesterday', in_use_by: 'staging', more: 1};
  expect(departures('legacy bundles', {results: [row]})).toEqual([
    'legacy bundles: results.0.id is string, not number',
    'legacy bundles: results.0.status is 4',
    expect.stringContaining('results.0.created_at is yesterday, unlike '),
    'legacy bundles: results.0.in_use_by is string, not a list',
    'legacy bundles: results.0.more is not published',
  ]);
  expect(departures('legacy push v2', {})).toEqual(['legacy push v2: id is missing']);
});
