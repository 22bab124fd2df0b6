import {describe, expect, test} from 'vitest';
import {checkBundleOptions} from '../../../src/bundle/index.js';
import {rejectProblems, slugProblems} from '../../../src/settings/definitions.js';
import {planOptions} from '../project.js';

/** What is wrong with options, as sentences. `unknown`: callers in JavaScript give anything. */
function refused(options: Readonly<Record<string, unknown>>): readonly string[] {
  return checkBundleOptions({...planOptions('/'), ...options}).map(({option, message}) => `${option} ${message}`);
}

describe('the options for a bundle', () => {
  test.each([
    {},
    {
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
      env: {SOURCE_DATE_EPOCH: '2147483647'},
    },
    {format: 'v1', projectSlug: 'a-b:c'},
    {format: 'v2', projectSlug: 'drive:x'},
    {compressionLevel: 9, ignore: [], env: {SOURCE_DATE_EPOCH: ''}},
  ])('accept %j', (options) => {
    expect(refused(options)).toEqual([]);
  });

  test.each([
    [{format: 'v3'}, 'format must be v1 or v2, not "v3"'],
    [
      {format: 'v1', projectSlug: undefined},
      'projectSlug is required for a v1 bundle, whose entries are named after it',
    ],
    [{projectSlug: ''}, 'projectSlug must not be empty'],
    [{buildDirectory: 7}, 'buildDirectory must be a string'],
    [{buildDirectory: ''}, 'buildDirectory must be the path of a directory'],
    [{projectDirectory: 'a\0b'}, 'projectDirectory must be the path of a directory'],
    [{message: 'x'.repeat(2049)}, 'message must have at most 2048 characters, not 2049'],
    [{matchMode: 'strikt'}, 'matchMode must be strict or ignore_missing'],
    [{matchMode: null}, 'matchMode must be strict or ignore_missing'],
    [{ignore: '*.map'}, 'ignore must be an array of strings'],
    [{ignore: ['a', 7]}, 'ignore.1 must be a string'],
    [{allowSensitiveFiles: 'yes'}, 'allowSensitiveFiles must be true or false'],
    [{compressionLevel: 10}, 'compressionLevel must be an integer from 0 to 9'],
    [{compressionLevel: 1.5}, 'compressionLevel must be an integer from 0 to 9'],
    [{compressionLevel: Number.NaN}, 'compressionLevel must be an integer from 0 to 9'],
    [{ssrOnly: []}, 'ssrOnly must have at least one pattern'],
    [{ssrOnly: ['!only-an-exclusion']}, 'ssrOnly must have at least one pattern'],
    [{ssrOnly: 'ssr.js'}, 'ssrOnly must be an array of glob patterns'],
    [{ssrShared: [7]}, 'ssrShared.0 must be a string'],
    [{bundleMetadata: {dependencies: {react: 19}}}, 'bundleMetadata.dependencies.react must be a version range'],
    [{bundleMetadata: {ccOverrides: 'x'}}, 'bundleMetadata.ccOverrides must be an array of IDs'],
    [{ssrParameters: 'a'}, 'ssrParameters must be an object'],
    [
      {ssrParameters: {fine: 1, a: ['fine', {b: Number.NaN}]}},
      'ssrParameters contains a value that JSON cannot represent, at a[1].b',
    ],
    ...['1s', '1e3', '-1', '2147483648'].map((epoch): [options: {env: object}, message: string] => [
      {env: {SOURCE_DATE_EPOCH: epoch}},
      `SOURCE_DATE_EPOCH must be seconds since 1970, at most 2147483647 (2038-01-19), not "${epoch}"`,
    ]),
  ])('refuse %j: %s', (options, message) => {
    expect(refused(options)).toEqual([message]);
  });

  test('refuse a project that the archive library would take for a drive', () => {
    expect(refused({format: 'v1', projectSlug: 'cd:shop'})).toEqual([
      'projectSlug must not start with a drive such as "c:" in a v1 bundle: "cd:shop"',
    ]);
  });

  test.each([
    ['', 'must not be empty'],
    ['x'.repeat(257), 'must have at most 256 characters'],
    ['/bld', 'must be relative, not "/bld"'],
    ['drive:x', 'must be relative, not "drive:x"'],
    ['a\\b', 'has a backslash in its name, which archive tools read as a slash'],
    ['a\nb', 'has a control character or line break in its name'],
    ['a/..', 'must not contain "..": "a/.."'],
    ['./bld', 'must not contain "." or empty segments: "./bld"'],
    ['a//b', 'must not contain "." or empty segments: "a//b"'],
    ['a/mycli.config.ts', 'must not be a file for --config: "a/mycli.config.ts"'],
    [7, 'must be a string'],
  ])('refuse a path in the archive such as %j', (path, message) => {
    expect(checkBundleOptions({...planOptions('/'), ...Object({rootDir: path, configPath: path})})).toEqual([
      {option: 'rootDir', message},
      {option: 'configPath', message},
    ]);
  });

  test.each(['bld', 'a/b', '.hidden/x', 'a..b', '..a', 'a-b:c', '😀'.repeat(256)])(
    'accept %s as a path in the archive',
    (path) => {
      expect(refused({rootDir: path, configPath: path})).toEqual([]);
    },
  );

  test('refuse SSR parameters nested more than 200 levels deep, and those with a circle', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : {value: nested(levels - 1)});
    expect(refused({ssrParameters: nested(200)})).toEqual([]);
    expect(refused({ssrParameters: nested(2000)})).toEqual(['ssrParameters is nested more than 200 levels deep']);
    const circle: Record<string, unknown> = {};
    circle['self'] = [circle];
    expect(refused({ssrParameters: circle})).toHaveLength(1);
    const twice = {a: [true, null]};
    expect(refused({ssrParameters: {one: twice, other: [twice, twice]}})).toEqual([]);
  });

  test('accept plain objects without a prototype, and none of a class', () => {
    expect(refused({ssrParameters: {plain: Object.assign(Object.create(null), {a: 1})}})).toEqual([]);
    for (const value of [new Map(), new Date(0), [undefined], [Symbol('s')], [1n], () => 1, Object.create({a: 1})]) {
      expect(refused({ssrParameters: {value}})).toHaveLength(1);
    }
  });

  test('are all told at once', () => {
    const problems = checkBundleOptions(
      planOptions('/', {rootDir: '..', message: 'x'.repeat(3000), ssrOnly: [], projectSlug: 'a/b'}),
    );
    expect(() => rejectProblems(problems)).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringMatching(
          /^projectSlug must .*; message must .*; rootDir must .*; ssrOnly must /,
        ) as string,
        details: {problems},
      }),
    );
  });
});

test.each([
  [['ssrOnly.1', 'ssrShared'], 'ERR_PATTERN_INVALID'],
  [['ssrOnly', 'message'], 'ERR_OPTION_INVALID'],
  [['ssrOnlyIf'], 'ERR_OPTION_INVALID'],
])('problems with %j are %s', (options, code) => {
  expect(() => rejectProblems(options.map((option) => ({option, message: 'is wrong'})))).toThrow(
    expect.objectContaining({code}),
  );
});

describe('a slug', () => {
  test.each([
    ['', 'must not be empty'],
    ['.', 'must not be "."'],
    ['..', 'must not be ".."'],
    ['a/b', 'must not contain / or \\: "a/b"'],
    ['a\\b', 'must not contain / or \\: "a\\b"'],
    ['a\nb', 'must not contain control characters'],
    ['\u007F', 'must not contain control characters'],
    [7 as unknown as string, 'must be a string'],
  ])('%j %s', (slug, message) => {
    expect(slugProblems('targetSlug', slug)).toEqual([{option: 'targetSlug', message}]);
  });

  test.each(['shop', 'my-shop_2', '...', 'a.b', 'Größe', 'a b'])('can be %j', (slug) => {
    expect(slugProblems('projectSlug', slug)).toEqual([]);
  });
});
