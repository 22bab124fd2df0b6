import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {loadModule} from '../../src/modules/load-module.js';
import {makeFolder, writeTree} from '../folder.js';

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

const lists = "{ssrOnly: ['ssr.js', 'secret.js']}";
const base = {'base.ts': `export default ${lists};`, 'more/index.js': 'exports.more = 1;'};
const wanted = {ssrOnly: ['ssr.js', 'secret.js']};

describe.skipIf(process.platform === 'win32')('in a folder with a backslash in its name', () => {
  test('a configuration loads its neighbor', async () => {
    const folder = join(await makeFolder(), String.raw`a\b`);
    await writeTree(folder, {...base, 'a.ts': "import one from './base.ts'; export default one;"});
    expect(await loadModule(join(folder, 'a.ts'))).toEqual({default: wanted});
  });

  test('what it imports without an extension is not found, which names the backslash', async () => {
    const folder = join(await makeFolder(), String.raw`a\b`);
    await writeTree(folder, {...base, 'a.ts': "import one from './base'; export default one;"});
    await expect(loadModule(join(folder, 'a.ts'))).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      suggestions: [expect.stringContaining('a backslash in its path')],
    });
  });
});

// Each is loaded by Node where it can, otherwise by jiti.
test.each<readonly [syntax: string, text: string, expected: object]>([
  ['CommonJS', `module.exports = ${lists};`, {default: wanted}],
  ['CommonJS by name', "exports.ssrOnly = ['ssr.js', 'secret.js'];", {default: wanted}],
  ['CommonJS that was a module', `exports.__esModule = true; exports.config = ${lists};`, {config: wanted}],
  ['a default in CommonJS', `exports.default = ${lists}; exports.other = 1;`, {default: wanted, other: 1}],
  ['CommonJS that is a promise', `module.exports = Promise.resolve(${lists});`, {default: wanted}],
  ['CommonJS with a named export', `module.exports = {config: ${lists}};`, {default: {config: wanted}}],
  ['CommonJS that exports null', 'module.exports = null;', {default: null}],
  ['CommonJS that exports a text', 'module.exports = "text";', {default: 'text'}],
  ['CommonJS that exports nothing', 'module.exports = {};', {default: {}}],
  ['CommonJS around TypeScript', "module.exports = require('./base');", {default: wanted}],
  ['CommonJS that takes a part of TypeScript', "module.exports = {...require('./base').default};", {default: wanted}],
  ['CommonJS that imports', `import {join} from 'node:path'; module.exports = ${lists}; join();`, {default: wanted}],
  ['CommonJS that imports a folder', `import {more} from './more'; module.exports = {more};`, {default: {more: 1}}],
  ['a module', `export const config = ${lists}; export default 2;`, {config: wanted, default: 2}],
  ['a module that imports TypeScript', "import base from './base'; export default base;", {default: wanted}],
  ['a module that imports a folder', "import {more} from './more'; export const config = {more};", {config: {more: 1}}],
  ['a module with a promise', `export default await Promise.resolve(${lists});`, {default: wanted}],
  ['a module that exports nothing', 'export {};', {}],
])('reads %s with every ending, in every package and folder', async (_syntax, text, expected) => {
  const parent = await makeFolder();
  for (const folder of ['plain', 'h#sh', 'a%20b (c) [d] wh?t']) {
    for (const type of ['module', undefined]) {
      const files = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'].map((ending) => [`config.${ending}`, text] as const);
      const root = join(parent, folder, type ?? 'commonjs');
      await writeTree(root, {...base, ...Object.fromEntries(files), 'package.json': JSON.stringify({type})});
      for (const [name] of files) {
        expect(await loadModule(join(root, name)), join(root, name)).toStrictEqual(expected);
      }
    }
  }
});

test('reads the file that was named, not one whose path is the decoded one', async () => {
  const root = await makeFolder({
    'a%20b/config.cjs': "module.exports = 'named';",
    'a b/config.cjs': "module.exports = 'decoded';",
  });
  expect(await loadModule(join(root, 'a%20b/config.cjs'))).toEqual({default: 'named'});
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

test.each(['a (b)', 'a [b] #1 100% wh?t', 'node_modules/shop'])(
  'tells the line that threw below %j',
  async (folder) => {
    const root = join(await makeFolder(), folder);
    const thrower = "\nexport function fail() {\n  throw new Error('no database');\n}\n";
    await writeTree(root, {
      'config.ts': "import {fail} from './src/typed';\nfail();\n",
      'config.mjs': "import {fail} from './src/plain.mjs';\nfail();\n",
      'src/typed.ts': thrower,
      'src/plain.mjs': thrower,
    });
    for (const [config, file] of [
      ['config.ts', 'typed.ts'],
      ['config.mjs', 'plain.mjs'],
    ] as const) {
      const message: unknown = expect.stringContaining(`no database (src/${file}:3).`);
      await expect(loadModule(join(root, config))).rejects.toMatchObject({message});
    }
  },
);
