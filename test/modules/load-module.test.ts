import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {loadModule} from '../../src/modules/load-module.js';
import {makeFolder} from '../folder.js';

test.each([
  [
    'a.ts',
    'const one: number = 1; export const config = {one}; export default {two: 2};',
    {config: {one: 1}, default: {two: 2}},
  ],
  ['a.mjs', 'export default {two: await Promise.resolve(2)};', {default: {two: 2}}],
  ['a.js', 'module.exports = {config: {one: 1}};', {default: {config: {one: 1}}}],
  ['b.js', 'export const config = {one: 1};', {config: {one: 1}}],
  ['c.ts', 'export const other = 1;', {other: 1}],
  ['d.ts', '', {}],
  ['e.ts', 'export default undefined;', {default: undefined}],
  ['e.mjs', 'export default undefined;', {default: undefined}],
])('reads the exports of %s', async (name, text, expected) => {
  const folder = await makeFolder({[name]: text});
  expect(await loadModule(join(folder, name))).toStrictEqual(expected);
});

test('imports what a TypeScript module imports, from source', async () => {
  const folder = await makeFolder({
    'config.ts': "import {pattern} from './pattern'; export default {ssrOnly: [pattern]};",
    'pattern.ts': "export const pattern: string = 'ssr.js';",
  });
  expect(await loadModule(join(folder, 'config.ts'))).toEqual({default: {ssrOnly: ['ssr.js']}});
});

test('imports names of a CommonJS module that cannot be told from its text', async () => {
  const folder = await makeFolder({
    'config.ts': "import {pattern} from './pattern.cjs'; export default {ssrOnly: [pattern]};",
    'pattern.cjs': "const names = {['pat' + 'tern']: 'ssr.js'}; module.exports = names;",
  });
  expect(await loadModule(join(folder, 'config.ts'))).toEqual({default: {ssrOnly: ['ssr.js']}});
});

test('executes a file again when it has changed, and leaves nothing beside it', async () => {
  const folder = await makeFolder({'config.ts': 'export default 1;', 'package.json': '{}'});
  const path = join(folder, 'config.ts');
  expect(await loadModule(path)).toEqual({default: 1});
  await writeFile(path, 'export default 2;');
  expect(await loadModule(path)).toEqual({default: 2});
  expect((await readdir(folder)).sort()).toEqual(['config.ts', 'package.json']);
});

test.each([
  ['throws an error', "throw new Error('no database');", String.raw`no database \(config\.server\.ts:1\)`],
  ['throws further down', "\n  throw new Error('no database');", String.raw`no database \(config\.server\.ts:2\)`],
  ['throws something else', "throw 'a text';", 'a text'],
  ['has a syntax error', 'const a: = 1;', 'Unexpected token'],
  ['imports what is not there', "import './missing.js';", 'missing.js'],
])('names the file when it %s', async (_what, text, reason) => {
  const path = join(await makeFolder({'config.server.ts': text}), 'config.server.ts');
  await expect(loadModule(path)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    exitCode: 3,
    message: expect.stringMatching(new RegExp(`config\\.server\\.ts could not be loaded: .*${reason}`, 's')),
    cause: expect.anything(),
  });
});
