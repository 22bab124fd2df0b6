import {expect, test} from 'vitest';
import {followLink} from '../../../src/bundle/files/symlinks.js';

const files = new Set(['', 'ssr.js', 'sub', 'sub/deep', 'sub/a.js']);

function follow(links: Readonly<Record<string, string>>, path = 'sub/link'): string {
  const targets = new Map(Object.entries(links));
  return followLink(path, targets, (candidate) => files.has(candidate) || targets.has(candidate));
}

test.each([
  ['a.js', 'inside'],
  ['./a.js', 'inside'],
  ['../ssr.js', 'inside'],
  ['../sub/../ssr.js', 'inside'],
  ['..//sub//a.js', 'inside'],
  ['..', 'inside'],
  ['gone.js', 'nowhere'],
  ['../../ssr.js', 'outside'],
  ['../../build/ssr.js', 'outside'],
  ['/etc/passwd', 'outside'],
  ['link', 'nowhere'],
])('a link in sub to %s leads %s', (target, expected) => {
  expect(follow({'sub/link': target})).toBe(expected);
});

test('a link is followed through other links', () => {
  expect(follow({'sub/link': '../other/a.js', other: 'sub'})).toBe('inside');
  expect(follow({'sub/link': '../other', other: '../outside'})).toBe('outside');
});

test('.. after a link steps back from where the link leads, not from where it stands', () => {
  expect(follow({'sub/link': '../up/../x', up: '.'})).toBe('outside');
  expect(follow({'sub/link': '../down/../a.js', down: 'sub/deep'})).toBe('inside');
});

test('links in a circle lead nowhere', () => {
  expect(follow({'sub/link': '../one', one: 'two', two: 'one'})).toBe('nowhere');
});

test('forty links on one way are followed, one more is as good as a circle', () => {
  const chain = (length: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({length}, (_, index) => [
        `l${String(index)}`,
        index + 1 === length ? 'ssr.js' : `l${String(index + 1)}`,
      ]),
    );
  expect(follow(chain(40), 'l0')).toBe('inside');
  expect(follow(chain(41), 'l0')).toBe('nowhere');
});
