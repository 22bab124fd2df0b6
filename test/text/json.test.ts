import {expect, test} from 'vitest';
import {parseJson} from '../../src/text/json.js';

const nested = (levels: number, inside = '') => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;

test('JSON is read up to 200 levels deep, and no deeper', () => {
  expect(JSON.stringify(parseJson(nested(200, '{}').slice(1, -1)))).toBe(nested(200, '{}').slice(1, -1));
  expect(() => parseJson(nested(201))).toThrow(SyntaxError);
  expect(() => parseJson('{"a":'.repeat(1_000_000))).toThrow(SyntaxError);
});

test('brackets count only outside of strings, and side by side they are not deep', () => {
  const value = [nested(500), `"${nested(500)}`, `\\"${nested(500)}\\`, ...Array.from({length: 500}, () => [[]])];
  expect(parseJson(JSON.stringify(value))).toEqual(value);
});

test('JSON: what is none is an error, a string without end too', () => {
  for (const text of ['', '{', '"', '"\\', '"'.repeat(99_999), '<html>'])
    expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('a byte order mark before JSON is ignored, one in it is not', () => {
  expect(parseJson('\uFEFF{"a":1}')).toEqual({a: 1});
  expect(() => parseJson('{\uFEFF"a":1}')).toThrow(SyntaxError);
});
