import {describe, expect, test} from 'vitest';
import * as v from 'valibot';
import {givenBundleId, object, optional, segment, shownTexts, text, total, word} from '../../src/wire/schema.js';

const answer = object('', {
  id: givenBundleId,
  text: optional(text('')),
  texts: optional(shownTexts('')),
  word: optional(word(['one', 'two'], '')),
  total,
  inner: optional(object('', {text: text('')})),
});

const read = (members: object) => v.parse(answer, {id: 1, ...members});

test.each(['text', 'texts', 'word', 'total', 'inner'])(
  'an optional %s that is null, or not there, is read as missing',
  (name) => {
    expect(read({})).toEqual({id: 1});
    expect(read({[name]: null})).toEqual({id: 1});
  },
);

test.each<[object, object]>([
  [{text: 5, texts: 'a', total: -1, inner: {}}, {}],
  [{inner: 'no', total: '3'}, {}],
  [{texts: ['a', {b: 1}, null]}, {texts: ['a', '{"b":1}', 'null']}],
  [{word: 'three'}, {word: 'three'}],
  [{word: 4}, {word: 4}],
  [{id: '7', extra: true}, {id: 7}],
  [{id: 2 ** 53 - 1}, {id: 2 ** 53 - 1}],
])('%j is read as %j: what does not fit is missing, and words are passed on', (members, known) => {
  expect(read(members)).toEqual({id: 1, ...known});
});

describe('what an answer must have', () => {
  test.each([undefined, null, '', 'a', -1, 1.5, [5], 2 ** 53, '12345678901234567'])('%j is no ID of a bundle', (id) => {
    expect(v.safeParse(answer, {id}).success).toBe(false);
  });

  test.each(['.', '..', '\ud800', 'a\r\nb', '', 'x'.repeat(257), 5])('%j is no part of a path', (id) => {
    expect(v.safeParse(segment(''), id).success).toBe(false);
  });
});
