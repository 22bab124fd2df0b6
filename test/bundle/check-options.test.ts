import {describe, expect, test} from 'vitest';
import {checkBundleOptions, checkSlug, optionProblemsError, type BundlePlanOptions} from '../../src/bundle/index.js';
import {planOptions} from './project.js';

/** The options that are refused. `unknown`: callers in JavaScript give anything. */
function refused(options: Readonly<Record<string, unknown>>): readonly string[] {
  return checkBundleOptions({...planOptions('/'), ...options}).map(({option}) => option);
}

test('the defaults and all options at their best are accepted', () => {
  expect(refused({})).toEqual([]);
  expect(
    refused({
      buildDirectory: '../out',
      projectDirectory: '.',
      message: 'é'.repeat(2048),
      ssrOnly: ['a', '!b'],
      ssrShared: [],
      ssrParameters: {a: [1, {b: null}], c: undefined},
      bundleMetadata: {dependencies: {react: '^19'}, ccOverrides: []},
      rootDir: 'a/b',
      configPath: 'x'.repeat(256),
      matchMode: 'ignore_missing',
      ignore: ['*.map'],
      compressionLevel: 0,
      env: {SOURCE_DATE_EPOCH: '1700000000'},
    }),
  ).toEqual([]);
});

test.each(['rootDir', 'configPath'])('%s must be a plain relative path', (option) => {
  for (const value of [
    '',
    '/bld',
    '..',
    'a/../b',
    './bld',
    'bld/',
    'a//b',
    'a\\b',
    'C:x',
    'a\nb',
    'x'.repeat(257),
    7,
  ]) {
    expect(refused({[option]: value}), String(value)).toEqual([option]);
  }
  for (const value of ['bld', 'a/b', '.hidden/x', 'a..b', '..a', 'é'.repeat(256), '😀'.repeat(256)]) {
    expect(refused({[option]: value}), value).toEqual([]);
  }
});

test.each([
  ['format', 'v3'],
  ['message', 'x'.repeat(2049)],
  ['message', 7],
  ['ssrOnly', []],
  ['ssrOnly', ['!only-an-exclusion']],
  ['ssrOnly', 'ssr.js'],
  ['matchMode', 'Strict'],
  ['matchMode', null],
  ['buildDirectory', ''],
  ['projectDirectory', 7],
  ['ignore', '*.map'],
  ['ignore', [7]],
  ['compressionLevel', 10],
  ['compressionLevel', 1.5],
  ['compressionLevel', Number.NaN],
  ['ssrParameters', 'a'],
  ['ssrParameters', {call: () => 1}],
  ['ssrParameters', {deep: [{big: 1n}]}],
  ['ssrParameters', {date: new Date(0)}],
  ['ssrParameters', {infinite: Number.POSITIVE_INFINITY}],
])('%s cannot be %o', (option, value) => {
  expect(refused({[option]: value})).toEqual([option]);
});

test('a value in a list or a record is named by its place', () => {
  expect(refused({ssrOnly: ['a', '']})).toEqual(['ssrOnly.1']);
  expect(refused({ssrShared: [7]})).toEqual(['ssrShared.0']);
  expect(refused({bundleMetadata: {dependencies: {react: 19}}})).toEqual(['bundleMetadata.dependencies.react']);
  expect(refused({bundleMetadata: {ccOverrides: 'x'}})).toEqual(['bundleMetadata.ccOverrides']);
});

test('a circle in ssrParameters is refused', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  expect(refused({ssrParameters: circle})).toEqual(['ssrParameters']);
});

test('SOURCE_DATE_EPOCH must be seconds that a tar can hold', () => {
  for (const epoch of ['yesterday', '-1', '1.5', '2147483648']) {
    expect(refused({env: {SOURCE_DATE_EPOCH: epoch}}), epoch).toEqual(['SOURCE_DATE_EPOCH']);
  }
  expect(refused({env: {SOURCE_DATE_EPOCH: '2147483647'}})).toEqual([]);
});

test('a v1 bundle needs a project, whose name the archive library leaves alone', () => {
  expect(refused({format: 'v1', projectSlug: undefined})).toEqual(['projectSlug']);
  expect(refused({format: 'v1', projectSlug: 'c:shop'})).toEqual(['projectSlug']);
  expect(refused({format: 'v2', projectSlug: undefined})).toEqual([]);
});

test('everything that is wrong is told at once, with what to do', () => {
  const problems = checkBundleOptions(
    planOptions('/', {rootDir: '..', message: 'x'.repeat(3000), ssrOnly: [], projectSlug: 'a/b'}),
  );
  const error = optionProblemsError(problems);
  expect(error.code).toBe('ERR_OPTION_INVALID');
  for (const part of [
    'projectSlug must not contain /',
    'message has 3000 characters',
    'ssrOnly must name',
    'rootDir must not contain ..',
  ]) {
    expect(error.message).toContain(part);
  }
  expect(error.suggestions).toContain('Give rootDir a relative path such as bld.');
});

test('a match mode that is nearly right is suggested', () => {
  expect(
    checkBundleOptions({...planOptions('/'), matchMode: 'ignore-missing'} as unknown as BundlePlanOptions),
  ).toMatchObject([{option: 'matchMode', suggestion: 'Did you mean ignore_missing?'}]);
});

describe('slugs', () => {
  test.each(['', '.', '..', 'a/b', 'a\\b', 'a\nb', 'a\u0000', '\u007f'])('%j is refused', (slug) => {
    expect(checkSlug('targetSlug', slug)).toMatchObject({option: 'targetSlug'});
  });
  test.each(['shop', 'my-shop_2', '...', 'a.b', 'Größe', 'a b'])('%j is accepted', (slug) => {
    expect(checkSlug('projectSlug', slug)).toBeUndefined();
  });
});
