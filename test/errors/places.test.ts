import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {expect, test} from 'vitest';
import {placeInProject, placesIn} from '../../src/errors/places.js';
import {makeFolder, writeTree} from '../folder.js';

const throwing = {
  'named.mjs': "function fail() {\n  throw new Error('x');\n}\nfail();\n",
  'computed.cjs': "const o = {\n  ['a (b)']() {\n    throw new Error('x');\n  },\n};\no['a (b)']();\n",
  'later.mjs': "await null;\nthrow new Error('x');\n",
  'made.mjs': "class A {\n  constructor() {\n    throw new Error('x');\n  }\n}\nnew A();\n",
  'syntax.cjs': 'const a = 1;\nconst b = ;\n',
};

/** The stacks that Node gives the errors of files, in a process of its own. */
function stacksOf(files: readonly string[]): readonly string[] {
  const script = `for (const url of process.argv.slice(1)) import(url).catch(({stack}) => stacks.set(url, stack));
    const stacks = new Map();
    process.on('exit', () => console.log(JSON.stringify(process.argv.slice(1).map((url) => stacks.get(url)))));`;
  const urls = files.map((file) => pathToFileURL(file).href);
  return JSON.parse(execFileSync(process.execPath, ['--eval', script, ...urls], {encoding: 'utf8'})) as string[];
}

test.each(['a b', 'a (b)', '(a', 'a)', 'a (', 'a:3', '[c] #1 ü', 'at x (y)', 'async (z)'])(
  'placesIn reads each line of a stack below a folder named %j',
  async (part) => {
    const folder = join(await makeFolder(), part);
    await writeTree(folder, throwing);
    const files = Object.keys(throwing).map((name) => join(folder, name));
    const places = stacksOf(files).map((stack) =>
      placesIn(Object.assign(new Error('x'), {stack})).find(({path}) => path.startsWith(folder)),
    );
    expect(places).toEqual(['2', '3', '2', '3', '2'].map((line, index) => ({path: files[index], line})));
  },
);

test.each([
  ['/srv/shop', '/srv/shop/a.js'],
  ['/srv/node_modules/shop/config', '/srv/node_modules/shop/c.js'],
])('placeInProject leaves out the packages of %s, not the project itself', (directory, expected) => {
  const paths = [
    '/srv/node_modules/shop/node_modules/dependency/d.js',
    '/srv/node_modules/shop-tools/e.js',
    '/srv/node_modules/@acme/shop/f.js',
    '/srv/node_modules/shop/c.js',
    '/srv/shop/a.js',
  ];
  const stack = ['Error: x', ...paths.map((path) => `    at f (${path}:1:2)`)].join('\n');
  expect(placeInProject(Object.assign(new Error('x'), {stack}), directory)?.path).toBe(expected);
});
