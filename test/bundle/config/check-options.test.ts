import {describe, expect, test} from 'vitest';
import {checkBundleOptions} from '../../../src/bundle/index.js';
import {checkSlug, optionProblemsError} from '../../../src/settings/option-problems.js';
import {planOptions} from '../project.js';

/** The options that are refused. `unknown`: callers in JavaScript give anything. */
function refused(options: Readonly<Record<string, unknown>>): readonly string[] {
  return checkBundleOptions({...planOptions('/'), ...options}).map(({option}) => option);
}

/** The one thing that is wrong, as a sentence and what to do. */
function problem(options: Readonly<Record<string, unknown>>): readonly [string, string | undefined] {
  const problems = checkBundleOptions({...planOptions('/'), ...options});
  expect(problems).toHaveLength(1);
  return [`${problems[0]?.option ?? ''} ${problems[0]?.message ?? ''}`, problems[0]?.suggestion];
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
  for (const value of ['bld', 'a/b', '.hidden/x', 'a..b', '..a', 'a-b:c', 'é'.repeat(256), '😀'.repeat(256)]) {
    expect(refused({[option]: value}), value).toEqual([]);
  }
});

test.each([
  ['', 'must not be empty'],
  ['x'.repeat(257), 'must have at most 256 characters'],
  ['/bld', 'must be relative, unlike "/bld"'],
  ['drive:x', 'must be relative, unlike "drive:x"'],
  ['a\\b', 'has a backslash'],
  ['a/..', 'must not contain "..", unlike "a/.."'],
  ['a/./b', 'must not contain "." or empty segments, unlike "a/./b"'],
  ['a//b', 'must not contain "." or empty segments, unlike "a//b"'],
  [7, 'must be a string'],
])('a path in the archive cannot be %j, and an example is given', (value, message) => {
  const [rootDir, way] = problem({rootDir: value});
  expect(rootDir).toContain(`rootDir ${message}`);
  expect(way).toBe('Set rootDir to a relative path such as bld.');
  expect(problem({configPath: value})[1]).toBe('Set configPath to a relative path such as .runtime/config.json.');
});

test.each([
  [{format: 'v3'}, 'format must be v1 or v2, not "v3"', undefined],
  [{format: 'v1', projectSlug: undefined}, 'projectSlug is required for a v1 bundle', /--project/],
  [{projectSlug: ''}, 'projectSlug must not be empty', undefined],
  [{format: 'v1', projectSlug: 'drive:x'}, 'projectSlug must not start with a drive', undefined],
  [{buildDirectory: 7}, 'buildDirectory must be a string', undefined],
  [{buildDirectory: 'a\0b'}, 'buildDirectory must be the path of a directory', undefined],
  [{projectDirectory: ''}, 'projectDirectory must be the path of a directory', undefined],
  [{message: 'x'.repeat(2049)}, 'message must have at most 2048 characters, not 2049', /Shorten/],
  [{matchMode: 'strikt'}, 'matchMode must be strict or ignore_missing', undefined],
  [{ignore: ['a', 7]}, 'ignore.1 must be a string', undefined],
  [{allowSensitiveFiles: 'yes'}, 'allowSensitiveFiles must be true or false', undefined],
  [{compressionLevel: -1}, 'compressionLevel must be an integer from 0 to 9', undefined],
  [{compressionLevel: '6'}, 'compressionLevel must be an integer from 0 to 9', undefined],
  [{env: {SOURCE_DATE_EPOCH: '1s'}}, 'SOURCE_DATE_EPOCH must be a number of seconds since 1970, not "1s"', /unset/],
  [{env: {SOURCE_DATE_EPOCH: 's1'}}, 'SOURCE_DATE_EPOCH must be a number of seconds since 1970, not "s1"', /Correct/],
  [
    {ssrParameters: {fine: 1, a: ['fine', {b: Number.NaN}]}},
    'ssrParameters contains a value that JSON cannot represent, at a[1].b',
    undefined,
  ],
] as const)('%j is told as what it is', (options, message, way) => {
  const [sentence, suggestion] = problem(options);
  expect(sentence).toContain(message);
  if (way === undefined) expect(suggestion).toBeUndefined();
  else expect(suggestion).toMatch(way);
});

test.each([
  {format: 'v1', projectSlug: 'a-b:c'},
  {format: 'v2', projectSlug: 'drive:x'},
  {compressionLevel: 9},
  {env: {SOURCE_DATE_EPOCH: ''}},
  {ignore: []},
])('%j is nothing to refuse', (options) => {
  expect(refused(options)).toEqual([]);
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

test('ssrParameters may be nested 200 levels deep, and no deeper', () => {
  const nested = (levels: number): Record<string, unknown> => {
    let value: Record<string, unknown> = {};
    for (let level = 1; level < levels; level += 1) value = {value};
    return value;
  };
  expect(refused({ssrParameters: nested(200)})).toEqual([]);
  const [problem] = checkBundleOptions({...planOptions('/'), ssrParameters: nested(20_000)});
  expect(problem?.message).toBe('is nested more than 200 levels deep');
});

test('a value in a list or a record is named by its place', () => {
  expect(refused({ssrOnly: ['a', '']})).toEqual(['ssrOnly.1']);
  expect(refused({ssrShared: [7]})).toEqual(['ssrShared.0']);
  expect(refused({ssrShared: ['!', 'a', '!!']})).toEqual(['ssrShared.0', 'ssrShared.2']);
  expect(refused({bundleMetadata: {dependencies: {react: 19}}})).toEqual(['bundleMetadata.dependencies.react']);
  expect(refused({bundleMetadata: {ccOverrides: 'x'}})).toEqual(['bundleMetadata.ccOverrides']);
});

test('a circle in ssrParameters is refused, the same value in two places is not', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = [circle];
  expect(refused({ssrParameters: circle})).toEqual(['ssrParameters']);
  const twice = {a: [true, null]};
  expect(refused({ssrParameters: {one: twice, other: [twice, twice]}})).toEqual([]);
});

test('ssrParameters take plain objects without a prototype, and none of a class', () => {
  const plain: unknown = Object.assign(Object.create(null), {a: 1});
  expect(refused({ssrParameters: {plain}})).toEqual([]);
  for (const value of [new Map(), [undefined], [Symbol('s')], Object.create({a: 1})]) {
    expect(refused({ssrParameters: {value}})).toEqual(['ssrParameters']);
  }
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

test('patterns alone that are wrong have a code of their own', () => {
  const codeOf = (...names: readonly string[]): string =>
    optionProblemsError(names.map((option) => ({option, message: 'is wrong'}))).code;
  expect(codeOf('ssrOnly.1', 'ssrShared')).toBe('ERR_PATTERN_INVALID');
  expect(codeOf('ssrOnly', 'message')).toBe('ERR_OPTION_INVALID');
  expect(codeOf('ssrParameters')).toBe('ERR_OPTION_INVALID');
  expect(codeOf('ssrOnlyIf')).toBe('ERR_OPTION_INVALID');
  expect(codeOf('not-ssrOnly')).toBe('ERR_OPTION_INVALID');
});

test('everything that is wrong is told at once, with what to do', () => {
  const problems = checkBundleOptions(
    planOptions('/', {rootDir: '..', message: 'x'.repeat(3000), ssrOnly: [], projectSlug: 'a/b'}),
  );
  const error = optionProblemsError(problems);
  expect(error.code).toBe('ERR_OPTION_INVALID');
  for (const part of [
    'projectSlug must not contain /',
    '; message must have at most 2048 characters, not 3000',
    '; ssrOnly must have',
    '; rootDir must not contain ".."',
  ]) {
    expect(error.message).toContain(part);
  }
  expect(error.suggestions).toEqual(['Shorten the message.', 'Set rootDir to a relative path such as bld.']);
  expect(error.details).toEqual({problems});
});

describe('slugs', () => {
  test.each(['', '.', '..', 'a/b', 'a\\b', 'a\nb', 'a\u0000', '\u007f'])('%j is refused', (slug) => {
    expect(checkSlug('targetSlug', slug)).toMatchObject({option: 'targetSlug'});
  });
  test.each([
    ['', 'must not be empty'],
    ['.', 'must not be "."'],
    ['..', 'must not be ".."'],
    ['a/b', 'must not contain / or \\, unlike "a/b"'],
    ['a\nb', 'must not contain control characters'],
  ])('%j is told as what it is', (slug, message) => {
    expect(checkSlug('targetSlug', slug)?.message).toBe(message);
  });
  test('anything but text is refused', () => {
    expect(checkSlug('projectSlug', 7 as unknown as string)?.message).toBe('must be a string');
  });
  test.each(['shop', 'my-shop_2', '...', 'a.b', 'Größe', 'a b'])('%j is accepted', (slug) => {
    expect(checkSlug('projectSlug', slug)).toBeUndefined();
  });
});
