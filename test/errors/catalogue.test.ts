import {expect, test} from 'vitest';
import {
  catalogue,
  createError,
  exitCodes,
  isRuntimeCliError,
  RuntimeCliError,
  type ErrorCode,
} from '../../src/errors/index.js';

test.each(Object.keys(catalogue) as ErrorCode[])('%s: an error has its code and the exit code of its kind', (code) => {
  const error = createError(code, 'it happened', {suggestions: ['do this']});
  expect(error).toBeInstanceOf(RuntimeCliError);
  expect(error).toMatchObject({code, exitCode: exitCodes[catalogue[code].kind], suggestions: ['do this']});
});

test('isRuntimeCliError: recognizes an error of another copy of the library by its shape', () => {
  const foreign = Object.assign(new Error('x'), {[Symbol.for('mycli.RuntimeCliError')]: true});
  expect(isRuntimeCliError(foreign)).toBe(true);
  expect(isRuntimeCliError(new Error('x'))).toBe(false);
  expect(isRuntimeCliError({[Symbol.for('mycli.RuntimeCliError')]: true})).toBe(false);
});

test('createError: keeps the cause, and the class names itself', () => {
  const cause = new Error('below');
  expect(createError('ERR_NETWORK', 'lost', {cause})).toMatchObject({cause, name: 'NetworkError'});
});
