import {createReadStream} from 'node:fs';
import {readdir, readFile, truncate, writeFile} from 'node:fs/promises';
import {createHash, randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Backend, BackendLimits} from '../../../src/backends/contract.js';
import {checkBackendShape} from '../../../src/backends/plugins/checked-backend.js';
import {planBundle, writeBundle} from '../../../src/bundle/index.js';
import {planOptions} from '../../bundle/project.js';
import {acme} from '../acme.js';
import {startService} from '../pushed-bundles.js';
import {createProject, smallBuild} from '../test-host.js';
import {previewPush} from '../../../src/pipelines/push.js';
import {pushRuntimeBundle} from '../calls.js';

async function storeWith(limits: BackendLimits, formats: Backend['formats'] = ['v2']) {
  const project = await createProject({...smallBuild, 'build/static/deep/a.txt': 'a', 'build/static/deep/b.txt': 'b'});
  onTestFinished(() => project[Symbol.asyncDispose]());
  await writeFile(join(project.directory, 'build/large.bin'), randomBytes(200_000));
  const uploads: number[] = [];
  const upload = ({size}: {readonly size: number}) => {
    uploads.push(size);
    return Promise.resolve({bundleId: uploads.length, raw: undefined});
  };
  const options = {...acme({formats, limits, upload}), targetSlug: undefined};
  return {
    ...{project, uploads},
    push: () => pushRuntimeBundle(options, project.host),
    preview: () => previewPush(options, project.host),
  };
}

test.each(['push', 'preview'] as const)('too many files are refused before a bundle is built (%s)', async (how) => {
  const store = await storeWith({maxFiles: 5});
  await expect(store[how]()).rejects.toMatchObject({
    code: 'ERR_BUNDLE_TOO_LARGE',
    message: 'The bundle has 6 files, but the acme backend accepts at most 5.',
    suggestions: [
      'The folders with the most files: . (2 files), static (2 files), static/deep (2 files).',
      'In .bundleignore, exclude what the application does not need.',
    ],
    details: {backend: 'acme', limit: 'maxFiles', maximum: 5, actual: 6},
  });
  expect(store.uploads).toEqual([]);
});

test.each([
  ['push', 'v2'],
  ['preview', 'v1'],
] as const)('an archive that is too large is never sent (%s, %s)', async (how, format) => {
  const store = await storeWith({maxBundleBytes: 100_000}, [format]);
  await expect(store[how]()).rejects.toMatchObject({
    code: 'ERR_BUNDLE_TOO_LARGE',
    message: expect.stringMatching(
      /^The archive is 2\d\d kB \(2\d{5} bytes\), but the acme backend accepts at most 100 kB \(100000 bytes\)\.$/,
    ) as string,
    suggestions: [
      expect.stringMatching(/^The largest files: large\.bin \(200 kB\), ssr\.js /) as string,
      expect.anything(),
    ],
  });
  expect(store.uploads).toEqual([]);
  expect(await readdir(store.project.temporary)).toEqual([]);
});

test('an archive above the 400 MB that Api takes is refused before it is sent', async () => {
  const {runtime, project, connection} = await startService();
  const path = join(project.directory, 'bundle.tar.gz');
  await writeBundle(await planBundle(planOptions(project.directory)), {path, manifest: true});
  // Sparse: the rest has no blocks on the disk.
  await truncate(path, 400_000_001);
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  const manifest = JSON.parse(await readFile(`${path}.json`, 'utf8')) as object;
  const grown = {...manifest, size: 400_000_001, sha256: digest.digest('hex')};
  await writeFile(`${path}.json`, JSON.stringify(grown));
  const pushing = pushRuntimeBundle({...connection, preference: 'api', archive: path}, project.host);
  await expect(pushing).rejects.toMatchObject({
    code: 'ERR_BUNDLE_TOO_LARGE',
    details: {backend: 'api', limit: 'maxBundleBytes', maximum: 400_000_000, actual: 400_000_001},
  });
  expect(runtime.requests.map(({route}) => route).filter((route) => route !== 'token')).toEqual([]);
});

test('a bundle within the limits is pushed, and one that only shrinks below them by packing', async () => {
  const {project, push, preview, uploads} = await storeWith({maxBundleBytes: 100_000, maxFiles: 6});
  await writeFile(join(project.directory, 'build/large.bin'), Buffer.alloc(500_000));
  await preview();
  await push();
  expect(uploads).toHaveLength(1);
  expect(uploads[0]).toBeLessThan(100_000);
});

test.each([{maxFiles: 0}, {maxFiles: 1.5}, {maxBundleBytes: '5'}, 'none'])(
  'limits %j are not of the contract',
  (limits) => {
    const backend = {apiVersion: 1, name: 'acme', summary: '', formats: ['v2'], limits};
    expect(checkBackendShape(backend)).toEqual({
      ok: false,
      problem: 'backend "acme": limits must be {maxBundleBytes, maxFiles}, positive integers',
    });
  },
);
