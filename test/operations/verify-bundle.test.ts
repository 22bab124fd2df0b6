import {readFile, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {buildBundle} from '../../src/operations/build-bundle.js';
import {pushRuntimeBundle} from '../../src/operations/push/push-runtime-bundle.js';
import {verifyBundle} from '../../src/operations/verify-bundle.js';
import {startService} from './pushed-bundles.js';

async function uploaded(format: 'v1' | 'v2') {
  const {project, connection} = await startService();
  const output = format === 'v1' ? 'bundle.tar' : 'bundle.tar.gz';
  await buildBundle({output, format, projectSlug: 'shop'}, project.host);
  const options = {...connection, preference: 'legacy'} as const;
  const {bundleId} = await pushRuntimeBundle({...options, archive: output, v2: format === 'v2'}, project.host);
  const manifest = join(project.directory, `${output}.json`);
  return {
    project,
    manifest,
    verify: (more: {readonly manifest?: string; readonly bundleId?: string; readonly preference?: 'api'} = {}) =>
      verifyBundle({...options, bundleId, ...more}, project.host),
    edit: async (change: (text: string) => string) => writeFile(manifest, change(await readFile(manifest, 'utf8'))),
  };
}

test('an uploaded v2 bundle is what its manifest says: archive, files and configuration', async () => {
  const {verify, project, manifest} = await uploaded('v2');
  expect(await verify({bundleId: 'latest'})).toMatchObject({
    ...{backend: 'legacy', bundleId: 1, manifest, format: 'v2', files: 3, configVerified: true, warnings: []},
  });
  expect(await readdir(project.temporary)).toEqual([]);
});

test('of v1, the configuration is not in the archive, and the result says so', async () => {
  const {verify} = await uploaded('v1');
  expect(await verify()).toMatchObject({
    configVerified: false,
    warnings: ['The configuration was not verified: the archive of a v1 bundle does not contain it.'],
  });
});

test.each([
  [
    'the content of a file',
    /("path": "ssr.js",\s*"size": \d+,\s*"sha256": ")\w{8}/,
    '$100000000',
    /^Changed: ssr.js\.$/,
  ],
  ['the size of a file', /("path": "ssr.js",\s*"size": )\d+/, '$19', /^Changed: ssr.js\.$/],
  ['a file that is missing', '"path": "ssr.js"', '"path": "other.js"', /^Missing: other.js\.$/],
  ['a file that is more', '"path": "ssr.js"', '"path": "other.js"', /^Not in the manifest: ssr.js\.$/],
  [
    'the configuration',
    '"SSRFunctionNodeVersion": "',
    '"SSRFunctionNodeVersion": "1',
    /^Changed settings: ssrParameters/,
  ],
  ['the archive', /("sha256": ")\w{8}/, '$100000000', /^Its sha256 is \w{64}, not 00000000\w{56}\.$/],
  ['the digest of the tar', /("contentSha256": ")\w{8}/, '$100000000', /^Check that this is the manifest/],
])('%s that differs is named, with a code of its own', async (_what, from, to, named) => {
  const {verify, edit} = await uploaded('v2');
  await edit((text) => text.replace(from, to));
  await expect(verify()).rejects.toMatchObject({
    ...{code: 'ERR_BUNDLE_MISMATCH', exitCode: 13, name: 'MismatchError'},
    suggestions: expect.arrayContaining([expect.stringMatching(named)]) as string[],
  });
});

test('without a manifest, with two, or with a damaged one, nothing is verified', async () => {
  const {verify, project, edit} = await uploaded('v2');
  await writeFile(join(project.directory, 'bundle.tar.json'), '{}');
  await expect(verify()).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: expect.stringContaining('Both') as string,
  });
  await expect(verify({manifest: 'nowhere.json'})).rejects.toMatchObject({
    code: 'ERR_ARCHIVE_INVALID',
    message: expect.stringMatching(/^The manifest .*nowhere\.json does not exist\.$/) as string,
  });
  await edit((text) => text.replace(/"sha256": "\w{64}",\s*"category"/, '"category"'));
  await expect(verify({manifest: 'bundle.tar.gz.json'})).rejects.toMatchObject({
    code: 'ERR_ARCHIVE_INVALID',
    message: expect.stringContaining('files.0 must have a sha256') as string,
  });
});

test('what is no manifest is not taken apart, and a backend without downloads has a way out', async () => {
  const {verify, project} = await uploaded('v2');
  await expect(verify({manifest: 'bundle.tar.gz'})).rejects.toMatchObject({
    message: `${join(project.directory, 'bundle.tar.gz')} is not a manifest of mycli.`,
  });
  await expect(verify({preference: 'api'})).rejects.toMatchObject({
    code: 'ERR_CAPABILITY_UNSUPPORTED',
    suggestions: expect.arrayContaining([
      expect.stringContaining('--runtime-backend legacy') as string,
      expect.stringContaining('bundle:diff') as string,
    ]) as string[],
  });
});

test('a manifest that lists a file twice is refused', async () => {
  const {verify, edit} = await uploaded('v2');
  await edit((text) => {
    const {files, ...manifest} = JSON.parse(text) as {readonly files: readonly object[]};
    return JSON.stringify({...manifest, files: [{...files[0], sha256: '0'.repeat(64)}, ...files]});
  });
  await expect(verify()).rejects.toMatchObject({
    code: 'ERR_ARCHIVE_INVALID',
    message: expect.stringContaining('files must not list a file twice') as string,
  });
});
