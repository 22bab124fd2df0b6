import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {chmod, lstat, mkdir, mkdtemp, readFile, readdir, readlink, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {planBundle, type BundleFormat} from '../../../src/bundle/index.js';
import {makeFolder, writeTree} from '../../folder.js';
import {pack, planOptions} from '../project.js';

const KiB = 1024;
const MiB = KiB * KiB;
/** Around the records of a tar, the window of deflate, what is read whole, and the blocks of gzip. */
const sizes = [0, 1, 511, 512, 513, 1000, ...[32 * KiB, 256 * KiB, MiB].flatMap((size) => [size - 1, size, size + 1])];

/** Where v2 puts its configuration, of which this test says nothing. */
const configPath = 'the configuration';

/** Not what no archive can hold: separators, control characters, backslashes; nor what a build leaves out. */
const isName = (name: string): boolean =>
  !/^(?:\.{0,2}|\.git|\.bundleignore)$|[/\\\p{Cc}\u2028\u2029]/u.test(name) && Buffer.byteLength(name) <= 255;

const oddNames = [
  ...['-rf', '--checkpoint=1', '-', '~', '#', ' ', ' x ', '...', '..a', '.a', '@', '@LongLink', 'PaxHeader'],
  ...['*', '?', '[a]', '{a,b}', '!a', '!(a)', '**', 'C:', 'C:x', 'a:b', 'host:path', '%2e%2e', '$HOME', '`a`', '$(a)'],
  ...["'", '"', '<>|&;', 'e\u0301', '\u00e9', '\u212b', '\u00c5', '\ufeff', '\u00a0', '\u200b', '\u202e', '\ufffd'],
  ...['CON', 'nul.txt', 'a.', '__proto__', 'constructor', 'config.json', '.runtime', 'bld'],
];
const longNames = [
  ...[99, 100, 101, 154, 155, 156, 254, 255].map((length) => 'n'.repeat(length)),
  ...['ö'.repeat(127), '漢'.repeat(85), '\u{1F600}'.repeat(63)],
];
const name = fc.oneof(
  fc.constantFrom(...oddNames),
  fc.constantFrom(...longNames),
  fc.string({unit: 'binary', minLength: 1, maxLength: 12}).filter(isName),
  fc.string({unit: 'grapheme', minLength: 1, maxLength: 12}).filter(isName),
  fc.constantFrom('a', 'b'),
);
const directory = fc.oneof(
  {weight: 8, arbitrary: fc.array(name, {maxLength: 4})},
  {weight: 1, arbitrary: fc.constantFrom(...longNames, 'd').map((part) => Array<string>(10).fill(part))},
);
const path = fc.tuple(directory, name).map((parts) => parts.flat());

/** An entry at a path; `to` chooses what a link leads to. */
const entry = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({path, size: fc.constantFrom(...sizes), mode: fc.constantFrom(0o644, 0o600, 0o755, 0o744)}),
  },
  {weight: 1, arbitrary: fc.record({path, to: fc.oneof(fc.nat({max: 20}), path)})},
);
type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;

/** Of entries at one place, and where a file would be a directory too, only the first is made. */
function withoutConflicts(entries: readonly Entry[]): readonly Entry[] {
  const files = new Set<string>();
  const directories = new Set<string>();
  return entries.filter(({path: parts}) => {
    const above = parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
    const own = parts.join('/');
    if (files.has(own) || directories.has(own) || above.some((parent) => files.has(parent))) return false;
    files.add(own);
    for (const parent of above) directories.add(parent);
    return true;
  });
}

/** Makes the entries, and with them what each has to be after its way through the archive. */
async function make(folder: string, entries: readonly Entry[]): Promise<Map<string, string>> {
  const expected = new Map<string, string>();
  for (const [index, item] of entries.entries()) {
    const own = item.path.join('/');
    if ('to' in item) {
      const target = typeof item.to === 'number' ? entries[item.to % entries.length]?.path : item.to;
      // A path that goes up as far as the place of the link and no further stays inside.
      const direct = relative(dirname(own), (target ?? []).join('/')) || '.';
      // Windows takes the rest for a drive, which a build refuses.
      const text = /^[a-z]:/i.test(direct) ? `./${direct}` : direct;
      await mkdir(join(folder, dirname(own)), {recursive: true});
      await symlink(text, join(folder, own));
      expected.set(own, `-> ${text}`);
    } else {
      const content = Buffer.alloc(item.size, `${String(index)} ${own} `);
      await writeTree(folder, {[own]: content});
      await chmod(join(folder, own), item.mode);
      expected.set(own, describeFile(item.mode & 0o100 ? 0o755 : 0o644, content));
    }
  }
  return expected;
}

/** What is below a folder, directories aside. */
async function look(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const item of await readdir(folder, {recursive: true, withFileTypes: true})) {
    const file = join(item.parentPath, item.name);
    const own = relative(folder, file);
    if (item.isSymbolicLink()) found.set(own, `-> ${await readlink(file)}`);
    else if (!item.isDirectory()) found.set(own, describeFile((await lstat(file)).mode & 0o7777, await readFile(file)));
  }
  return found;
}

function describeFile(mode: number, content: Buffer): string {
  return `${mode.toString(8)} ${String(content.length)} ${createHash('sha256').update(content).digest('hex')}`;
}

test('GNU tar restores any tree exactly: names, contents, modes and links, in both formats', async () => {
  const parent = await makeFolder();
  const trees = fc.array(entry, {minLength: 1, maxLength: 10}).map(withoutConflicts);
  await fc.assert(
    fc.asyncProperty(trees, fc.constantFrom<BundleFormat>('v1', 'v2'), async (entries, format) => {
      const cwd = await mkdtemp(join(parent, 'tree-'));
      const expected = await make(join(cwd, 'build'), entries);
      // Where every file may be executed, modes say nothing.
      await writeFile(join(cwd, 'build', 'plain'), '', {mode: 0o644});
      expected.set('plain', describeFile(0o644, Buffer.alloc(0)));
      const plan = await planBundle(planOptions(cwd, {format, configPath, static: true})).catch((error: unknown) => {
        if (!String(error).includes('which loops')) throw error;
      });
      fc.pre(plan !== undefined);
      const {bytes} = await pack(plan);

      const folder = join(cwd, 'unpacked');
      await mkdir(folder);
      const options = ['-x', '-p', '-f', '-', '-C', folder, ...(format === 'v2' ? ['-z'] : [])];
      const {status, stderr} = spawnSync('tar', options, {input: bytes, encoding: 'utf8'});
      expect({status, stderr}).toEqual({status: 0, stderr: ''});
      const unpacked = await look(join(folder, format === 'v2' ? 'bld' : 'shop/bld'));
      if (format === 'v2') expect(unpacked.delete(configPath)).toBe(true);
      expect(new Map([...unpacked].sort())).toEqual(new Map([...expected].sort()));
      await rm(cwd, {recursive: true});
    }),
    {numRuns: 50},
  );
});
