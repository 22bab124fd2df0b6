import {expect, test} from 'vitest';
import {toFailure} from '../src/failure.js';

const systemError = (code: string) => Object.assign(new Error(`${code}: it failed`), {code, syscall: 'open'});

test.each([
  ['EACCES', 'ERR_FORBIDDEN'],
  ['EROFS', 'ERR_FORBIDDEN'],
  ['ENOSPC', 'ERR_OUTPUT'],
])('%s of the operating system becomes %s and keeps its words', (code, expected) => {
  expect(toFailure(systemError(code))).toMatchObject({
    ...{code: expected, message: `${code}: it failed`},
  });
});

test('other errors stay what they are', () => {
  const error = new TypeError('a bug');
  expect(toFailure(error)).toBe(error);
});
