import {expect, test} from 'vitest';
import {characterCount, comparePaths, entryNameProblem, showPath} from '../../../src/text/entry-names.js';

test('paths are ordered by their characters, and one is neither before nor after itself', () => {
  expect(['b', 'a/b', 'a.b', 'a', 'B', 'ä'].sort(comparePaths)).toEqual(['B', 'a', 'a.b', 'a/b', 'b', 'ä']);
  expect(comparePaths('a', 'a')).toBe(0);
});

test('a character outside the basic plane counts once', () => {
  expect(characterCount('a😀ß')).toBe(3);
});

test.each(['a\nb', 'a\u0000b', '\u007f', '\u0085', 'a\u2028', 'a\u2029'])(
  '%j has what does not show: it cannot name an entry, and is printed quoted',
  (path) => {
    expect(entryNameProblem(path)).toContain('control character');
    expect(showPath(path)).toBe(JSON.stringify(path));
  },
);

test('a plain name is accepted, and printed unchanged', () => {
  expect(entryNameProblem('a b/ü"😀')).toBeUndefined();
  expect(showPath('a b/ü"😀')).toBe('a b/ü"😀');
});
