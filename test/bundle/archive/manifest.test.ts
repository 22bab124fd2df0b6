import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readManifest} from '../../../src/bundle/archive/manifest.js';
import {bundleFingerprint, type BundleContent} from '../../../src/bundle/index.js';
import {makeFolder} from '../../folder.js';

type Fingerprinted = Parameters<typeof bundleFingerprint>[0];

const content: BundleContent = {
  format: 'v2',
  message: 'a message',
  rootDir: 'bld',
  configPath: 'c.json',
  matchMode: 'strict',
  config: {ssrOnly: ['a'], ssrShared: [], ssrParameters: {a: 1, b: 2}},
  files: [],
};
const v2: Fingerprinted = {...content, contentSha256: '0'.repeat(64)};
const v1: Fingerprinted = {...v2, format: 'v1', rootDir: undefined, configPath: undefined, matchMode: undefined};
const otherConfig = {...content.config, ssrOnly: ['b']};

test('everything that identifies a bundle changes its fingerprint', () => {
  const bundles: readonly Fingerprinted[] = [
    v2,
    {...v2, contentSha256: '1'.repeat(64)},
    {...v2, rootDir: 'other'},
    {...v2, configPath: 'other'},
    {...v2, matchMode: 'ignore_missing'},
    v1,
    {...v1, config: otherConfig},
  ];
  const fingerprints = bundles.map((bundle) => bundleFingerprint(bundle));
  expect(new Set(fingerprints).size).toBe(bundles.length);
  for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
});

test('the message, the order of keys and, for v2, anything already in the content do not', () => {
  const reordered = {...content.config, ssrParameters: {b: 2, a: 1}};
  expect(bundleFingerprint({...v2, message: 'other'})).toBe(bundleFingerprint(v2));
  expect(bundleFingerprint({...v2, config: otherConfig})).toBe(bundleFingerprint(v2));
  expect(bundleFingerprint({...v1, config: reordered})).toBe(bundleFingerprint(v1));
});

test('a manifest that is too large for memory is not read', async () => {
  const path = join(await makeFolder({}), 'large');
  const file = await open(`${path}.json`, 'w');
  await file.truncate(256 * 1024 * 1024 + 1);
  await file.close();
  await expect(readManifest(path)).rejects.toMatchObject({
    code: 'ERR_ARCHIVE_INVALID',
    message: expect.stringContaining('it has 268435457 bytes, more than 268435456') as string,
  });
});
