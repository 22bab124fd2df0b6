import {expect, test} from 'vitest';
import {optionsSchema} from '../src/options.js';

const {validate} = optionsSchema['~standard'];

test('an absolute path is fine', async () => {
  expect(await validate({directory: '/srv/bundles'})).toEqual({value: {directory: '/srv/bundles'}});
});

test('without a directory the options are valid: check tells that it is missing', async () => {
  expect(await validate({})).toEqual({value: {}});
});

test.each([
  ['a relative path', {directory: 'bundles'}, 'directory'],
  ['a number', {directory: 5}, 'directory'],
  ['a word for a switch', {unpack: 'yes'}, 'unpack'],
  ['an unknown option', {folder: '/srv/bundles'}, 'folder'],
])('%s is refused, and the option named', async (_, options, name) => {
  expect(await validate(options)).toMatchObject({issues: [{path: [name]}]});
});
