import {expect, test} from 'vitest';
import {planBundle} from '../../../src/bundle/index.js';
import {makeFolder, type Tree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

async function warningsOf(tree: Tree, options: Parameters<typeof planOptions>[1] = {}): Promise<readonly string[]> {
  return (await planBundle(planOptions(await makeFolder(tree), options))).warnings;
}

test('a build of the layout that the defaults expect has no warning', async () => {
  expect(await warningsOf({...smallBuild, 'build/favicon.ico': '', 'build/client/app.mjs': ''})).toEqual([]);
});

test.each([
  ['.next/cache/'],
  ['app/.next/cache/'],
  ['.nuxt/cache/'],
  ['.angular/cache/'],
  ['.nx/cache/'],
  ['node_modules/.cache/'],
  ['.parcel-cache/'],
  ['.turbo/'],
])('a cache of a framework, %s, is warned about with its size', async (folder) => {
  const cache = {[`build/${folder}a/1.pack`]: Buffer.alloc(2_500_000), [`build/${folder}2.pack`]: 'x'};
  expect(await warningsOf({...smallBuild, ...cache})).toEqual([
    `The build contains a framework's cache, ${folder} (2.5 MB, files: 2). Add /${folder} to .bundleignore to exclude it.`,
  ]);
  expect(await warningsOf({...smallBuild, ...cache}, {ignore: [`/${folder}`]})).toEqual([]);
});

test('our own configuration of another project in the build is not published without a word', async () => {
  const tree = {...smallBuild, 'build/a/mycli.config.json': ''};
  expect(await warningsOf(tree, {static: true, allowSensitiveFiles: true})).toEqual([
    'The bundle publishes files that no visitor needs: a/mycli.config.json (the configuration of mycli). ' +
      'Exclude them in .bundleignore.',
  ]);
  expect(await warningsOf(tree, {ssrOnly: ['**/*'], ssrShared: []})).toEqual([]);
});

test('push: packages that the project has installed are not published without a word', async () => {
  const tree = {...smallBuild, 'build/node_modules/a/index.js': '', 'build/node_modules/a/package.json': ''};
  expect(await warningsOf(tree, {static: true, allowSensitiveFiles: true})).toEqual([
    'Anyone could download node_modules (files: 2). Add /node_modules/ to .bundleignore to exclude it.',
  ]);
  expect(await warningsOf(tree, {ssrOnly: ['**/*'], ssrShared: []})).toEqual([]);
});
