import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {verifyBuildDirectory} from '../../src/bundle/files/build-output.js';
import {detectBuild, findServer} from '../../src/frameworks/detect-framework.js';
import {frameworks} from '../../src/frameworks/frameworks.js';
import {frameworkProjects} from './projects.js';

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

describe('detectBuild', () => {
  test.each([
    ['vite', ['vite'], ['dist/index.html'], 'dist', true],
    ['next-standalone', ['next', 'vite'], ['.next/standalone/server.js'], '.next/standalone', false],
    ['next-export', ['next'], ['out/index.html'], 'out', true],
    ['nuxt', ['nuxt'], ['.output/server/index.mjs', '.output/public/index.html'], '.output', false],
    ['nuxt-generate', ['nuxt'], ['.output/public/index.html'], '.output/public', true],
    ['sveltekit-static', ['@sveltejs/kit', 'vite', '@sveltejs/adapter-static'], ['build/index.html'], 'build', true],
    ['sveltekit-node', ['@sveltejs/kit', 'vite', '@sveltejs/adapter-node'], ['build/handler.js'], 'build', false],
    ['astro-static', ['astro'], ['dist/index.html'], 'dist', true],
    ['astro-node', ['astro', '@astrojs/node'], ['dist/server/entry.mjs'], 'dist', false],
    ['angular-static', ['@angular/core'], ['dist/shop/browser/index.html'], 'dist/shop/browser', true],
    ['angular-ssr', ['@angular/core'], ['dist/shop/browser/a', 'dist/shop/server/server.mjs'], 'dist/shop', false],
    ['docusaurus', ['@docusaurus/core'], ['build/index.html'], 'build', true],
    ['pwa-kit', ['@example/pwa-kit-dev'], ['build/ssr.js'], 'build', false],
    ['storefront-next', ['@example/storefront-next-dev'], ['build/server/index.js'], 'build', false],
    ['react-router', ['@react-router/dev', 'vite'], ['build/server/index.js', 'build/client/a.js'], 'build', false],
    ['react-router-spa', ['@react-router/dev', 'vite'], ['build/client/index.html'], 'build/client', true],
    ['eleventy', ['@11ty/eleventy'], ['_site/index.html'], '_site', true],
  ])('detectBuild: the build of %s', async (id, packages, files, buildDirectory, isStatic) => {
    await project(packages, files);
    const detected = await detectBuild(root);
    expect(detected).toMatchObject({framework: {id}, buildDirectory, static: isStatic, exists: true});
  });

  test.each([
    ['next-standalone', ['next'], '.next/standalone'],
    ['nuxt', ['nuxt'], '.output'],
    ['sveltekit-static', ['@sveltejs/kit', '@sveltejs/adapter-static'], 'build'],
    ['sveltekit-node', ['@sveltejs/kit', '@sveltejs/adapter-auto'], 'build'],
    ['astro-static', ['astro'], 'dist'],
    ['astro-node', ['astro', '@astrojs/node'], 'dist'],
    ['pwa-kit', ['@example/retail-react-app'], 'build'],
    ['react-router', ['@react-router/dev', 'vite'], 'build'],
  ])('detectBuild: %s before it is built', async (id, packages, buildDirectory) => {
    await project(packages, []);
    expect(await detectBuild(root)).toMatchObject({framework: {id}, buildDirectory, exists: false});
  });

  test('detectBuild: with both adapters of SvelteKit, the build tells which one it is', async () => {
    const packages = ['@sveltejs/kit', '@sveltejs/adapter-static', '@sveltejs/adapter-node'];
    await project(packages, ['build/index.js', 'build/handler.js', 'build/server/index.js']);
    expect(await detectBuild(root)).toMatchObject({framework: {id: 'sveltekit-node'}, static: false});
  });

  test('detectBuild: a build with server code is never a static site', async () => {
    await project(['vite'], ['dist/index.html', 'dist/server/entry.js']);
    expect(await detectBuild(root)).toMatchObject({framework: undefined, buildDirectory: 'dist', static: false});
    await rm(join(root, 'package.json'));
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'dist', static: false});
    await project(['@docusaurus/core'], ['build/index.html', 'build/server/index.html']);
    expect(await detectBuild(root)).toMatchObject({framework: {id: 'docusaurus'}, static: true});
  });

  test.each([
    [undefined, {}, 'npx vite build'],
    [undefined, {build: 'vite build'}, 'npm run build'],
    ['pnpm-lock.yaml', {build: 'vite build'}, 'pnpm run build'],
    ['yarn.lock', {build: 'vite build'}, 'yarn run build'],
  ])('detectBuild: with %s and the scripts %j, the build command is right', async (lock, scripts, buildCommand) => {
    await project([], lock === undefined ? [] : [lock], {
      'package.json': JSON.stringify({scripts, devDependencies: {vite: '8'}}),
    });
    expect(await detectBuild(root)).toMatchObject({buildCommand});
  });

  test('detectBuild: a folder with an index.html and no build script is a site itself', async () => {
    await writeFile(join(root, 'index.html'), '');
    expect(await detectBuild(root)).toEqual({buildDirectory: '.', static: true, exists: true});
    const missing = verifyBuildDirectory(join(root, 'build'), root);
    await expect(missing).rejects.toMatchObject({
      suggestions: [
        'The folder . looks like a static site. To use it, pass --static --build-directory .',
        'Or set buildDirectory in mycli.config.',
      ],
    });
    await project([], []);
    expect(await detectBuild(root)).toMatchObject({buildDirectory: '.', static: true});
    await writeFile(join(root, 'package.json'), '{"scripts": {"build": "make"}}');
    expect(await detectBuild(root)).toBeUndefined();
  });

  test('detectBuild: Next.js follows its configuration before it is built', async () => {
    await project(['next'], [], {'next.config.mjs': "export default {output: 'export'};"});
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'out', static: true, exists: false});
  });

  test('detectBuild: the folder of Angular is named after its workspace before it is built', async () => {
    await project(['@angular/core'], [], {'angular.json': '{"projects": {"shop": {}}}'});
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'dist/shop/browser', static: true});
  });

  test('detectBuild: finds nothing without a framework and a folder, nor from a package.json that cannot be read', async () => {
    expect(await detectBuild(root)).toBeUndefined();
    await writeFile(join(root, 'package.json'), '{"dependencies": [');
    expect(await detectBuild(root)).toBeUndefined();
  });
});

describe('verifyBuildDirectory', () => {
  test('verifyBuildDirectory: suggests to build an application, never to push its sources', async () => {
    await project(['vite'], ['index.html'], {
      'package.json': JSON.stringify({scripts: {build: 'vite build'}, devDependencies: {vite: '8'}}),
    });
    await expect(verifyBuildDirectory(join(root, 'build'), root)).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      suggestions: [
        'Build the application first: npm run build.',
        'Vite builds into dist. To push it, pass --static --build-directory dist.',
      ],
    });
  });
});

describe('findServer', () => {
  test.each([
    ['pwa-kit', 'ssr.js', []],
    ['storefront-next', 'streamingHandler.mjs', ['server/index.js']],
    ['next-standalone', 'server.js', ['node_modules/next/package.json']],
    ['nuxt', 'server/index.mjs', ['public/a.js']],
    // SvelteKit 3 puts a library at server/index.js.
    ['sveltekit-node', 'index.js', ['handler.js', 'server/index.js']],
    ['astro-node', 'server/entry.mjs', ['client/a.js']],
    ['angular-ssr', 'server/server.mjs', ['browser/index.csr.html']],
    ['react-router', 'server/index.js', ['client/a.js']],
  ])('findServer: the server of %s is %s', async (id, entry, files) => {
    await project([], [entry, ...files]);
    expect(await findServer(root)).toMatchObject({framework: {id}, entry});
  });

  test('findServer: a site has none', async () => {
    await project([], ['index.html', 'assets/index.js']);
    expect(await findServer(root)).toBeUndefined();
  });
});

test('frameworks: each row has a project that is built, pushed and opened', () => {
  expect(frameworkProjects.map(({id}) => id).toSorted()).toEqual(frameworks.map(({id}) => id).toSorted());
});
