import type {DownloadBundleOptions} from '../../src/operations/bundle-options.js';
import {createHash} from 'node:crypto';
import {chmod, lstat, mkdir, readdir, readFile, rename, symlink, writeFile} from 'node:fs/promises';
import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Backend} from '../../src/backends/contract.js';
import {createBackendRegistry} from '../../src/backends/registry.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {startRecordingServer, type RecordedRequest, type Reply} from '../recording-server.js';
import {startService, type Service} from './pushed-bundles.js';
import {createProject} from './test-host.js';
import {buildBundle} from '../../src/pipelines/build.js';
import {inspectBundle} from '../../src/pipelines/read.js';
import {downloadBundle, hearing} from './calls.js';

function download({connection, project}: Service, options: Partial<DownloadBundleOptions> = {}) {
  return downloadBundle({...connection, preference: 'legacy', bundleId: 1, ...options}, project.host);
}

/** Leaves a part, and what is known of it, as a download that broke off does. */
async function leavePart(part: string, content: string | Buffer, validator: string): Promise<void> {
  await writeFile(part, content);
  const state = {backend: 'legacy', projectSlug: 'shop', bundleId: 1, validator};
  await writeFile(`${part}.json`, JSON.stringify(state), {mode: 0o600});
}

const archives = ({runtime}: Service) => runtime.requests.filter(({route}) => route === 'archive');
const filesIn = async ({project}: Service) => (await readdir(project.directory)).sort();

describe('a download', () => {
  test('is the archive as it was pushed, verified, and nothing else is left', async () => {
    const service = await startService();
    await service.push();
    const progress: unknown[] = [];
    const result = await download(service, {onEvent: hearing((event) => progress.push(event))});
    const bytes = await readFile(join(service.project.directory, 'bundle-1.tar.gz'));
    expect(result).toMatchObject({
      backend: 'legacy',
      bundleId: 1,
      path: join(service.project.directory, 'bundle-1.tar.gz'),
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      files: 4,
      resumedFrom: 0,
    });
    expect(progress.at(-1)).toMatchObject({phase: 'download', transferred: bytes.length, total: bytes.length});
    expect(await filesIn(service)).toEqual(['build', 'bundle-1.tar.gz']);
  });

  test('is written by one at a time: a second one to the same file says so and leaves the first alone', async () => {
    const service = await startService();
    await service.push();
    let second: Promise<unknown> | undefined;
    const first = await download(service, {
      onEvent: hearing(() => void (second ??= download(service).catch((error: unknown) => error))),
    });
    const path = join(service.project.directory, 'bundle-1.tar.gz');
    expect(await second).toMatchObject({
      code: 'ERR_OUTPUT',
      message: `${path} cannot be written: another mycli is changing it.`,
    });
    expect(first).toMatchObject({path, files: 4});
    expect(await filesIn(service)).toEqual(['build', 'bundle-1.tar.gz']);
  });

  test('whose part is removed is no fault of the server', async () => {
    const service = await startService();
    await service.push();
    const part = join(service.project.directory, 'bundle-1.tar.gz.part');
    await expect(download(service, {onEvent: hearing(() => rmSync(part, {force: true}))})).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: `${part} cannot be written: no such file or directory.`,
    });
  });

  test('does not replace a file, and asks for nothing then; with force it does', async () => {
    const service = await startService();
    await service.push();
    await writeFile(join(service.project.directory, 'mine'), 'mine');
    const before = service.runtime.requests.length;
    await expect(download(service, {output: 'mine'})).rejects.toMatchObject({code: 'ERR_OUTPUT', exitCode: 3});
    expect(service.runtime.requests).toHaveLength(before);
    expect(await readFile(join(service.project.directory, 'mine'), 'utf8')).toBe('mine');
    const {size} = await download(service, {output: 'mine', force: true});
    expect(await readFile(join(service.project.directory, 'mine'))).toHaveLength(size);
  });

  test('is verified when a manifest beside the output has its digest, and said not to be otherwise', async () => {
    const service = await startService();
    await service.push();
    expect(await download(service, {output: 'copy'})).toMatchObject({verified: false});
    const {bundle, manifest} = await buildBundle({output: 'site', message: 'main'}, service.project.host);
    const again = async () => (await download(service, {output: 'site', force: true})).verified;
    expect(await again()).toBe(true);
    const text = await readFile(manifest, 'utf8');
    await writeFile(manifest, text.replaceAll(bundle.sha256, '0'.repeat(64)));
    expect(await again()).toBe(false);
    await writeFile(manifest, 'no manifest');
    expect(await again()).toBe(false);
  });

  test.each(['right', 'wrong'])('is compared with the digest that the backend reports: the %s one', async (which) => {
    const service = await startService();
    await service.push();
    const archive = await readFile((await download(service, {output: 'whole'})).path);
    const right = createHash('sha256').update(archive).digest('hex');
    const sha256 = which === 'right' ? right : '0'.repeat(64);
    const shelf: Backend = {
      ...{apiVersion: 1, name: 'shelf', summary: 'One bundle', formats: ['v2']},
      check: async () => ({configured: true}),
      upload: () => Promise.reject(new Error('full')),
      download: async ({writeTo, onStart}) => {
        onStart?.({offset: 0, total: archive.length, sha256});
        writeTo.end(archive);
      },
    };
    const backends = createBackendRegistry([{plugin: 'mycli-plugin-shelf', backend: shelf}]);
    const downloaded = download(service, {preference: 'shelf', backends, output: 'copy'});
    if (which === 'right') {
      expect(await downloaded).toMatchObject({verified: true, sha256});
      return;
    }
    await expect(downloaded).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      message: expect.stringContaining(`its sha256 is ${right}, but the backend reports ${sha256}`) as string,
      suggestions: [expect.stringContaining('push the build again') as string],
    });
    expect(await filesIn(service)).toEqual(['build', 'whole']);
  });

  test('does not write through a link that stands where the part goes', async () => {
    const service = await startService();
    await service.push();
    const victim = join(service.project.directory, 'victim');
    await writeFile(victim, 'precious');
    await symlink(victim, join(service.project.directory, 'bundle-1.tar.gz.part'));
    const {path} = await download(service);
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(victim, 'utf8')).toBe('precious');
  });

  test.each(['.part', '.part.json'])('a folder that stands where %s goes is an error that names it', async (suffix) => {
    const service = await startService();
    await service.push();
    const folder = join(service.project.directory, `bundle-1.tar.gz${suffix}`);
    await mkdir(folder);
    await expect(download(service)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringContaining(`${folder} cannot be written`) as string,
    });
  });
});

describe('a download that breaks off', () => {
  test('leaves its part, which the next download takes up', async () => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    const failed = download(service, {rateLimit: {maxRetries: 0}});
    await expect(failed).rejects.toMatchObject({
      code: 'ERR_NETWORK',
      suggestions: expect.arrayContaining([expect.stringContaining('100 bytes in bundle-1.tar.gz.part')]) as string[],
    });
    expect(await filesIn(service)).toEqual(['build', 'bundle-1.tar.gz.part', 'bundle-1.tar.gz.part.json']);
    service.runtime.clearFaults();
    expect(await download(service)).toMatchObject({files: 4, resumedFrom: 100});
    expect(archives(service).at(-1)).toMatchObject({status: 206});
    expect(await filesIn(service)).toEqual(['build', 'bundle-1.tar.gz']);
  });

  test('says of a repeat once the bundle is gone only what is kept of it', async () => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    await expect(download(service, {rateLimit: {maxRetries: 0}})).rejects.toMatchObject({code: 'ERR_NETWORK'});
    service.runtime.clearFaults();
    service.runtime.addFault('404:route=archive');
    const error: unknown = await download(service).catch((reason: unknown) => reason);
    expect(error).toMatchObject({code: 'ERR_REJECTED', status: 404});
    expect(String(Object(error).suggestions)).not.toContain('resume');
    expect(String(Object(error).suggestions)).toContain(
      'bundle-1.tar.gz.part still has the first 100 bytes. Delete it if you no longer want the rest.',
    );
    expect(await filesIn(service)).toContain('bundle-1.tar.gz.part');
  });

  test('says nothing of a part that is not kept, where only the contents are read', async () => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    const {connection, project} = service;
    const options = {...connection, preference: 'legacy', bundleId: 1, rateLimit: {maxRetries: 0}} as const;
    const error: unknown = await inspectBundle(options, project.host).catch((reason: unknown) => reason);
    expect(error).toMatchObject({code: 'ERR_NETWORK'});
    expect(String(Object(error).suggestions)).not.toContain('.part');
  });

  test('has all its retries again after each part that came', async () => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    const {files, size} = await download(service, {rateLimit: {maxRetries: 1, baseDelayMs: 1}});
    expect(files).toBe(4);
    expect(size).toBeGreaterThan(300);
    expect(archives(service)).toHaveLength(Math.ceil(size / 100));
  });

  test.each<readonly [string, (part: string) => Promise<void>]>([
    ['others may write what is known of it', (part) => chmod(`${part}.json`, 0o666)],
    [
      'what is known of it is a link',
      async (part) => {
        await rename(`${part}.json`, `${part}.other`);
        await symlink(`${part}.other`, `${part}.json`);
      },
    ],
  ])('is begun again when %s, and nothing is written through it', async (_what, change) => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    await expect(download(service, {output: 'b', rateLimit: {maxRetries: 0}})).rejects.toMatchObject({exitCode: 6});
    service.runtime.clearFaults();
    const part = join(service.project.directory, 'b.part');
    await change(part);
    const before = await readFile(`${part}.other`, 'utf8').catch(() => undefined);
    expect(await download(service, {output: 'b'})).toMatchObject({files: 4, resumedFrom: 0});
    expect(await readFile(`${part}.other`, 'utf8').catch(() => undefined)).toBe(before);
  });

  test('is begun again when the part belongs to another bundle', async () => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    await service.push();
    await expect(download(service, {output: 'b', rateLimit: {maxRetries: 0}})).rejects.toMatchObject({exitCode: 6});
    service.runtime.clearFaults();
    expect(await download(service, {output: 'b', bundleId: 2})).toMatchObject({bundleId: 2, resumedFrom: 0});
  });
});

/** A presigned URL whose server answers `archive` says. */
async function presigned(archive: (request: RecordedRequest, times: number) => Reply) {
  let times = 0;
  const server = await startRecordingServer((request) => {
    if (request.path.startsWith('/archive')) return archive(request, times++);
    return {status: 200, body: {download_url: `${server.origin}/archive?signature=canary`}};
  });
  return server;
}

const optionsFor = (origin: string): DownloadBundleOptions => ({
  preference: 'legacy',
  origin,
  legacyAuth: new ApiKeyStrategy({apiKey: 'canary-key'}),
  projectSlug: 'shop',
  bundleId: 1,
});

describe('what a presigned URL answers', () => {
  test('that is not an archive is refused and removed; no credentials went there', async () => {
    await using server = await presigned(() => ({status: 200, body: 'not a tar at all', headers: {etag: '"1"'}}));
    await using project = await createProject();
    const failed = downloadBundle(optionsFor(server.origin), project.host);
    await expect(failed).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
    await expect(failed).rejects.not.toThrow('canary');
    expect(await readdir(project.directory)).toEqual(['build']);
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('a part that is not the beginning of the archive is refused and removed', async () => {
    const service = await startService({faults: ['truncate:route=archive,after=100']});
    await service.push();
    await expect(download(service, {rateLimit: {maxRetries: 0}})).rejects.toMatchObject({exitCode: 6});
    service.runtime.clearFaults();
    await writeFile(join(service.project.directory, 'bundle-1.tar.gz.part'), 'x'.repeat(100));
    await expect(download(service)).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
    expect(await filesIn(service)).toEqual(['build']);
  });

  test('another part of the archive than the one asked for is refused', async () => {
    const headers = {'content-range': 'bytes 5-7/9', etag: '"1"'};
    await using server = await presigned(() => ({status: 206, body: 'xyz', headers}));
    await using project = await createProject();
    await leavePart(join(project.directory, 'bundle-1.tar.gz.part'), 'abc', '"1"');
    const failed = downloadBundle(optionsFor(server.origin), project.host);
    await expect(failed).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID'});
    expect(server.requests.at(-1)?.headers).toMatchObject({range: 'bytes=3-', 'if-range': '"1"'});
    expect(await readFile(join(project.directory, 'bundle-1.tar.gz.part'), 'utf8')).toBe('abc');
  });

  test('a range that cannot be satisfied: the part is thrown away and the whole archive asked for', async () => {
    const service = await startService();
    await service.push();
    const part = join(service.project.directory, 'bundle-1.tar.gz.part');
    const {sha256} = await download(service, {output: 'whole'});
    await leavePart(part, Buffer.alloc(100_000), `"${sha256}"`);
    expect(await download(service)).toMatchObject({sha256});
    expect(
      archives(service)
        .slice(-2)
        .map(({status}) => status),
    ).toEqual([416, 200]);
  });

  test.each(['"other"', 'W/"1"'])('a part with the ETag %s is not appended to one of "1"', async (etag) => {
    const service = await startService();
    await service.push();
    const bytes = await readFile((await download(service, {output: 'whole'})).path);
    await using server = await presigned(({headers}) =>
      headers.range === undefined
        ? {status: 200, body: bytes, headers: {etag}}
        : {
            status: 206,
            body: bytes.subarray(3),
            headers: {etag, 'content-range': `bytes 3-${String(bytes.length - 1)}/*`},
          },
    );
    const part = join(service.project.directory, 'b.part');
    await leavePart(part, bytes.subarray(0, 3), '"1"');
    const result = await downloadBundle({...optionsFor(server.origin), output: 'b'}, service.project.host);
    expect(result).toMatchObject({resumedFrom: 0, size: bytes.length});
    expect(server.requests.filter(({path}) => path.startsWith('/archive'))).toHaveLength(2);
  });

  test('that the part is complete is believed if it is', async () => {
    const service = await startService();
    await service.push();
    const {sha256, size, path} = await download(service, {output: 'whole'});
    await leavePart(join(service.project.directory, 'b.part'), await readFile(path), `"${sha256}"`);
    expect(await download(service, {output: 'b'})).toMatchObject({sha256, resumedFrom: size});
    expect(archives(service).at(-1)).toMatchObject({status: 416});
  });

  test('without a strong ETag a part is not kept', async () => {
    let breakOff: () => void = () => undefined;
    await using server = await startRecordingServer((request, response) => {
      if (!request.path.startsWith('/archive')) return {status: 200, body: {download_url: `${server.origin}/archive`}};
      response.writeHead(200, {'content-length': 1000, etag: 'W/"1"'});
      response.write('some bytes');
      return new Promise<undefined>((resolve) => (breakOff = () => resolve(undefined)));
    });
    await using project = await createProject();
    const onEvent = hearing(({transferred}) => {
      if (transferred > 0) breakOff();
    });
    const options = {...optionsFor(server.origin), rateLimit: {maxRetries: 0}, onEvent};
    await expect(downloadBundle(options, project.host)).rejects.toMatchObject({code: 'ERR_NETWORK'});
    expect(await readdir(project.directory)).toEqual(['build']);
  });
});
