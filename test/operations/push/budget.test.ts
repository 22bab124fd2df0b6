import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parsePercent, parseSize} from '../../../src/bundle/option-schemas.js';
import {buildBundle, previewBuild} from '../../../src/operations/build-bundle.js';
import {budgetWarnings, checkBudget} from '../../../src/operations/push/budget.js';
import {previewPush, pushRuntimeBundle} from '../../../src/operations/push/push-runtime-bundle.js';
import {startService} from '../pushed-bundles.js';
import {createProject} from '../test-host.js';

const files = Array.from({length: 12}, (_, index) => ({path: `f${String(index)}.js`, size: 100 * (index + 1)}));
const nothing = {skipped: 'nothing runs'};

test.each([
  [1500, 1500],
  ['1500', undefined],
  ['1500 B', 1500],
  ['1.5 kB', 1500],
  ['1.5MB', 1_500_000],
  [' 2 GiB ', 2 * 1024 ** 3],
  ['10 kib', 10_240],
  ['-1 MB', undefined],
  [-1, undefined],
  [1.5, undefined],
  ['1 TB', undefined],
  ['1 ib', undefined],
])('the size %j is %j bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test('a percentage is a number with a percent sign', () => {
  expect([parsePercent('5%'), parsePercent(' 2.5 % '), parsePercent('5'), parsePercent(5)]).toEqual([
    5,
    2.5,
    undefined,
    undefined,
  ]);
});

describe('a budget', () => {
  test('that is exactly kept is reported, limit by limit', () => {
    const base = {bundleId: 4, files: [{path: 'f0.js', size: 7700}]};
    expect(checkBudget({total: 7800, files: {'f1*.js': 2500, '*.css': 0}, growth: '100 B'}, files, base)).toEqual({
      limits: [
        {limit: 'total', maximum: 7800, actual: 7800},
        {limit: 'files', pattern: 'f1*.js', maximum: 2500, actual: 2500},
        {limit: 'files', pattern: '*.css', maximum: 0, actual: 0},
        {limit: 'growth', maximum: 100, actual: 100, bundleId: 4},
      ],
    });
  });

  test('that is exceeded is one error, with each limit and the ten files that did it', () => {
    const base = {
      bundleId: 4,
      files: files.map(({path, size}, index) => ({path, size: index === 3 ? 0 : size - index})),
    };
    const check = () => checkBudget({total: 7799, files: {'f2.js': '0.2 kB'}, growth: '1%'}, files, base);
    expect(check).toThrow(
      'The bundle exceeds its budget: its files have 7.8 kB (7800 bytes), but the limit is 7.8 kB (7799 bytes); ' +
        'f2.js has 300 bytes, but the limit is 200 bytes; ' +
        'it grew by 463 bytes since bundle 4, but the limit is 73 bytes.',
    );
    let error: unknown;
    try {
      check();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: 'ERR_BUDGET_EXCEEDED',
      exitCode: 3,
      suggestions: [
        expect.stringMatching(/^Largest: f11.js \(1.2 kB\), f10.js .* f2.js \(300 B\)\.$/) as string,
        'Largest of f2.js: f2.js (300 B).',
        expect.stringMatching(/^Grew most: f3.js \(400 B\), f11.js \(11 B\), .* f2.js \(2 B\)\.$/) as string,
        expect.stringContaining('budget') as string,
      ],
    });
  });

  test('for growth is skipped when there is nothing to compare with', () => {
    expect(checkBudget({growth: '5%'}, files, nothing)).toEqual({
      limits: [{limit: 'growth', maximum: undefined, skipped: 'nothing runs'}],
    });
  });

  test('for an exclusion, which matches no file, is refused', () => {
    expect(() => checkBudget({files: {'!**/*.map': 1}}, [], {skipped: ''})).toThrow(
      expect.objectContaining({code: 'ERR_OPTION_INVALID', message: expect.stringContaining('!**/*.map') as string}),
    );
  });

  test('with patterns that match no file warns of each', () => {
    expect(budgetWarnings({files: {'f1.js': 900, '[': 5, 'nope/**': '1 kB'}}, files)).toEqual([
      'The budget.files pattern "[" matches no file.',
      'The budget.files pattern "nope/**" matches no file.',
    ]);
  });

  test('that is no size is refused', () => {
    expect(() => checkBudget({files: {'*': 'a lot'}}, files, nothing)).toThrow(/budget\.files\.\* must be/);
  });
});

test('a build over its budget writes nothing, and one within reports it', async () => {
  await using project = await createProject();
  const {host, directory} = project;
  const over = {output: 'a.tar.gz', budget: {files: {'static/*': 10}}};
  for (const build of [buildBundle, previewBuild])
    await expect(build(over, host)).rejects.toMatchObject({code: 'ERR_BUDGET_EXCEEDED'});
  expect(await readdir(directory)).toEqual(['build']);
  const within = {output: 'a.tar.gz', budget: {total: '1 MB', growth: 0, files: {'nope/**': 1}}};
  for (const build of [previewBuild, buildBundle])
    expect((await build(within, host)).warnings).toContain('The budget.files pattern "nope/**" matches no file.');
  const {budget} = await buildBundle({...within, budget: {total: '1 MB', growth: 0}}, host);
  expect(budget?.limits).toMatchObject([
    {limit: 'total', maximum: 1_000_000, actual: 65},
    {limit: 'growth', skipped: 'only a push compares with what a target runs'},
  ]);
});

test('a push compares with what the target runs, before it sends anything', async () => {
  const {project, connection, runtime} = await startService();
  const push = {...connection, preference: 'legacy', targetSlug: 'staging', v2: true, wait: true, pollInterval: 0.01};
  const budget = {growth: '10%'};
  const first = await pushRuntimeBundle({...push, budget: {...budget, files: {'nope/**': 1}}}, project.host);
  expect(first.warnings).toContain('The budget.files pattern "nope/**" matches no file.');
  expect(first.budget?.limits).toMatchObject([{limit: 'files'}, {skipped: 'nothing runs on staging yet'}]);
  await writeFile(join(project.directory, 'build/static/app.css'), 'h1 { color: aquamarine; }\n');
  const {budget: kept} = await previewPush({...push, budget}, project.host);
  expect(kept?.limits).toMatchObject([{limit: 'growth', maximum: 6, actual: 6, bundleId: first.bundleId}]);
  await writeFile(join(project.directory, 'build/static/more.css'), 'x'.repeat(10));
  const failure = {
    code: 'ERR_BUDGET_EXCEEDED',
    suggestions: expect.arrayContaining(['Grew most: static/more.css (10 B), static/app.css (6 B).']) as string[],
  };
  await expect(previewPush({...push, budget}, project.host)).rejects.toMatchObject(failure);
  await expect(pushRuntimeBundle({...push, budget}, project.host)).rejects.toMatchObject(failure);
  await expect(pushRuntimeBundle({...push, budget, v2: false}, project.host)).rejects.toMatchObject(failure);
  expect(runtime.requests.filter(({route}) => route === 'upload')).toHaveLength(1);
  expect(await readdir(project.temporary)).toEqual([]);
  const {budget: without} = await previewPush({...push, targetSlug: undefined, wait: false, budget}, project.host);
  expect(without?.limits).toMatchObject([{skipped: 'there is no target'}]);
  await expect(previewPush({...push, preference: 'api', budget}, project.host)).rejects.toMatchObject({
    code: 'ERR_CAPABILITY_UNSUPPORTED',
  });
});
