import {expect, test} from 'vitest';
import {nearest} from '../../src/errors/index.js';

const candidates = ['projectSlug', 'targetSlug', 'origin', 'wait'];

test.each([
  ['orgin', 'origin'],
  ['WAIT', 'wait'],
  ['project', 'projectSlug'],
  ['tragetSlug', 'targetSlug'],
])('%s was meant to be %s', (name, meant) => {
  expect(nearest(name, candidates)).toBe(meant);
});

test.each(['buildDirectory', 'x', ''])('nothing is near %j', (name) => {
  expect(nearest(name, candidates)).toBeUndefined();
});
