import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {createError} from '../../src/errors/index.js';
import {outputError, reasonOf} from '../../src/errors/system-failure.js';

test('a reason ends in no full stop, so a sentence can end with it', async () => {
  expect(reasonOf(createError('ERR_OUTPUT', 'The disk is full.'))).toBe('The disk is full');
  expect(reasonOf(new Error('it is not a regular file'))).toBe('it is not a regular file');
  expect(reasonOf('No luck.')).toBe('No luck');
  const missing: unknown = await readFile('/no-such-file').catch((error: unknown) => error);
  expect(reasonOf(missing)).toBe('no such file or directory');
  expect(outputError('/app/x', new Error('Broken.')).message).toBe('/app/x cannot be written: Broken.');
});
