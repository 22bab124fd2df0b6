import {expect, test} from 'vitest';
import {suggestNames, flagValue, near, shellLine} from '../../src/text/suggest.js';

const candidates = ['projectSlug', 'targetSlug', 'origin', 'wait'];

test.each([
  ['orgin', 'origin'],
  ['WAIT', 'wait'],
  ['project', 'projectSlug'],
  ['tragetSlug', 'targetSlug'],
])('%s was meant to be %s', (name, meant) => {
  expect(near(name, candidates)[0]).toBe(meant);
});

test.each(['buildDirectory', 'x', ''])('a suggestion: nothing is near %j', (name) => {
  expect(near(name, candidates)).toEqual([]);
});

test.each([
  ['prodctio', ['prodction', 'production'], ['Did you mean prodction or production?']],
  ['productio', ['prodction', 'staging', 'production'], ['Did you mean production or prodction?']],
  ['qa4', ['qa1', 'qa2', 'qa3', 'qa5'], ['Did you mean qa1, qa2, or qa3?']],
  ['demo', ['staging'], []],
  ['my-shpx', ['my-shop', 'ci-shop'], ['Did you mean my-shop?']],
  ['my-hsop', ['my-shop'], ['Did you mean my-shop?']],
  ['myshop', ['my-shop'], ['Did you mean my-shop?']],
  ['ci-shop', ['my-shop', 'eu-shop'], []],
  ['qa', ['eu', 'aq'], ['Did you mean aq?']],
  ['pr-12', ['pr-47'], []],
])('a suggestion has all names that are near, as the nearest may be an older typo: %s', (name, names, suggestions) => {
  expect(suggestNames(near(name, names))).toEqual(suggestions);
});

test.each([
  ['shop', '--project shop'],
  ['shop; touch pwned #', "--project 'shop; touch pwned #'"],
  ['$(id)', "--project '$(id)'"],
  ["it's", String.raw`--project 'it'\''s'`],
  ['--force', '--project=--force'],
  ['-x y', "'--project=-x y'"],
])('a value of a flag is one argument: %s', (value, shown) => {
  expect(shellLine('mycli', 'push', ...flagValue('--project', value))).toBe(`mycli push ${shown}`);
});

test('a path in a command of the shell is one argument', () => {
  expect(shellLine('chmod', '600', '/home/a b/$(id)')).toBe("chmod 600 '/home/a b/$(id)'");
});
