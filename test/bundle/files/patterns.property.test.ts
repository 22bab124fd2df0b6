import fc from 'fast-check';
import {minimatch} from 'minimatch';
import picomatch from 'picomatch';
import {expect, test} from 'vitest';
import {matchPatterns} from './match-patterns.js';

/** A piece of a pattern with a text that it matches: random paths alone would hardly ever match. */
interface Piece {
  readonly glob: string;
  readonly text: string;
}

function joined(pieces: readonly Piece[], separator = ''): Piece {
  return {
    glob: pieces.map(({glob}) => glob).join(separator),
    text: pieces.map(({text}) => text).join(separator),
  };
}

const name = fc.constantFrom('a', 'b', 'A', 'ab', '-', 'é', 'a.b', ' ');
const names = fc.uniqueArray(
  name.filter((text) => text !== ' '),
  {minLength: 1, maxLength: 3},
);
const word = name.map((text): Piece => ({glob: text, text}));
const nothing = fc.constant<Piece>({glob: '', text: ''});

const wildcard = fc.oneof(
  name.map((text): Piece => ({glob: '*', text})),
  fc.constantFrom<Piece>(
    {glob: '*', text: ''},
    {glob: '?', text: 'b'},
    {glob: '[ab]', text: 'a'},
    {glob: '[a-c]', text: 'b'},
  ),
);
const notB: Piece = {glob: '[^b]', text: 'a'};
const braces = names
  .filter(({length}) => length > 1)
  .map((list): Piece => ({glob: `{${list.join(',')}}`, text: list[0] ?? ''}));
const extglob = fc
  .tuple(fc.constantFrom('@', '+', '*', '?'), names)
  .map(([kind, list]): Piece => ({glob: `${kind}(${list.join('|')})`, text: list.at(-1) ?? ''}));
const notOneOf = names.map((list): Piece => ({glob: `!(${list.join('|')})`, text: `${list[0] ?? ''}b`}));

const parts = (...pieces: readonly fc.Arbitrary<Piece>[]): fc.Arbitrary<Piece> =>
  fc.tuple(...pieces).map((list) => joined(list));
const dot = fc.constant<Piece>({glob: '.', text: '.'});
const segment = fc.oneof(
  parts(fc.oneof(nothing, dot, wildcard), word, fc.oneof(nothing, wildcard, fc.constant(notB))),
  parts(fc.oneof(nothing, dot, word), fc.oneof(braces, extglob), word),
  fc.constantFrom<Piece>({glob: '*', text: 'ab'}, {glob: '.*', text: '.a'}, {glob: '*.b', text: 'a.b'}),
);
const globstar = fc.constantFrom<Piece>({glob: '**', text: 'a'}, {glob: '**', text: 'a/é'});

/**
 * What picomatch and minimatch agree on. Elsewhere they differ, and picomatch's rules are this project's: `./a` matches
 * `a`; `a/**` a file `a`; `[!a]` is no negation; `*.*` does not match `a.`; `?` after `)` makes the group optional;
 * other rules hold for `!(a)` before more of a name, for groups that name one thing twice or a space, and for stars
 * beside other wildcards. minimatch misses dotfiles behind a second `**`.
 */
const pattern = fc
  .tuple(
    fc.array(segment, {maxLength: 2}),
    fc.array(globstar, {maxLength: 1}),
    fc.array(segment, {maxLength: 1}),
    fc.oneof({weight: 5, arbitrary: segment}, {weight: 1, arbitrary: parts(word, notOneOf)}),
  )
  .map(([before, stars, after, last]) => joined([...before, ...stars, ...after, last], '/'));

/** What turns a path that matches into one that may not. */
const neighbours: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.toUpperCase(),
  (path) => path.replace(/^/, '.'),
  (path) => path.replaceAll('/', '/.'),
  (path) => path.replace('/', '/b/'),
  (path) => path.replace('/', ''),
  (path) => `${path}b`,
  (path) => `a/${path}`,
  (path) => path.slice(1),
];
const isPath = (path: string): boolean => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

test('matches what minimatch matches, and an odd number of marks in front excludes', () => {
  const agrees = (glob: string, path: string): boolean => minimatch(path, glob, {nonegate: true, nocomment: true});
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('', '', '!', '!!', '!!!'), pattern), {maxLength: 4}), (list) => {
      const paths = list.flatMap(([, {text}]) => neighbours.map((change) => change(text))).filter(isPath);
      const included = list.filter(([marks]) => marks.length % 2 === 0);
      const excluded = list.filter(([marks]) => marks.length % 2 === 1);
      const expected = paths.filter(
        (path) =>
          included.some(([, {glob}]) => agrees(glob, path)) && !excluded.some(([, {glob}]) => agrees(glob, path)),
      );
      const patterns = list.map(([marks, {glob}]) => marks + glob);
      expect(matchPatterns(patterns, paths)).toEqual(expected);
    }),
    {numRuns: 1500},
  );
});

/** Whatever picomatch can make of its signs, in any order. */
const anyGlob = fc
  .array(
    fc.constantFrom(
      ...[
        'a',
        'b',
        '.',
        '/',
        '*',
        '**',
        '?',
        '(',
        ')',
        '|',
        '!(',
        '+(',
        '*(',
        '@(',
        '?(',
        '{',
        ',',
        '}',
        '[',
        ']',
        '^',
        '-',
      ],
      ...['!', '\\', '+', '..', '"', '1', '[:alpha:]', '**/', '/**', '$', '\\b', '\\W', '(?=', '(?!', '(?:'],
    ),
    {minLength: 1, maxLength: 10},
  )
  .map((signs) => signs.join(''));
const anyPath = fc.string({unit: fc.constantFrom('a', 'b', '.', '/', '1', '*', '(', ' '), minLength: 1, maxLength: 8});
const hasHiddenName = (path: string): boolean => /(?:^|\/)\./.test(path);

test('matches what picomatch matches, less the dotfiles that a wildcard of it takes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyGlob,
        pattern.map(({glob}) => glob),
      ),
      fc.array(anyPath, {maxLength: 20}),
      (glob, paths) => {
        fc.pre(!glob.startsWith('!') || glob.startsWith('!('));
        fc.pre(!/\(\?<|\\[1-9k]/.test(glob));
        const expected = paths.filter((path) => picomatch(glob, {nonegate: true, windows: false})(path));
        const found = matchPatterns([glob], paths);
        const isShown = (path: string): boolean => !hasHiddenName(path);
        expect(found.filter(isShown)).toEqual(expected.filter(isShown));
        expect(expected).toEqual(expect.arrayContaining(found));
      },
    ),
    {numRuns: 1000},
  );
});
