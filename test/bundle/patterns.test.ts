import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {compilePatterns, markFiles, matchPatterns, unmatchedPatterns} from '../../src/bundle/index.js';

const paths = [
  'ssr.js',
  'SSR.js',
  '.env',
  'server/a.js',
  'server/deep/b.js',
  'server/.hidden.js',
  'static/a.map',
  'a{b}.js',
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

  test('exclusions alone match nothing', () => {
    expect(matchPatterns(['!server/**'], paths)).toEqual([]);
  });

  test('!(...) is an extglob and no exclusion, and !! is none either', () => {
    expect(matchPatterns(['!(ssr).js'], ['ssr.js', 'app.js'])).toEqual(['app.js']);
    expect(matchPatterns(['!!ssr.js'], ['ssr.js', 'app.js'])).toEqual(['ssr.js']);
    expect(matchPatterns(['*.js', '!!!ssr.js'], ['ssr.js', 'app.js'])).toEqual(['app.js']);
  });

  test('a mark that the library would take for its own negation is none', () => {
    expect(matchPatterns(['!(?:ssr).js'], ['ssr.js', 'app.js'])).toEqual([]);
  });

  test('a backslash in a path is no /, on every platform', () => {
    expect(matchPatterns(['a/*'], ['a/b', 'a\\b'])).toEqual(['a/b']);
  });

  test('agrees with a matcher written by hand, for names, *, ** and exclusions', () => {
    const segment = fc.constantFrom('a', 'b', 'ab', '.a');
    const path = fc.array(segment, {minLength: 1, maxLength: 4}).map((parts) => parts.join('/'));
    // What a `**` at the end matches beside files below it is each library's own.
    const pattern = fc
      .tuple(fc.array(fc.constantFrom('a', 'b', '*', '**'), {maxLength: 3}), fc.constantFrom('a', 'b', '*'))
      .map(([parts, last]) => [...parts, last].join('/'));
    const mark = fc.constantFrom('', '!');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(mark, pattern), {maxLength: 4}),
        fc.array(path, {maxLength: 8}),
        (list, candidates) => {
          const has = (wanted: string, candidate: string): boolean =>
            list.some(([sign, glob]) => sign === wanted && matchesByHand(glob.split('/'), candidate.split('/')));
          expect(
            matchPatterns(
              list.map(([sign, glob]) => sign + glob),
              candidates,
            ),
          ).toEqual(candidates.filter((candidate) => has('', candidate) && !has('!', candidate)));
        },
      ),
    );
  });
});

/** The rules that all glob libraries share, in the plainest way: `*` and `**` pass over what begins with a dot. */
function matchesByHand(pattern: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  const [first, ...others] = path;
  if (head === undefined) return first === undefined;
  if (head === '**') {
    if (matchesByHand(rest, path)) return true;
    return first !== undefined && !first.startsWith('.') && matchesByHand(pattern, others);
  }
  if (first === undefined) return false;
  const fits = head === '*' ? !first.startsWith('.') : head === first;
  return fits && matchesByHand(rest, others);
}

test('a pattern that matches nothing is told, an exclusion that excludes nothing is not', () => {
  expect(unmatchedPatterns(['ssr.js', 'gone/**', '!gone/**', '!(ssr|SSR).xyz'], paths)).toEqual([
    'gone/**',
    '!(ssr|SSR).xyz',
  ]);
});

test('a pattern whose matches are all excluded by another one still matches', () => {
  expect(unmatchedPatterns(['ssr.js', '!ssr.js'], paths)).toEqual([]);
});

test('compiled patterns can be asked one path at a time', () => {
  const {matches} = compilePatterns(['*.js', '!ssr.js']);
  expect(['ssr.js', 'app.js'].map((path) => matches(path))).toEqual([false, true]);
});

test('a file can be server-only and shared at once', () => {
  const file = {path: 'ssr.js', size: 1, executable: false, ssrOnly: false, ssrShared: false};
  markFiles([file], {ssrOnly: ['*.js'], ssrShared: ['ssr.*']});
  expect(file).toMatchObject({ssrOnly: true, ssrShared: true});
  markFiles([file], {ssrOnly: [], ssrShared: []});
  expect(file).toMatchObject({ssrOnly: false, ssrShared: false});
});
