import {chmod, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {expect, test} from 'vitest';
import {defaultMessage} from '../../../src/bundle/config/defaults.js';
import {readDeclaredDependencies} from '../../../src/bundle/index.js';
import {makeFolder} from '../project.js';

const now = () => new Date(0);

test.skipIf(process.platform === 'win32')('git gets what it needs, and none of the secrets', async () => {
  const folder = await makeFolder({});
  const git = join(folder, 'git');
  await writeFile(git, `#!/bin/sh\nenv > "${join(folder, 'environment')}"\necho abc1234\n`);
  await chmod(git, 0o755);
  const kept = {HOME: folder, GIT_CEILING_DIRECTORIES: '/', XDG_CONFIG_HOME: folder};
  const env = {
    ...kept,
    PATH: [folder, process.env['PATH']].join(delimiter),
    MYCLI_API_KEY: 'canary',
    MYCLI_CLIENT_SECRET: 'canary',
    mycli_api_token: 'canary',
    AWS_SECRET_ACCESS_KEY: 'canary',
    GITHUB_TOKEN: 'canary',
    HTTPS_PROXY: 'http://u:canary@proxy.test',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraheader',
    GIT_CONFIG_VALUE_0: 'authorization: canary',
    GIT_DIR: '/canary',
    GIT_SSH_COMMAND: 'canary',
  };
  expect(await defaultMessage(folder, env, now)).toEqual({message: 'abc1234: abc1234 (modified)', from: 'git'});
  const seen = await readFile(join(folder, 'environment'), 'utf8');
  expect(seen).not.toMatch(/canary|GIT_DIR|GIT_CONFIG_COUNT/);
  for (const [name, value] of Object.entries(kept)) expect(seen).toContain(`${name}=${value}`);
});

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
    suggestions: [expect.stringMatching(/--project-directory.*--dependencies/)],
  });
});
