import {expect, test} from 'vitest';
import {configJson} from '../../../src/bundle/config/content-schema.js';

test('a configuration is written with its keys sorted, at every depth; lists stay in their order', () => {
  const ssrParameters = {b: null, a: [{d: 1, c: [3, null, 2]}]};
  expect(configJson({ssrShared: ['z', 'a'], ssrParameters, ssrOnly: []})).toBe(
    `${JSON.stringify({ssrOnly: [], ssrParameters: {a: [{c: [3, null, 2], d: 1}], b: null}, ssrShared: ['z', 'a']}, null, 2)}\n`,
  );
});
