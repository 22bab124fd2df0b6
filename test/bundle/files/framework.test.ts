import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {verifyBuildDirectory} from '../../../src/bundle/files/build-output.js';
import {detectBuild} from '../../../src/bundle/files/framework.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mycli-framework-'));
});
afterEach(() => rm(root, {recursive: true}));

async function project(packages: readonly string[], files: readonly string[], contents: Record<string, string> = {}) {
  const dependencies = Object.fromEntries(packages.map((name) => [name, '1']));
  const all = {'package.json': JSON.stringify({devDependencies: dependencies}), ...contents};
  for (const [path, text] of [...Object.entries(all), ...files.map((file) => [file, ''] as const)]) {
    await mkdir(dirname(join(root, path)), {recursive: true});
    await writeFile(join(root, path), text);
  }
}

describe('the build of a project', () => {
  test.each([
    ['Vite', ['vite'], [], 'dist', true, false],
    ['Vite', ['vite'], ['dist/server/entry.js'], 'dist', false, true],
    ['Next.js', ['next', 'vite'], ['.next/standalone/server.js'], '.next/standalone', false, true],
    ['Next.js', ['next'], ['out/index.html'], 'out', true, true],
    ['Next.js', ['next'], [], '.next/standalone', false, false],
    ['Nuxt', ['nuxt'], ['.output/server/index.mjs', '.output/public/a.js'], '.output', false, true],
    ['Nuxt', ['nuxt'], ['.output/public/index.html'], '.output/public', true, true],
    ['SvelteKit', ['@sveltejs/kit', 'vite', '@sveltejs/adapter-static'], ['build/index.html'], 'build', true, true],
    ['SvelteKit', ['@sveltejs/kit', 'vite'], [], 'build', false, false],
    ['Astro', ['astro'], ['dist/index.html'], 'dist', true, true],
    ['Astro', ['astro', '@astrojs/node'], [], 'dist', false, false],
    ['Angular', ['@angular/core'], ['dist/shop/browser/index.html'], 'dist/shop/browser', true, true],
    ['Angular', ['@angular/core'], ['dist/shop/browser/a', 'dist/shop/server/server.mjs'], 'dist/shop', false, true],
    ['Docusaurus', ['@docusaurus/core'], [], 'build', true, false],
    ['PWA Kit', ['@example/pwa-kit-dev'], ['build/ssr.js'], 'build', false, true],
    ['PWA Kit', ['@example/retail-react-app'], [], 'build', false, false],
    ['React Router', ['@react-router/dev', 'vite'], [], 'build', false, false],
    [undefined, [], ['public/x', 'dist/index.html'], 'dist', true, true],
    [undefined, [], ['build/ssr.js', 'build/index.html'], 'build', false, true],
  ])('of %s with %j and %j is in %s', async (framework, packages, files, buildDirectory, isStatic, exists) => {
    await project(packages, files);
    expect(await detectBuild(root)).toMatchObject({
      buildDirectory,
      static: isStatic,
      exists,
      ...(framework && {framework}),
    });
  });

  test.each([
    ['SvelteKit', ['@sveltejs/kit']],
    ['Next.js', ['next']],
    ['Nuxt', ['nuxt']],
    ['Angular', ['@angular/core', '@angular/ssr']],
    ['PWA Kit', ['@example/pwa-kit-dev']],
  ])('of a server with %s has the patterns of the guide', async (name, packages) => {
    await project(packages, [], {'angular.json': '{"projects": {"NAME": {}}}'});
    const {buildDirectory = '', ssrOnly = [], ssrShared = [], afterBuild} = (await detectBuild(root)) ?? {};
    const guide = await readFile(new URL('../../../docs/guides/frameworks.md', import.meta.url), 'utf8');
    const line = guide
      .slice(guide.indexOf('## Servers'))
      .split('\n')
      .find((row) => row.startsWith(`| ${name} `));
    const folder = buildDirectory === 'build' ? '' : ` --build-directory ${buildDirectory}`;
    expect(line).toContain(`${folder} --ssr-only '${ssrOnly.join(',')}' --ssr-shared '${ssrShared.join(',')}'`);
    expect(line).toContain(afterBuild ?? '');
  });

  test('of a folder with an index.html and no package.json is the folder itself', async () => {
    await writeFile(join(root, 'index.html'), '');
    expect(await detectBuild(root)).toEqual({buildDirectory: '.', static: true, exists: true});
    await project([], []);
    expect(await detectBuild(root)).toBeUndefined();
    const missing = verifyBuildDirectory(join(root, 'build'), root);
    await expect(missing).rejects.toMatchObject({
      suggestions: [
        'The folder . looks like a static site. To use it, pass --static --build-directory .',
        'Or set buildDirectory in mycli.config.',
      ],
    });
  });

  test('of Next.js follows its configuration before it is built', async () => {
    await project(['next'], [], {'next.config.mjs': "export default {output: 'export'};"});
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'out', static: true, exists: false});
  });

  test('of Angular is named after its workspace before it is built', async () => {
    await project(['@angular/core'], [], {'angular.json': '{"projects": {"shop": {}}}'});
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'dist/shop/browser', static: true});
  });

  test('is not known without a framework and a folder, nor from a package.json that cannot be read', async () => {
    expect(await detectBuild(root)).toBeUndefined();
    await writeFile(join(root, 'package.json'), '{"dependencies": [');
    expect(await detectBuild(root)).toBeUndefined();
  });
});
