import {expect, test} from 'vitest';
import {commandLine, flagValue, nearest, shellLine} from '../../src/text/suggest.js';

const candidates = ['projectSlug', 'targetSlug', 'origin', 'wait'];

test.each([
  ['orgin', 'origin'],
  ['WAIT', 'wait'],
  ['project', 'projectSlug'],
  ['tragetSlug', 'targetSlug'],
])('%s was meant to be %s', (name, meant) => {
  expect(nearest(name, candidates)).toBe(meant);
});

test.each(['buildDirectory', 'x', ''])('a suggestion: nothing is near %j', (name) => {
  expect(nearest(name, candidates)).toBeUndefined();
});

test.each([
  ['shop', '--project shop'],
  ['shop; touch pwned #', "--project 'shop; touch pwned #'"],
  ['$(id)', "--project '$(id)'"],
  ["it's", String.raw`--project 'it'\''s'`],
  ['--force', '--project=--force'],
  ['-x y', "'--project=-x y'"],
])('a value of a flag is one argument: %s', (value, shown) => {
  expect(commandLine('push', ...flagValue('--project', value))).toBe(`mycli push ${shown}`);
});

test('a path in a command of the shell is one argument', () => {
  expect(shellLine('chmod', '600', '/home/a b/$(id)')).toBe("chmod 600 '/home/a b/$(id)'");
});
