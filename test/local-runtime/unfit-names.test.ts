import {expect, test} from 'vitest';
import {sameNames} from '../../src/local-runtime/upload/check-bundle.js';

test.each([
  [['a.js', 'b/a.js', 'b/c.js'], undefined],
  [
    ['App.js', 'x/app.js', 'app.js'],
    ['App.js', 'app.js'],
  ],
  [
    ['Static/a.js', 'static/b.js'],
    ['Static', 'static'],
  ],
  [
    ['caf\u00E9', 'cafe\u0301'],
    ['caf\u00E9', 'cafe\u0301'],
  ],
])('names that are one on a disk without case: of %j, %j', (files, same) => {
  expect(sameNames(files)).toEqual(same);
});
