import {expect, test} from 'vitest';
import {optionsSchema} from '../src/options.js';

const {validate} = optionsSchema['~standard'];

test.each(['/srv/bundles', '../bundles'])('the path %s is fine', async (directory) => {
  expect(await validate({directory})).toEqual({value: {directory}});
});

test('without a directory the options are valid: check tells that it is missing', async () => {
  expect(await validate({})).toEqual({value: {}});
});

test.each([
  ['an empty path', {directory: ''}, 'directory'],
  ['a number', {directory: 5}, 'directory'],
  ['a word for a switch', {unpack: 'yes'}, 'unpack'],
  ['an unknown option', {folder: '/srv/bundles'}, 'folder'],
])('%s is refused, and the option named', async (_, options, name) => {
  expect(await validate(options)).toMatchObject({issues: [{path: [name]}]});
});
