import {beforeEach, describe, expect, test} from 'vitest';
import {countMatches, markFiles} from '../../../src/bundle/index.js';
import {matchPatterns} from './match-patterns.js';
import {shortenTimeLimit} from './shorten-time-limit.js';
import {backslashWarnings, noMarks, patternProblem} from '../../../src/bundle/files/patterns.js';

const paths = [
  'ssr.js',
  'SSR.js',
  '.env',
  'server/a.js',
  'server/deep/b.js',
  'server/.hidden.js',
  'static/a.map',
  'a{b}.js',
  '(id).js',
];

describe('matching', () => {
  test.each([
    [['ssr.js'], ['ssr.js']],
    [['server/**/*'], ['server/a.js', 'server/deep/b.js']],
    [['server/*'], ['server/a.js']],
    [['server/.*'], ['server/.hidden.js']],
    [
      ['{ssr,other}.js', 'static/*.map'],
      ['ssr.js', 'static/a.map'],
    ],
    [['./ssr.js'], ['ssr.js']],
    [['a\\{b\\}.js'], ['a{b}.js']],
    [['(id).js'], ['(id).js']],
    [['/ssr.js'], []],
    [[], []],
  ])('%j matches %j', (patterns, expected) => {
    expect(matchPatterns(patterns, paths)).toEqual(expected);
  });

  test('an exclusion excludes wherever it stands', () => {
    for (const patterns of [
      ['!server/deep/**', 'server/**/*'],
      ['server/**/*', '!server/deep/**'],
    ]) {
      expect(matchPatterns(patterns, paths)).toEqual(['server/a.js']);
    }
  });

  test('neither the extglob !(...) nor !! is an exclusion', () => {
    expect(matchPatterns(['!(ssr).js'], ['ssr.js', 'app.js'])).toEqual(['app.js']);
    expect(matchPatterns(['!!ssr.js'], ['ssr.js', 'app.js'])).toEqual(['ssr.js']);
    expect(matchPatterns(['*.js', '!!!ssr.js'], ['ssr.js', 'app.js'])).toEqual(['app.js']);
  });

  test('a backslash in a path is no /, on every platform', () => {
    expect(matchPatterns(['a/*'], ['a/b', 'a\\b'])).toEqual(['a/b']);
  });
});

describe('the patterns that match no file', () => {
  const unmatchedOf = async (ssrOnly: readonly string[]): Promise<readonly string[]> => {
    const files = paths.map((path) => ({path, ...noMarks}));
    return (await markFiles(files, {ssrOnly, ssrShared: ['none']})).ssrOnly;
  };

  test('are told, but not exclusions that exclude nothing', async () => {
    expect(await unmatchedOf(['ssr.js', 'gone/**', '!gone/**', '!(ssr|SSR).xyz'])).toEqual([
      'gone/**',
      '!(ssr|SSR).xyz',
    ]);
  });

  test('do not include those that only match what others exclude, or match too', async () => {
    expect(await unmatchedOf(['ssr.js', '!ssr.js'])).toEqual([]);
    expect(await unmatchedOf(['*.js', 'ssr.js', 'ssr.js'])).toEqual([]);
  });
});

test('a file can be server-only and shared at once', async () => {
  const file = {path: 'ssr.js', size: 1, executable: false, ssrOnly: false, ssrShared: false};
  await markFiles([file], {ssrOnly: ['*.js'], ssrShared: ['ssr.*']});
  expect(file).toMatchObject({ssrOnly: true, ssrShared: true});
  await markFiles([file], {ssrOnly: [], ssrShared: []});
  expect(file).toMatchObject({ssrOnly: false, ssrShared: false});
});

describe('dotfiles', () => {
  const hidden = ['.env.local', 'a/.env', '.git/config', 'app.js', 'a/app.js'];

  test.each([
    ['**/!(*.map)', ['app.js', 'a/app.js']],
    ['a/!(x|y)', ['a/app.js']],
    ['{x,*}', ['app.js']],
    ['@(*|x)', ['app.js']],
    ['**/*', ['app.js', 'a/app.js']],
  ])('%s does not match them', (pattern, expected) => {
    expect(matchPatterns([pattern], hidden)).toEqual(expected);
  });

  test.each([
    ['.*', ['.env.local']],
    ['**/.env*', ['.env.local', 'a/.env']],
    ['**/.!(git)', ['.env.local', 'a/.env']],
    ['{.git,x}/*', ['.git/config']],
  ])('%s names the dot', (pattern, expected) => {
    expect(matchPatterns([pattern], hidden)).toEqual(expected);
  });
});

describe('foreign patterns', () => {
  // A backtracking matcher would be busy with it for longer than anyone lives.
  const endless = `${'*a'.repeat(20)}b`;
  beforeEach(shortenTimeLimit);

  test('that match for ever end after a time limit', async () => {
    const files = [{path: 'a'.repeat(200), ...noMarks}];
    const tooLong = {code: 'ERR_PATTERN_INVALID', message: expect.stringContaining('too long') as unknown};
    await expect(markFiles(files, {ssrOnly: [endless], ssrShared: []})).rejects.toMatchObject(tooLong);
  });

  test('are counted under the same limit', async () => {
    const lists = {ssrOnly: [], ssrShared: [endless]};
    await expect(countMatches(lists, ['a'.repeat(200)])).rejects.toMatchObject({code: 'ERR_PATTERN_INVALID'});
  });

  test.each([
    ['a'.repeat(1025), 'must have at most 1024 characters'],
    ['', 'is not a glob pattern'],
    ['a{b', undefined],
    [`${'a'.repeat(1020)}*`, undefined],
  ])('what is wrong with %s: %s', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem);
  });
});

describe.skipIf(process.platform === 'win32')('a backslash before a name', () => {
  test.each([
    [String.raw`server\**`, 'server/**'],
    [String.raw`server\lib\*.js`, 'server/lib/*.js'],
    [String.raw`!build\.next`, '!build/.next'],
  ])('is told in %s', (pattern, right) => {
    expect(backslashWarnings('pattern', [pattern])).toEqual([
      `The pattern ${JSON.stringify(pattern)} has a backslash before a name. ` +
        `Paths have / on every system: write ${JSON.stringify(right)}.`,
    ]);
  });

  test.each([String.raw`pages/\[id\].js`, String.raw`a\{b\}`, String.raw`\!important`, String.raw`\#notes`, 'a/b'])(
    'is not one in %s',
    (pattern) => {
      expect(backslashWarnings('pattern', [pattern])).toEqual([]);
    },
  );
});
