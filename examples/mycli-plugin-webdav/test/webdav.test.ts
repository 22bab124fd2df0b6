import {createHash, randomBytes} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {readFile, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import type {Bundle, DownloadRequest, DownloadStart} from 'mycli/backend';
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest';
import {createBackendContext} from '../../../src/backends/backend-context.js';
import {webdavBackend} from '../src/backend.js';
import {openDav, type WebdavContext} from '../src/dav.js';
import {env, namesIn, startApache, type Apache} from './apache.js';

const {deploy, deleteBundle, download, listBundles, listDeployments, listTargets, upload} = webdavBackend;

let apache: Apache;
let context: WebdavContext;
let project: string;
beforeAll(async () => {
  apache = await startApache();
});
afterAll(() => apache[Symbol.asyncDispose]());
beforeEach(async () => {
  const projectSlug = `Lamp & Leaf ${randomBytes(4).toString('hex')}`;
  project = join(apache.files, projectSlug);
  const created = await createBackendContext({
    ...{projectSlug, options: undefined, configDirectory: '/', env, signal: new AbortController().signal},
    logger: {debug: () => undefined, info: () => undefined, warn: () => undefined},
    userAgent: 'mycli/0.0.0-test',
    rateLimit: {baseDelayMs: 5},
  });
  context = {...created, options: {url: `${apache.url}/`}};
});

/** An archive of `size` bytes. It need not be one: the backend does not look inside. */
function createBundle(size = 1000): Bundle {
  const content = randomBytes(size);
  return {
    ...{format: 'v2', path: '/nowhere', size, message: 'main: 1a2b3c4', rootDir: 'bld'},
    sha256: createHash('sha256').update(content).digest('hex'),
    contentSha256: '0'.repeat(64),
    config: {ssrOnly: ['ssr.js'], ssrShared: [], ssrParameters: {}},
    files: [],
    createReadStream: ({start = 0} = {}) => Readable.from([content.subarray(start)], {objectMode: false}),
    async *entries() {},
  };
}

async function pushTo(targetSlug: string): Promise<string> {
  const {bundleId} = await upload(createBundle(), context);
  await deploy?.({bundleId, targetSlug}, context);
  return String(bundleId);
}

const pointer = async (targetSlug: string) =>
  JSON.parse(await readFile(join(project, 'targets', `${targetSlug}.json`), 'utf8'));

test('a deployment points the target to an archive that is there, and remembers the one before', async () => {
  const [first, second] = [await pushTo('staging'), await pushTo('staging')];
  const {current, earlier} = await pointer('staging');
  expect([current.bundleId, earlier[0].bundleId]).toEqual([second, first]);
  const archive = await readFile(join(project, current.archive));
  expect(createHash('sha256').update(archive).digest('hex')).toBe(current.sha256);
  expect(await namesIn(join(project, 'incoming'))).toEqual([]);
});

test('a target that someone else is deploying to is busy, and stays as it is', async () => {
  const first = await pushTo('staging');
  const {bundleId} = await upload(createBundle(), context);
  const targetSlug = 'staging';
  await openDav(context).locked(`targets/${targetSlug}.json`, async () => {
    await expect(deploy?.({bundleId, targetSlug}, context)).rejects.toMatchObject({code: 'ERR_TARGET_BUSY'});
  });
  expect((await pointer(targetSlug)).current.bundleId).toBe(first);
  await deploy?.({bundleId, targetSlug}, context);
  expect((await pointer(targetSlug)).current.bundleId).toBe(bundleId);
});

test('of deployments side by side none is lost', async () => {
  const ids = [await pushTo('staging')];
  const {bundleId} = await upload(createBundle(), context);
  const deployOnce = async () => deploy?.({bundleId, targetSlug: 'staging'}, context);
  const tries = await Promise.allSettled([deployOnce(), deployOnce()]);
  const accepted = tries.filter(({status}) => status === 'fulfilled').length;
  const answer = await listDeployments?.({targetSlug: 'staging', limit: 100}, context);
  expect(accepted).toBeGreaterThan(0);
  expect(answer?.total).toBe(ids.length + accepted);
});

test('targets may have any name, and are listed with what they run', async () => {
  const names = ['a & b', 'ünïcode', '100%', '<tag>'];
  for (const name of names) await pushTo(name);
  const answer = await listTargets?.({limit: 100}, context);
  expect(answer?.items.map(({targetSlug}) => targetSlug)).toEqual(names.toSorted());
  const bundles = await listBundles?.({limit: 100}, context);
  expect(bundles?.items.map(({inUseBy}) => inUseBy)).toEqual(names.toReversed().map((name) => [name]));
});

test('a deployed bundle is not deleted', async () => {
  const bundleId = await pushTo('staging');
  await expect(deleteBundle?.({bundleId}, context)).rejects.toMatchObject({
    message: `Bundle ${bundleId} is deployed to staging`,
  });
  expect(await namesIn(join(project, 'bundles'))).toEqual([bundleId]);
  await pushTo('staging');
  await deleteBundle?.({bundleId}, context);
  expect(await namesIn(join(project, 'bundles'))).not.toContain(bundleId);
  expect(await namesIn(join(project, 'incoming'))).toEqual([]);
});

test('a download goes on where it broke off, unless the archive is another one', async () => {
  const bundle = createBundle(100_000);
  const {bundleId} = await upload(bundle, context);
  const file = join(project, 'bundles', String(bundleId), 'bundle.tar.gz');
  // Apache only vouches for bytes that have not changed in the last second.
  await utimes(file, 1, 1);
  const fetchFrom = async (resume?: DownloadRequest['resume']) => {
    const pieces: Buffer[] = [];
    const starts: DownloadStart[] = [];
    const writeTo = new Writable({
      write(piece: Buffer, _, done) {
        pieces.push(piece);
        done();
      },
    });
    await download?.({bundleId, writeTo, resume, onStart: (start) => void starts.push(start)}, context);
    return {bytes: Buffer.concat(pieces), start: starts[0]};
  };
  const whole = await fetchFrom();
  expect(whole.start).toEqual({
    ...{offset: 0, total: bundle.size, sha256: bundle.sha256, validator: expect.stringMatching(/^"/)},
  });
  const resume = {offset: 60_000, validator: whole.start?.validator ?? ''};
  const rest = await fetchFrom(resume);
  expect(rest.start?.offset).toBe(60_000);
  expect(Buffer.compare(rest.bytes, whole.bytes.subarray(60_000))).toBe(0);
  await writeFile(file, randomBytes(bundle.size));
  expect((await fetchFrom(resume)).start?.offset).toBe(0);
});

test('an upload that fails leaves nothing', async () => {
  const bundle = createBundle();
  const gone = join(apache.files, 'gone');
  const failing = {...bundle, createReadStream: () => createReadStream(gone)};
  await expect(upload(failing, context)).rejects.toThrow();
  expect(await namesIn(join(project, 'incoming'))).toEqual([]);
  expect(await namesIn(join(project, 'bundles'))).toEqual([]);
});
