import {mkdir, mkdtemp, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {planBundle, type BundleFormat} from '../../../src/bundle/index.js';
import {readArchive} from '../../../src/bundle/prebuilt/read-archive.js';
import {isRuntimeCliError} from '../../../src/errors/index.js';
import {makeFolder, writeTree} from '../../folder.js';
import {pack, planOptions} from '../project.js';

const part = fc.constantFrom('a', 'b', 'c', '..', '.', '', 'C:', 'x\\y', 'static', 'ssr.js');
const target = fc.array(part, {minLength: 1, maxLength: 5}).map((parts) => parts.join('/') || '.');
const place = fc.array(fc.constantFrom('a', 'b', 'c'), {minLength: 1, maxLength: 3}).map((parts) => parts.join('/'));

test('links: whatever a build accepts, every reader of its archive accepts', async () => {
  const parent = await makeFolder();
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(place, target), {minLength: 1, maxLength: 8, selector: ([path]) => path}),
      fc.constantFrom<BundleFormat>('v1', 'v2'),
      async (links, format) => {
        const cwd = await mkdtemp(join(parent, 'tree-'));
        await writeTree(cwd, {'build/ssr.js': '', 'build/static/a': ''});
        for (const [path, to] of links) {
          if (links.some(([other]) => path.startsWith(`${other}/`) || other.startsWith(`${path}/`))) continue;
          const file = join(cwd, 'build', path);
          await mkdir(dirname(file), {recursive: true});
          await symlink(to.startsWith('/') ? join(cwd, 'build', to) : to, file);
        }
        const plan = await planBundle(planOptions(cwd, {format})).catch((error: unknown) => {
          if (!isRuntimeCliError(error) || error.code !== 'ERR_FILE_UNSUPPORTED') throw error;
        });
        if (plan === undefined) return;
        accepted += 1;
        const archive = join(cwd, 'archive');
        await writeFile(archive, (await pack(plan)).bytes);
        for (const root of [format === 'v1' ? 'shop/bld' : 'bld', '']) {
          const {entries} = await readArchive(archive, {root, strict: true});
          expect(entries.filter(({linkTarget}) => linkTarget !== undefined)).toHaveLength(
            plan.files.filter(({linkTarget}) => linkTarget !== undefined).length,
          );
        }
      },
    ),
    {numRuns: 150},
  );
  expect(accepted).toBeGreaterThan(10);
});
