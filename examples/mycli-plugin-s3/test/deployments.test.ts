import {PutBucketVersioningCommand} from '@aws-sdk/client-s3';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {s3Backend} from '../src/backend.js';
import type {S3Context} from '../src/options.js';
import {startProxy, type Intercept, type Proxy} from './proxy.js';
import {createBucket, createBundle, endpoint, type TestBucket} from './test-store.js';

let bucket: TestBucket;
let proxy: Proxy;
let context: S3Context;
/** The same through the proxy. */
let proxied: S3Context;

beforeEach(async () => {
  bucket = await createBucket();
  proxy = await startProxy(endpoint);
  context = await bucket.context();
  proxied = await bucket.context({endpoint: proxy.endpoint});
});
afterEach(() => proxy[Symbol.asyncDispose]());

const push = async (message = 'a bundle') => (await s3Backend.upload(createBundle(1000, message), context)).bundleId;
const pointer = async (target = 'staging'): Promise<unknown> =>
  JSON.parse(Buffer.from(await bucket.read(`shop/targets/${target}.json`)).toString());

/** Holds the first two requests that match until both are there. */
function meet(matches: (...request: Parameters<Intercept>) => boolean): Intercept {
  let arrived = 0;
  let go: () => void = () => undefined;
  const both = new Promise<undefined>((resolve) => (go = () => resolve(undefined)));
  return (request) => {
    if (!matches(request)) return undefined;
    arrived += 1;
    if (arrived === 2) go();
    return both;
  };
}

describe('of two deployers that saw the same state', () => {
  test.each([
    [15, 'that runs something', () => 'staging'],
    [5, 'that is new', (round: number) => `target-${round}`],
  ])('exactly one wins, in each of %d rounds on a target %s', async (rounds, _which, target) => {
    const bundles = [await push('first'), await push('second')];
    await s3Backend.deploy({bundleId: await push('before'), targetSlug: 'staging'}, context);
    for (let round = 0; round < rounds; round += 1) {
      proxy.intercept = meet(({method, path}) => method === 'GET' && path.includes('/targets/'));
      const targetSlug = target(round);
      const results = await Promise.allSettled(
        bundles.map((bundleId) => s3Backend.deploy({bundleId, targetSlug}, proxied)),
      );
      const won = results.findIndex(({status}) => status === 'fulfilled');
      expect(results.filter(({status}) => status === 'rejected')).toEqual([
        {
          status: 'rejected',
          reason: expect.objectContaining({
            code: 'ERR_REJECTED',
            status: expect.toSatisfy((status) => status === 409 || status === 412),
            message: expect.stringContaining(
              `Someone else deployed to "${targetSlug}" at the same time: bundle ${bundles[won]}`,
            ),
          }),
        },
      ]);
      expect(await pointer(targetSlug)).toMatchObject({current: {bundleId: bundles[won]}});
    }
  });
});

test('a deployment whose answer was lost has succeeded, and is in the history once', async () => {
  const bundleId = await push();
  await s3Backend.deploy({bundleId: await push('before'), targetSlug: 'staging'}, context);
  let lost = 0;
  proxy.intercept = ({method, path}) => {
    if (method !== 'PUT' || !path.includes('/targets/')) return undefined;
    lost += 1;
    return 'lose success';
  };
  await expect(s3Backend.deploy({bundleId, targetSlug: 'staging'}, proxied)).resolves.toMatchObject({
    status: 'finished',
  });
  expect(lost).toBeGreaterThan(0);
  const {items} = await s3Backend.listDeployments({targetSlug: 'staging', limit: 10}, context);
  expect(items.map((item) => item.message)).toEqual(['a bundle', 'before']);
});

test('a bucket whose conditions are never met is reported as such, not as a conflict', async () => {
  const bundleId = await push();
  // Ceph 16 refuses every If-Match in buckets with versions.
  await bucket.s3.send(
    new PutBucketVersioningCommand({Bucket: bucket.options.bucket, VersioningConfiguration: {Status: 'Enabled'}}),
  );
  await expect(s3Backend.deploy({bundleId, targetSlug: 'staging'}, context)).rejects.toMatchObject({
    code: 'ERR_CAPABILITY_UNSUPPORTED',
  });
  expect(await pointer()).toEqual({current: null, earlier: []});
});

test('a bucket that ignores conditions is refused before anything is deployed', async () => {
  const bundleId = await push();
  proxy.intercept = ({headers}) => (headers['if-match'] === undefined ? undefined : {status: 200});
  await expect(s3Backend.deploy({bundleId, targetSlug: 'staging'}, proxied)).rejects.toMatchObject({
    code: 'ERR_CAPABILITY_UNSUPPORTED',
  });
  expect(await pointer()).toEqual({current: null, earlier: []});
});

describe('deleting', () => {
  test('a bundle that is deployed is refused, naming the target', async () => {
    const bundleId = await push();
    await s3Backend.deploy({bundleId, targetSlug: 'staging'}, context);
    await expect(s3Backend.deleteBundle({bundleId}, context)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('staging'),
    });
  });

  test('wins against a deployment that has not written its pointer yet: the target runs what it ran', async () => {
    const [before, bundleId] = [await push('before'), await push()];
    await s3Backend.deploy({bundleId: before, targetSlug: 'staging'}, context);
    proxy.intercept = async ({method, path}) => {
      if (method !== 'PUT' || !path.includes('/targets/')) return undefined;
      proxy.intercept = () => undefined;
      await s3Backend.deleteBundle({bundleId}, context);
      return undefined;
    };
    await expect(s3Backend.deploy({bundleId, targetSlug: 'staging'}, proxied)).rejects.toMatchObject({
      code: 'ERR_BUNDLE_UNKNOWN',
      status: 404,
    });
    expect(await pointer()).toMatchObject({current: {bundleId: before}, earlier: []});
  });

  test('loses against a deployment that wrote its pointer while the record went: the bundle stays', async () => {
    const bundleId = await push();
    proxy.intercept = async ({method}) => {
      if (method !== 'DELETE') return undefined;
      proxy.intercept = () => undefined;
      await s3Backend.deploy({bundleId, targetSlug: 'staging'}, context);
      return undefined;
    };
    await expect(s3Backend.deleteBundle({bundleId}, proxied)).rejects.toMatchObject({status: 409});
    expect(await bucket.keys()).toEqual([
      `shop/archives/${bundleId}.tar.gz`,
      `shop/bundles/${bundleId}.json`,
      'shop/targets/staging.json',
    ]);
  });
});
