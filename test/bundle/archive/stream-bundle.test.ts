import {createHash} from 'node:crypto';
import {mkdir, mkdtemp, readdir, readlink, symlink} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {planBundle, streamBundle, type BundlePlan} from '../../../src/bundle/index.js';
import {makeFolder, writeTree} from '../../folder.js';
import {pack, planOptions, smallBuild} from '../project.js';

async function planV1(cwd: string): Promise<BundlePlan> {
  return planBundle(planOptions(cwd, {format: 'v1', ssrOnly: ['**/*'], ssrShared: []}));
}

async function buffer(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}

test('yields the same archive as on disk on each read, and its length is known up front', async () => {
  const cwd = await makeFolder({...smallBuild, 'build/large.bin': Buffer.alloc(1_300_001, 'large')});
  await symlink('../ssr.js', join(cwd, 'build/server/link'));
  const plan = await planV1(cwd);
  const {bundle, packed: digest} = await streamBundle(plan);
  const {bytes: archive} = await pack(plan);
  const {format, message, projectSlug, config, files} = plan;
  expect(bundle).toMatchObject({format, message, projectSlug, config, files, size: archive.length});
  for (let read = 0; read < 2; read++) expect((await buffer(bundle.read())).equals(archive)).toBe(true);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  expect(digest()).toEqual({size: archive.length, sha256, contentSha256: sha256});
});

test('a reader that stops early leaves no file open, and there is no digest', async () => {
  const plan = await planV1(await makeFolder({...smallBuild, 'build/large.bin': Buffer.alloc(5_000_000, 'large')}));
  const {bundle, packed} = await streamBundle(plan);
  for await (const chunk of bundle.read()) {
    expect(chunk.length).toBeLessThan(5_000_000);
    break;
  }
  const descriptors = await readdir('/proc/self/fd');
  const open = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(open.filter((path) => path.startsWith(plan.buildDirectory))).toEqual([]);
  expect(packed).toThrow('not been read to its end');
});

test('the length of a streamed bundle is correct for all kinds and lengths of names', async () => {
  const parent = await makeFolder();
  const segment = fc.oneof(
    fc.stringMatching(/^[a-z0-9_.-]{1,60}$/),
    fc.stringMatching(/^[a-zéß漢\u{1F600}]{1,40}$/u),
    fc.constantFrom(99, 100, 101, 155, 156).map((length) => 'n'.repeat(length)),
  );
  const usable = segment.filter((name) => !['.', '..', '.git'].includes(name));
  const path = fc.array(usable, {minLength: 1, maxLength: 5}).map((parts) => parts.join('/'));
  const file = fc.record({name: path, size: fc.constantFrom(0, 1, 511, 512, 513)});
  // Nothing is there, so that no link leads in a circle.
  const link = fc.record({name: path, target: path.map((target) => `GONE/${target}`)});
  await fc.assert(
    fc.asyncProperty(fc.array(file, {maxLength: 4}), fc.array(link, {maxLength: 2}), async (files, links) => {
      const cwd = await mkdtemp(join(parent, 'tree-'));
      await writeTree(cwd, smallBuild);
      for (const [index, {name, size}] of files.entries())
        await writeTree(cwd, {[`build/f${String(index)}/${name}`]: Buffer.alloc(size)});
      for (const [index, {name, target}] of links.entries()) {
        const place = join(cwd, `build/l${String(index)}`, name);
        await mkdir(dirname(place), {recursive: true});
        await symlink(target, place);
      }
      const plan = await planV1(cwd);
      const {bundle} = await streamBundle(plan);
      expect(bundle.size).toBe((await pack(plan)).bytes.length);
      expect(bundle.files).toHaveLength(Object.keys(smallBuild).length + files.length + links.length);
    }),
    {numRuns: 50},
  );
});
