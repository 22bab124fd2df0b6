import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {HeadObjectCommand} from '@aws-sdk/client-s3';
import {expect, test} from 'vitest';
import {callInContext} from '../../../src/backends/call.js';
import {s3Backend} from '../src/backend.js';
import {startProxy} from './proxy.js';
import {createBucket, createBundle, endpoint} from './test-store.js';

const mebibyte = 1024 * 1024;
/** A gateway that takes one request at a time and answers the others 503 SlowDown. */
const slow = process.env['S3_SLOW'];

test('a large archive goes up in parts', async () => {
  const bucket = await createBucket();
  const bundle = createBundle(20 * mebibyte);
  const {bundleId} = await s3Backend.upload(bundle, await bucket.context());
  const head = new HeadObjectCommand({Bucket: bucket.options.bucket, Key: `shop/archives/${bundleId}.tar.gz`});
  expect(await bucket.s3.send(head)).toMatchObject({ContentLength: bundle.size, ETag: expect.stringMatching(/-3"?$/)});
  expect(await bucket.pending()).toEqual([]);
});

test.each([
  ['an archive in one piece', 1000, 'PUT', '/archives/'],
  ['the beginning of many parts', 30 * mebibyte, 'POST', 'uploads'],
  ['a part in the middle', 30 * mebibyte, 'PUT', 'partNumber=2'],
  ['the completion', 30 * mebibyte, 'POST', 'uploadId'],
  ['the record', 1000, 'PUT', '/bundles/'],
])('an upload that is aborted at %s leaves nothing', async (_where, size, method, part) => {
  const bucket = await createBucket();
  await using proxy = await startProxy(endpoint);
  const controller = new AbortController();
  const reason = new Error('enough');
  proxy.intercept = (request) => {
    if (request.method === method && request.path.includes(part)) controller.abort(reason);
    return undefined;
  };
  const context = await bucket.context({endpoint: proxy.endpoint, signal: controller.signal});
  const aborted = callInContext(s3Backend, 'uploading', context, (own) =>
    s3Backend.upload(createBundle(size), {...own, options: context.options}),
  );
  await expect(aborted).rejects.toBe(reason);
  expect(await bucket.keys()).toEqual([]);
  expect(await bucket.pending()).toEqual([]);
});

test('an archive that changed after it was built is refused and leaves nothing', async () => {
  const bucket = await createBucket();
  const bundle = {...createBundle(20 * mebibyte), sha256: '0'.repeat(64)};
  await expect(s3Backend.upload(bundle, await bucket.context())).rejects.toMatchObject({code: 'ERR_FILE_CHANGED'});
  expect(await bucket.keys()).toEqual([]);
  expect(await bucket.pending()).toEqual([]);
});

test('an object that is damaged in the store is not taken for the bundle', async () => {
  const bucket = await createBucket();
  const context = await bucket.context();
  const [{bundleId}, other] = [await s3Backend.upload(createBundle(), context), createBundle()];
  const {PutObjectCommand} = await import('@aws-sdk/client-s3');
  const {Writable} = await import('node:stream');
  await bucket.s3.send(
    new PutObjectCommand({
      Bucket: bucket.options.bucket,
      Key: `shop/archives/${bundleId}.tar.gz`,
      Body: Buffer.alloc(other.size),
    }),
  );
  const writeTo = new Writable({write: (_chunk, _encoding, done) => done()});
  await expect(s3Backend.download({bundleId, writeTo}, context)).rejects.toMatchObject({code: 'ERR_FILE_CHANGED'});
});

test.skipIf(slow === undefined)('a store that asks to slow down is waited for by the rate-limit rules', async () => {
  const bucket = await createBucket();
  const log: string[] = [];
  const retries: unknown[] = [];
  const context = await bucket.context({
    ...{
      endpoint: slow,
      rateLimit: {statusCodes: [503], baseDelayMs: 20, maxDelayMs: 200, maxRetries: 50, prefix: 'S3'},
    },
    logger: {debug: () => undefined, info: (message) => log.push(message), warn: (message) => log.push(message)},
    onRetry: (event) => retries.push(event),
  });
  const bundle = createBundle(64 * mebibyte);
  const {bundleId} = await s3Backend.upload(bundle, context);
  const archive = await bucket.read(`shop/archives/${bundleId}.tar.gz`);
  expect(archive.length).toBe(bundle.size);
  expect(log).toContainEqual(expect.stringMatching(/^\[S3 RATE\] 503 SlowDown: retry 1 of 50 in \d+ ms$/));
  expect(retries).toContainEqual(expect.objectContaining({attempt: 1, maxRetries: 50, status: 503}));
});

test('the memory of an upload does not grow with the archive', {timeout: 120_000}, async () => {
  const bucket = await createBucket();
  const child = fileURLToPath(new URL('upload-child.js', import.meta.url));
  const peak = async (size: number) => {
    const {stdout} = await promisify(execFile)(process.execPath, [child, JSON.stringify(bucket.options), String(size)]);
    return Number(stdout);
  };
  const [small, large] = [await peak(40 * mebibyte), await peak(340 * mebibyte)];
  expect(large - small).toBeLessThan(100 * mebibyte);
});
