import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import fc from 'fast-check';
import type {Header} from 'tar-stream';
import {expect, test} from 'vitest';
import {isRuntimeCliError} from '../../../src/errors/index.js';
import {rawTar, type HostileEntry} from '../../local-runtime/archives.js';
import {makeFolder} from '../../folder.js';
import {inspectFile} from '../../../src/bundle/contents/bundle-contents.js';

const config = {
  name: 'bld/.runtime/config.json',
  content: JSON.stringify({ssrOnly: ['*.js'], ssrShared: ['**/a'], ssrParameters: {}}),
};
const usual: readonly Header['type'][] = ['file', 'file', 'file', 'directory', 'contiguous-file'];
const rare: readonly Header['type'][] = ['symlink', 'link', 'block-device', 'character-device', 'fifo'];
const part = fc.oneof(
  {weight: 12, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'ssr.js', 'n'.repeat(120), 'é', '.')},
  fc.constantFrom('..', '', 'a\\b', 'C:'),
);
const path = fc.array(part, {minLength: 1, maxLength: 4}).map((parts) => parts.join('/'));
const entry = fc.record({
  name: fc.oneof({weight: 15, arbitrary: path.map((name) => `bld/${name}`)}, {weight: 1, arbitrary: path}),
  type: fc.oneof({weight: 9, arbitrary: fc.constantFrom(...usual)}, fc.constantFrom(...rare)),
  linkname: path,
  content: fc.string({maxLength: 700}),
});

/** What is done to the bytes of a tar, or to those of its gzip. */
type Damage = (bytes: Buffer) => Buffer;

function written(bytes: Buffer, at: number, content: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  content.copy(copy, at);
  return copy;
}

const position = fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true});
const at = (bytes: Buffer, where: number) => Math.floor(where * bytes.length);

const cut = position.map(
  (where): Damage =>
    (bytes) =>
      bytes.subarray(0, at(bytes, where)),
);
const flip = fc.tuple(position, fc.integer({min: 1, max: 255})).map(([where, mask]): Damage => (bytes) => {
  const index = at(bytes, where);
  return written(bytes, index, Buffer.from([(bytes[index] ?? 0) ^ mask]));
});
const behind = fc.constantFrom<Damage>(
  (bytes) => Buffer.concat([bytes, bytes]),
  (bytes) => Buffer.concat([bytes, Buffer.alloc(512)]),
  (bytes) => Buffer.concat([bytes, Buffer.from('garbage')]),
);
const damages = fc.array(fc.oneof(cut, flip, behind), {maxLength: 2});
const gzipDamages = fc.array(fc.oneof(cut, flip, behind), {maxLength: 1});

interface Case {
  readonly before: readonly HostileEntry[];
  readonly after: readonly HostileEntry[];
  readonly damages: readonly Damage[];
  readonly gzipDamages: readonly Damage[] | undefined;
}

async function bytesOf(made: Case): Promise<Buffer> {
  const tar = await rawTar(...[...made.before, config, ...made.after].map((given) => sized(given)));
  const damaged = made.damages.reduce<Buffer>((bytes, damage) => damage(bytes), tar);
  return made.gzipDamages
    ? made.gzipDamages.reduce<Buffer>((bytes, damage) => damage(bytes), gzipSync(damaged))
    : damaged;
}

/** Only files have contents. */
function sized(given: HostileEntry): HostileEntry {
  return given.type === undefined || /file$/.test(given.type) ? given : {...given, content: ''};
}

const runs = Number(process.env['FUZZ_RUNS'] ?? 150);

test('any damaged archive is either read or refused with one clear error', async () => {
  const folder = await makeFolder({});
  const file = join(folder, 'archive');
  const made = fc.record<Case>({
    before: fc.array(entry, {maxLength: 3}),
    after: fc.array(entry, {maxLength: 3}),
    damages,
    gzipDamages: fc.option(gzipDamages, {nil: undefined}),
  });
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(made, async (given) => {
      const bytes = await bytesOf(given);
      await writeFile(file, bytes);
      const outcome = await inspectFile(join(folder, 'archive'), {}).catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(isRuntimeCliError(outcome) && outcome.code).toBe('ERR_ARCHIVE_INVALID');
        return;
      }
      accepted += 1;
    }),
    {numRuns: runs, seed: 20261122},
  );
  expect(accepted).toBeGreaterThan(runs / 50);
});
