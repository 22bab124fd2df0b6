import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readDeclaredDependencies} from '../../../src/bundle/index.js';
import {makeFolder} from '../../folder.js';

test('the declared dependencies are taken, those of development too', async () => {
  const folder = await makeFolder({
    'package.json': JSON.stringify({
      dependencies: {react: '^19.0.0', '@scope/x': 'workspace:*', constructor: '^1.0.0'},
      devDependencies: {vite: '^7', react: '^18.0.0'},
    }),
  });
  expect(await readDeclaredDependencies(folder)).toEqual({
    react: '^19.0.0',
    '@scope/x': 'workspace:*',
    constructor: '^1.0.0',
    vite: '^7',
  });
});

test('a project that declares none has none', async () => {
  expect(await readDeclaredDependencies(await makeFolder({'package.json': '\uFEFF{"name": "shop"}'}))).toEqual({});
});

test.each([
  ['missing', {}],
  ['no JSON', {'package.json': '{'}],
  ['with a version that is not text', {'package.json': '{"dependencies": {"react": 19}}'}],
  ['with such a version for development', {'package.json': '{"devDependencies": {"vite": 7}}'}],
])('a package.json that is %s is an error that names it', async (_what, tree) => {
  const folder = await makeFolder(tree);
  await expect(readDeclaredDependencies(folder)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message: expect.stringContaining(`The dependencies in ${join(folder, 'package.json')} cannot be read: `),
    suggestions: [expect.stringMatching(/--project-directory.*MYCLI_DEPENDENCIES/)],
  });
});
