import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {InvalidValue, parseList} from '../../../src/cli/settings/text.js';

describe('parseList', () => {
  test.each([
    ['server/**/*', ['server/**/*']],
    ['ssr.js, ssr.mjs ,server/**', ['ssr.js', 'ssr.mjs', 'server/**']],
    ['static/**/*.{css,js},client/**', ['static/**/*.{css,js}', 'client/**']],
    ['{a,{b,c}},d', ['{a,{b,c}}', 'd']],
    [String.raw`a\,b,c`, [String.raw`a\,b`, 'c']],
    [String.raw`\{a,b`, [String.raw`\{a`, 'b']],
    ['a},b', ['a}', 'b']],
    ['{a,b', ['{a,b']],
    ['a,,b,', ['a', 'b']],
    ['["a,b", "c"]', ['a,b', 'c']],
    [' [ "a" ] ', ['a']],
    ['[]', []],
    ['[abc]/**', ['[abc]/**']],
    ['[0]', ['[0]']],
    ['!secret/**', ['!secret/**']],
  ])('reads %s', (text, items) => {
    expect(parseList(text)).toEqual(items);
  });

  test.each(['', '  ', ',', '["a"', '["a", 1]', '["a", ""]', '["a"]b'])('refuses %j', (text) => {
    expect(() => parseList(text)).toThrow(InvalidValue);
  });

  const plain = fc.stringMatching(/^[a-z*./!]{1,6}$/);
  const braces = fc.array(plain, {minLength: 2, maxLength: 4}).map((items) => `x{${items.join(',')}}`);

  test('gives back globs joined by commas, with and without braces', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(plain, braces), {minLength: 1}), (globs) => {
        expect(parseList(globs.join(','))).toEqual(globs);
      }),
    );
  });
});
