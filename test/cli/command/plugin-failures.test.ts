import {join} from 'node:path';
import {expect, test} from 'vitest';
import {locatedError} from '../../../src/cli/command/plugin-failures.js';
import {makeFolder} from '../../folder.js';

test('a failure of a plugin is placed in its own folder, not in one whose name begins with the same', async () => {
  const parent = await makeFolder({'plugin/package.json': '{}', 'plugin-b/package.json': '{}'});
  const stack = ['plugin-b/other.js:1:2', 'plugin/own.js:3:4'].map((place) => `    at f (${join(parent, place)})`);
  const error = Object.assign(new Error('broken'), {stack: ['Error: broken', ...stack].join('\n')});
  const root = join(parent, 'plugin');
  expect(locatedError(error, {root}, []).message).toBe(`broken (${join(root, 'own.js')}:3)`);
});
