import fc from 'fast-check';
import {describe, expect, test, vi} from 'vitest';
import {comparePaths} from '../../../src/bundle/files/entry-names.js';
import {FileTable, withOwnFiles} from '../../../src/bundle/files/file-table.js';
import {planBundle} from '../../../src/bundle/index.js';
import type {PlannedBundleFile} from '../../../src/bundle/types.js';
import {pushRuntimeBundle} from '../../../src/operations/push/push-runtime-bundle.js';
import {startService} from '../../operations/pushed-bundles.js';
import {makeFolder, planOptions, smallBuild} from '../project.js';

const plain = {size: 0, modifiedMs: 0, executable: false, ssrOnly: false, ssrShared: false};

function tableOf(files: readonly PlannedBundleFile[]): FileTable {
  const table = new FileTable();
  for (const file of files) table.add(file);
  return table;
}

// Beyond U+FFFF, UTF-8 and UTF-16 have different orders.
const character = fc.constantFrom('a', 'b', '/', '.', 'é', '\u7fff', '\ue000', '\uffee', '😀', '\u{10ffff}');
const path = fc.string({unit: character, minLength: 1, maxLength: 12});
const file: fc.Arbitrary<PlannedBundleFile> = fc.record(
  {
    path,
    size: fc.maxSafeNat(),
    modifiedMs: fc.double({noNaN: true}),
    executable: fc.boolean(),
    ssrOnly: fc.boolean(),
    ssrShared: fc.boolean(),
    linkTarget: path,
  },
  {requiredKeys: ['path', 'size', 'modifiedMs', 'executable', 'ssrOnly', 'ssrShared']},
);

test('a table has what was put into it, in the order of the paths', () => {
  fc.assert(
    fc.property(fc.uniqueArray(file, {selector: (one) => one.path, maxLength: 40}), (files) => {
      const table = tableOf(files);
      expect([...table]).toEqual(files);
      table.sort();
      const sorted = files.toSorted((a, b) => comparePaths(a.path, b.path));
      expect([...table]).toEqual(sorted);
      expect([...table.paths]).toEqual(sorted.map((one) => one.path));
    }),
    {numRuns: 100},
  );
});

test('files are found, and taken out, by their paths', () => {
  fc.assert(
    fc.property(fc.uniqueArray(file, {selector: (one) => one.path, maxLength: 40}), path, (files, wanted) => {
      const table = tableOf(files);
      table.sort();
      const sorted = files.toSorted((a, b) => comparePaths(a.path, b.path));
      expect(table.firstFrom(wanted)).toBe(sorted.find((one) => comparePaths(one.path, wanted) >= 0)?.path);
      expect(table.has(wanted)).toBe(files.some((one) => one.path === wanted));
      table.remove(wanted);
      expect([...table]).toEqual(sorted.filter((one) => one.path !== wanted));
    }),
    {numRuns: 200},
  );
});

test('a table may have many pages, and a path that is longer than one', () => {
  const paths = Array.from({length: 3000}, (_, index) => `${'x'.repeat(500)}${String(index)}`);
  const table = tableOf([...paths, 'y'.repeat(2 ** 20 + 1), 'z'].map((one) => ({...plain, path: one, size: 2})));
  table.sort();
  expect(table.length).toBe(3002);
  expect(table.bytes).toBe(6004);
  expect([...table.paths]).toEqual([...paths.sort(comparePaths), 'y'.repeat(2 ** 20 + 1), 'z']);
});

test('a file can be marked, and taken out', () => {
  const table = tableOf(
    ['a', 'é', 'c'].map((one, index) => ({...plain, path: one, size: 1 + index, executable: true})),
  );
  table.sort();
  for (const one of table.marked()) one.ssrShared = one.path !== 'a';
  table.remove('c');
  expect([...table]).toEqual([
    {...plain, path: 'a', size: 1, executable: true},
    {...plain, path: 'é', size: 2, executable: true, ssrShared: true},
  ]);
  expect([table.length, table.bytes]).toEqual([2, 3]);
});

describe('as an array', () => {
  const files = ['a', 'b', 'c'].map((one) => ({...plain, path: one}));
  const made = () => tableOf(files).asArray();

  test('it is one', () => {
    expect(Array.isArray(made())).toBe(true);
    expect(made()).toEqual(files);
    expect(made().map((one) => one.path)).toEqual(['a', 'b', 'c']);
    expect([made()[1], made().at(-1), made()[3]]).toEqual([files[1], files[2], undefined]);
    expect(JSON.parse(JSON.stringify(made()))).toEqual(files);
    expect(Object.keys(made())).toEqual(['0', '1', '2']);
    expect([1 in made(), 3 in made()]).toEqual([true, false]);
    expect(made().concat(made())).toHaveLength(6);
    const array = made();
    expect(array[0]).toBe([...array][0]);
  });

  test('that of plugins and users of the library can be sent to a worker, too', () => {
    const plan = withOwnFiles({files: made()});
    expect(structuredClone(plan.files)).toEqual(files);
    expect({...plan}.files).toBe(plan.files);
  });
});

test('a plan holds no objects of files: whoever iterates them gets new ones', async () => {
  const {files} = await planBundle(planOptions(await makeFolder(smallBuild)));
  const [first] = files;
  const [again] = files;
  expect(first).toEqual(again);
  expect(first).not.toBe(again);
});

test('pushing to a built-in backend never has the objects made', async () => {
  const {connection, project} = await startService();
  const asArray = vi.spyOn(FileTable.prototype, 'asArray').mockImplementation(function (this: FileTable) {
    return new Proxy<PlannedBundleFile[]>([], {
      get: (_, key) => {
        if (key === 'length') return this.length;
        if (key === Symbol.iterator) return () => this[Symbol.iterator]();
        throw new Error(`Someone looked at ${String(key)}.`);
      },
    });
  });
  try {
    for (const [preference, v2] of [
      ['legacy', false],
      ['legacy', true],
      ['api', undefined],
    ] as const) {
      const pushed = await pushRuntimeBundle({...connection, preference, v2}, project.host);
      expect(pushed.archive.files).toBeGreaterThan(1);
    }
    expect(asArray).toHaveBeenCalledTimes(3);
  } finally {
    asArray.mockRestore();
  }
});
