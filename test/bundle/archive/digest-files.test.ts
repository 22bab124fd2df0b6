import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import {digestFiles} from '../../../src/bundle/archive/digest-files.js';
import {planBundle, type BundlePlan} from '../../../src/bundle/index.js';
import {makeFolder, planOptions} from '../project.js';

async function planOf(files: Readonly<Record<string, string | Buffer>>): Promise<BundlePlan> {
  return planBundle(planOptions(await makeFolder({'build/ssr.js': '1', ...files}), {ssrOnly: ['**'], ssrShared: []}));
}

test('each file has the digest of its content, small and large', async () => {
  const large = Buffer.alloc(2_500_000, 'large');
  const digests = await digestFiles(await planOf({'build/a.bin': large, 'build/b.js': ''}));
  const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
  expect([0, 1, 2].map((index) => digests.hex(index))).toEqual([sha256(large), sha256(''), sha256('1')]);
});

test.each([
  ['many files without content', Object.fromEntries(Array.from({length: 500}, (_, n) => [`build/${String(n)}`, '']))],
  ['a large file', {'build/large.bin': Buffer.alloc(10_000_000)}],
])('an abort ends it, also in the middle of %s', async (_what, files) => {
  const plan = await planOf(files);
  const controller = new AbortController();
  const reason = new Error('stopped');
  // The first turn that hashing gives to others.
  setImmediate(() => {
    controller.abort(reason);
  });
  await expect(digestFiles(plan, controller.signal)).rejects.toBe(reason);
  await expect(digestFiles(plan, controller.signal)).rejects.toBe(reason);
});
