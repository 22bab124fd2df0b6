import {execFile} from 'node:child_process';
import {createWriteStream} from 'node:fs';
import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {AbortMultipartUploadCommand, DeleteObjectCommand, HeadObjectCommand} from '@aws-sdk/client-s3';
import {describe, expect, test} from 'vitest';
import {callInContext} from '../../../src/backends/call.js';
import {createBackendRegistry} from '../../../src/backends/registry.js';
import {uploadStateFiles} from '../../../src/cli/command/records.js';
import {s3Backend} from '../src/backend.js';
import {makeProject} from './test-project.js';
import {startProxy, type Proxy} from './proxy.js';
import {createBucket, createBundle, createState, endpoint} from './test-store.js';
import {pushRuntimeBundle} from '../../../test/operations/calls.js';

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
  const state = createState();
  const context = await bucket.context({endpoint: proxy.endpoint, signal: controller.signal, state});
  const aborted = callInContext(s3Backend, {doing: 'uploading', effect: 'writes'}, context, (own) =>
    s3Backend.upload(createBundle(size), {...own, options: context.options}),
  );
  await expect(aborted).rejects.toBe(reason);
  expect(await bucket.keys()).toEqual([]);
  expect(await bucket.pending()).toEqual([]);
  expect(await state.read()).toBeUndefined();
});

test('an archive that changed after it was built is refused and leaves nothing', async () => {
  const bucket = await createBucket();
  const bundle = {...createBundle(20 * mebibyte), sha256: '0'.repeat(64)};
  await expect(s3Backend.upload(bundle, await bucket.context())).rejects.toMatchObject({code: 'ERR_FILE_CHANGED'});
  expect(await bucket.keys()).toEqual([]);
  expect(await bucket.pending()).toEqual([]);
});

/** Cuts the connection of the parts that `isCut` says, and counts the others. */
function cutParts(proxy: Proxy, isCut: (part: number) => boolean): {readonly sent: readonly number[]} {
  const sent: number[] = [];
  proxy.intercept = ({method, path}) => {
    const part = Number(/partNumber=(\d+)/.exec(path)?.[1]);
    if (method !== 'PUT' || Number.isNaN(part)) return undefined;
    if (isCut(part)) return 'cut';
    sent.push(part);
    return undefined;
  };
  return {sent};
}

describe('an upload that was cut off', () => {
  const rateLimit = {maxRetries: 1, baseDelayMs: 5};

  test('is taken up by the next push of the same bundle, which sends the missing parts only', async () => {
    const bucket = await createBucket();
    await using proxy = await startProxy(endpoint);
    await using folder = await makeProject(40 * mebibyte);
    const {options} = bucket;
    const push = () =>
      pushRuntimeBundle(
        {
          ...{preference: 's3', projectSlug: 'shop', rateLimit, compressionLevel: 0},
          backends: createBackendRegistry([{plugin: 'mycli-plugin-s3', backend: s3Backend}]),
          backendOptions: {...options, endpoint: proxy.endpoint},
          uploadStates: uploadStateFiles(folder.data),
        },
        folder.host,
      );
    const first = cutParts(proxy, (part) => part > 2);
    await expect(push()).rejects.toMatchObject({code: 'ERR_NETWORK'});
    expect(first.sent.toSorted()).toEqual([1, 2]);
    expect(await bucket.pending()).toHaveLength(1);

    const second = cutParts(proxy, () => false);
    const {bundleId, archive} = await push();
    expect(second.sent.toSorted()).toEqual([3, 4, 5, 6]);
    expect(await bucket.pending()).toEqual([]);
    expect(await readdir(join(folder.data, 'uploads'))).toEqual([]);

    const context = await bucket.context();
    const writeTo = createWriteStream(join(folder.data, 'archive'));
    await s3Backend.download({bundleId, writeTo}, context);
    expect((await stat(join(folder.data, 'archive'))).size).toBe(archive.size);
    await s3Backend.deleteBundle({bundleId}, context);
    expect(await bucket.keys()).toEqual([]);

    const third = cutParts(proxy, () => false);
    await push();
    expect(third.sent.toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('leaves nothing if nothing is kept', async () => {
    const bucket = await createBucket();
    await using proxy = await startProxy(endpoint);
    cutParts(proxy, (part) => part === 2);
    const context = await bucket.context({endpoint: proxy.endpoint, rateLimit});
    await expect(s3Backend.upload(createBundle(20 * mebibyte), context)).rejects.toMatchObject({code: 'ERR_NETWORK'});
    expect(await bucket.pending()).toEqual([]);
  });

  test('starts over if the store has forgotten it', async () => {
    const bucket = await createBucket();
    await using proxy = await startProxy(endpoint);
    const [bundle, state] = [createBundle(20 * mebibyte), createState()];
    const context = await bucket.context({endpoint: proxy.endpoint, state, rateLimit});
    cutParts(proxy, (part) => part === 3);
    await expect(s3Backend.upload(bundle, context)).rejects.toMatchObject({code: 'ERR_NETWORK'});
    const {archive, uploadId} = (await state.read()) as {readonly archive: string; readonly uploadId: string};
    await bucket.s3.send(
      new AbortMultipartUploadCommand({Bucket: bucket.options.bucket, Key: archive, UploadId: uploadId}),
    );
    const {sent} = cutParts(proxy, () => false);
    await s3Backend.upload(bundle, context);
    expect(sent.toSorted()).toEqual([1, 2, 3]);
  });

  test('is cleaned up if it was complete but for its record; a bundle with a record stays', async () => {
    const bucket = await createBucket();
    const [bundle, state] = [createBundle(20 * mebibyte), createState()];
    const context = await bucket.context({state});
    // The host has not dropped the state: it was killed.
    const {bundleId: first} = await s3Backend.upload(bundle, context);
    const saved = await state.read();
    const {bundleId: second} = await s3Backend.upload(bundle, context);
    expect(await bucket.keys()).toHaveLength(4);
    await state.write(saved);
    await bucket.s3.send(new DeleteObjectCommand({Bucket: bucket.options.bucket, Key: `shop/bundles/${first}.json`}));
    const {bundleId: third} = await s3Backend.upload(bundle, context);
    expect(await bucket.keys()).toEqual([
      ...[second, third].map((id) => `shop/archives/${id}.tar.gz`),
      ...[second, third].map((id) => `shop/bundles/${id}.json`),
    ]);
  });
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

test('the memory of an upload does not grow with the archive', async () => {
  const bucket = await createBucket();
  const child = fileURLToPath(new URL('upload-child.js', import.meta.url));
  const peak = async (size: number) => {
    const {stdout} = await promisify(execFile)(process.execPath, [child, JSON.stringify(bucket.options), String(size)]);
    return Number(stdout);
  };
  const [small, large] = [await peak(40 * mebibyte), await peak(340 * mebibyte)];
  expect(large - small).toBeLessThan(100 * mebibyte);
});
