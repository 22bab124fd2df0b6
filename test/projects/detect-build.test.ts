import {chown, mkdir, rm, utimes, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {verifyBuildDirectory} from '../../src/bundle/files/build-output.js';
import {findServer} from '../../src/projects/build-rows.js';
import {suggestionText} from '../../src/errors/suggestion.js';
import {applicationsBelow, detectBuild} from '../../src/projects/detect-build.js';
import {adviceFor} from '../../src/projects/unfit-build.js';
import {frameworks} from '../../src/frameworks/frameworks.js';
import {zooProjects} from '../frameworks/zoo/projects.js';
import {makeFolder} from '../folder.js';

let root: string;
beforeEach(async () => {
  root = await makeFolder();
});

async function project(packages: readonly string[], files: readonly string[], contents: Record<string, string> = {}) {
  const dependencies = Object.fromEntries(packages.map((name) => [name, '1']));
  const all = {'package.json': JSON.stringify({devDependencies: dependencies}), ...contents};
  for (const [path, text] of [...Object.entries(all), ...files.map((file) => [file, ''] as const)]) {
    await mkdir(dirname(join(root, path)), {recursive: true});
    await writeFile(join(root, path), text);
  }
}

/** What a push says of the build of a project that can't be pushed. */
async function unfitSays(folder = root): Promise<string> {
  const {unfit} = (await detectBuild(folder)) ?? {};
  if (unfit === undefined) return '';
  return [unfit.problem, suggestionText(adviceFor(unfit, {cwd: folder, project: folder}))].join('\n');
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
    ['angular-static', ['@angular/core'], ['dist/shop/browser/de/index.html'], 'dist/shop/browser', true],
    ['angular-browser', ['@angular/core'], ['dist/shop/index.html'], 'dist/shop', true],
    ['analog', ['@analogjs/platform', 'vite'], ['dist/analog/server/index.mjs'], 'dist/analog', false],
    [
      'solid-start-nitro',
      ['@solidjs/start', 'vinxi'],
      ['.output/nitro.json', '.output/server/index.mjs'],
      '.output',
      false,
    ],
    ['solid-start', ['@solidjs/start', 'vite'], ['dist/server/entry-server.js', 'dist/client/a.js'], 'dist', false],
    ['tanstack-start', ['@tanstack/react-start', 'vite'], ['dist/server/server.js', 'dist/client/a.js'], 'dist', false],
    ['tanstack-start-nitro', ['@tanstack/react-start', 'nitro'], ['.output/server/index.mjs'], '.output', false],
    ['vike', ['vike', 'vite'], ['dist/server/index.mjs', 'dist/client/a.js'], 'dist', false],
    ['vike-prerendered', ['vike', 'vite'], ['dist/client/index.html'], 'dist/client', true],
    ['vite-ssr', ['vite'], ['dist/server/entry.mjs', 'dist/client/index.html'], 'dist', false],
    ['vitepress-docs', ['vitepress'], ['docs/.vitepress/dist/index.html'], 'docs/.vitepress/dist', true],
    ['vite', ['vite', 'storybook'], ['dist/index.html', 'storybook-static/index.html'], 'dist', true],
    ['nest', ['@nestjs/core', 'express'], ['dist/main.js'], 'dist', false],
    ['nest-monorepo', ['@nestjs/core'], ['dist/apps/api/main.js'], 'dist/apps/api', false],
    ['express', ['express'], ['dist/server.js'], 'dist', false],
    // Told by what was built, whatever package.json says.
    ['nitro', [], ['.output/nitro.json', '.output/server/index.mjs'], '.output', false],
    [
      'next-standalone',
      [],
      ['.next/standalone/server.js', '.next/standalone/.next/BUILD_ID'],
      '.next/standalone',
      false,
    ],
    ['astro-node', [], ['dist/server/entry.mjs', 'dist/client/a.js'], 'dist', false],
    // Where another folder has the marks.
    ['vite', ['vite'], ['www/index.html'], 'www', true],
    ['docusaurus', ['@docusaurus/core'], ['dist/index.html'], 'dist', true],
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

  test.each([
    ['vite', 'vite.config.ts', "export default {build: {outDir: '../public_html'}};", '../public_html/index.html'],
    [
      'vite',
      'vite.config.mts',
      "export default {build: {outDir: resolve(import.meta.dirname, 'docs')}};",
      'docs/index.html',
    ],
    ['vite', 'package.json', '{"scripts": {"build": "vite build --outDir site"}}', 'site/index.html'],
    [
      'next',
      'next.config.mjs',
      "export default {distDir: 'target', output: 'standalone'};",
      'target/standalone/server.js',
    ],
    ['next', 'next.config.mjs', "export default {distDir: 'target', output: 'export'};", 'target/index.html'],
    ['@angular/core', 'angular.json', '{"projects": {"a": {"outputPath": {"base": "www"}}}}', 'www/browser/index.html'],
    ['@sveltejs/kit', 'svelte.config.js', "adapter({out: 'target'})", 'target/handler.js'],
    ['@sveltejs/kit', 'vite.config.ts', "adapter({out: 'target'})", 'target/handler.js'],
  ])('detectBuild: of %s, the folder that %s names: %s', async (name, file, text, mark) => {
    root = join(root, 'app');
    await project([name], [mark]);
    const manifest = {dependencies: {[name]: '1'}, ...(file === 'package.json' && (JSON.parse(text) as object))};
    await project([], [], {[file]: text, 'package.json': JSON.stringify(manifest)});
    const detected = await detectBuild(root);
    expect(mark.startsWith(`${String(detected?.buildDirectory)}/`)).toBe(true);
    expect(detected).toMatchObject({exists: true, framework: {name: expect.any(String) as string}});
    root = join(root, '..');
  });

  test('detectBuild: an application of a workspace is built by its package manager, or by Nx, and found where Nx builds', async () => {
    await project(['nx', 'vite'], ['pnpm-lock.yaml', 'apps/shop/index.html', 'apps/shop/vite.config.mts']);
    const app = join(root, 'apps/shop');
    const unbuilt = {buildDirectory: 'dist', exists: false, buildCommand: 'pnpm exec nx build shop'};
    expect(await detectBuild(app)).toMatchObject(unbuilt);
    await project(['nx', 'vite'], ['dist/apps/shop/index.html']);
    expect(await detectBuild(app)).toMatchObject({buildDirectory: '../../dist/apps/shop', exists: true, static: true});
    if (process.getuid?.() !== 0) return;
    // Not a workspace of somebody else.
    await chown(join(root, 'package.json'), 12_345, 12_345);
    expect(await detectBuild(app)).toMatchObject({buildDirectory: 'dist'});
  });

  test('detectBuild: an application of Nx is Angular’s only by what its project.json says', async () => {
    await project(['nx', 'vite', '@angular/core'], []);
    const app = join(root, 'apps/web');
    await project([], ['apps/web/index.html', 'apps/web/vite.config.ts'], {'apps/web/project.json': '{"name": "web"}'});
    await rm(join(app, 'package.json'), {force: true});
    expect(await detectBuild(app)).toMatchObject({framework: {id: 'vite'}});
    await project([], [], {
      'apps/old/project.json': '{"targets": {"build": {"executor": "@angular/build:application"}}}',
    });
    expect(await detectBuild(join(root, 'apps/old'))).toMatchObject({framework: {name: 'Angular'}});
  });

  test('detectBuild: what a workspace builds into a folder of its own is found from the member, and named at the root', async () => {
    await project(['nx'], ['nx.json', 'dist/apps/api/main.js', 'dist/apps/web/index.html', 'dist/apps/web/a.js']);
    await project([], [], {'apps/api/project.json': '{"name": "api"}'});
    expect(await detectBuild(join(root, 'apps/api'))).toMatchObject({
      buildDirectory: '../../dist/apps/api',
      exists: true,
    });
    expect(await unfitSays()).toBe(
      'This project has no build of its own, but there are builds in dist/apps/api, dist/apps/web.\n' +
        'Choose one of them: run mycli bundle:push dist/apps/api',
    );
    await project([], ['apps/shop/dist/index.html'], {'apps/shop/package.json': '{"devDependencies": {"vite": "8"}}'});
    expect(await unfitSays()).toMatch(/ in apps\/shop, dist\/apps\/api, .*: run mycli bundle:push -C apps\/shop$/s);
  });

  test('detectBuild: a page that loads sources is no site', async () => {
    const page = '<script type="module" src="/src/main.tsx"></script>';
    await project(['vite'], [], {'docs/index.html': page, 'www/index.html': page});
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'dist', exists: false});
    await project([], [], {'index.html': page});
    expect(await detectBuild(root)).toBeUndefined();
  });

  test.each([
    [['next'], ['.next/BUILD_ID'], /built without an output.*Set output: 'standalone'/s],
    [
      ['@sveltejs/kit', '@sveltejs/adapter-auto'],
      ['.svelte-kit/output/server/a.js'],
      /Install @sveltejs\/adapter-node/,
    ],
    [['@builder.io/qwik', 'vite'], ['dist/q-manifest.json'], /qwik add static/],
    [['vite'], ['dist/lib.js'], /dist, the build of Vite, has no page/],
    [
      ['vite'],
      ['dist/spa/index.html', 'dist/spa/js/a.js'],
      / at its top.*, in dist\/spa\..* run mycli bundle:push dist\/spa$/s,
    ],
    [
      ['vite'],
      ['dist/apps/a/index.html', 'dist/apps/a/a.js', 'dist/apps/b/index.html', 'dist/apps/b/b.js', 'dist/apps/c/c.js'],
      /, in dist\/apps\/a, dist\/apps\/b\..* run mycli bundle:push dist\/apps\/a$/s,
    ],
    // Pages two folders down are of several sites.
    [
      ['vite'],
      ['dist/apps/web/index.html', 'dist/apps/docs/index.html', 'dist/assets/a.js'],
      /, in dist\/apps\/docs, dist\/apps\/web\..* run mycli bundle:push dist\/apps\/docs$/s,
    ],
    // Pages that share what they load.
    [
      ['vite'],
      ['dist/a/index.html', 'dist/a/b/index.html', 'dist/assets/a.js'],
      /only below it\.\nTo push that as the site, run mycli bundle:push dist --static$/,
    ],
    [['nuxt'], ['.vercel/output/config.json'], /^Nuxt was built for Vercel\.\s.*NITRO_PRESET=node-server/],
    [['astro'], ['.netlify/v1/functions/ssr/ssr.mjs', 'dist/a.css'], /^Astro was built for Netlify/],
    [['astro'], ['dist/_worker.js/index.js', 'dist/index.html'], /^Astro was built for Cloudflare\.\s.*@astrojs\/node/],
    [
      ['@angular/core'],
      ['dist/a/browser/index.html', 'dist/b/browser/index.html'],
      /several builds: .*run mycli bundle:push dist\/a/s,
    ],
    [
      ['@nestjs/core'],
      ['dist/apps/a/main.js', 'dist/apps/b/main.js'],
      /several builds: .*run mycli bundle:push dist\/apps\/a/s,
    ],
    [['vite', 'hono'], ['dist/shop/wrangler.json', 'dist/client/a.js'], /^Vite was built for Cloudflare\.\s.*plugin/],
    [
      ['@tanstack/react-start'],
      ['dist/server/wrangler.json', 'dist/server/index.js', 'dist/client/a.js'],
      /^TanStack Start was built for Cloudflare/,
    ],
    [
      ['astro', '@astrojs/node'],
      ['dist/server/wrangler.json', 'dist/server/entry.mjs', 'dist/client/a.js'],
      /^Astro was built for Cloudflare/,
    ],
    [[], ['dist/a.js', 'out/a.js'], /several builds: dist, out.*run mycli bundle:push dist$/s],
  ])('detectBuild: of %j, a build of %j says what to set', async (packages, files, text) => {
    await project(packages, files);
    expect(await unfitSays()).toMatch(text);
  });

  test('detectBuild: a Next.js build without an output is told where distDir puts it, too', async () => {
    await project(['next'], ['target/BUILD_ID'], {'next.config.mjs': "export default {distDir: 'target'};"});
    expect((await detectBuild(root))?.unfit?.problem).toMatch(/built without an output/);
  });

  test('detectBuild: a server that needs no build is told to have one', async () => {
    await project(['express'], ['server.js', 'public/index.html']);
    const missing = verifyBuildDirectory(join(root, 'dist'), {cwd: root, project: root});
    // Its public folder is no site.
    const suggestions = [expect.stringMatching(/Write one that puts these into dist: an ssr\.js /) as string];
    await expect(missing).rejects.toMatchObject({suggestions});
  });

  test('detectBuild: build is the usual folder, whatever is beside it', async () => {
    await project([], ['build/ssr.js', 'dist/a.js', '.output/b.js']);
    expect(await detectBuild(root)).toMatchObject({buildDirectory: 'build', exists: true, unfit: undefined});
  });

  test.each([
    [['build/webpack.prod.js', 'dist/index.html', 'dist/a.js'], 'dist'],
    [['build/icon.png', 'dist/index.html'], 'dist'],
    [['build/index.html', 'dist/index.html'], 'build'],
    [['build/server/a.js', 'dist/index.html'], 'build'],
    [['build/a.js', 'dist/a.js'], 'build'],
    [['build/index.js', 'dist/index.html'], 'build'],
    [['dist/a.js', 'www/index.html'], 'www'],
    [['build/build.ts'], undefined],
    [['build/webpack.prod.js'], undefined],
  ])('detectBuild: of %j, the build is %s', async (files, buildDirectory) => {
    await project([], files);
    expect((await detectBuild(root))?.buildDirectory).toBe(buildDirectory);
  });

  test('detectBuild: the built client of a server that was not built is named', async () => {
    const manifest = {scripts: {build: 'make'}, dependencies: {express: '5'}};
    await project([], ['client/build/index.html'], {
      'package.json': JSON.stringify(manifest),
      'client/package.json': '{"dependencies": {"react-scripts": "5"}}',
    });
    expect(await unfitSays()).toBe(
      'This project has no build of its own, but there are builds in client.\n' +
        'Run npm run build first, or choose one of them: run mycli bundle:push -C client',
    );
  });

  test('detectBuild: beside projects of others, in a folder that is none, nothing is named', async () => {
    const files = {'app/package.json': '{}', 'app/dist/index.html': '', 'app/index.html': ''};
    const folder = await makeFolder(files);
    expect(await detectBuild(folder)).toBeUndefined();
    const missing = verifyBuildDirectory(join(folder, 'build'), {cwd: folder, project: folder});
    await expect(missing).rejects.toMatchObject({suggestions: [expect.stringMatching(/^Build the application first/)]});
    await writeFile(join(folder, 'mycli.config.json'), '{}');
    expect(await unfitSays(folder)).toMatch(/Choose one of them: run mycli bundle:push --project-directory app$/);
  });

  test('applicationsBelow: names the applications of a workspace, built or not, unless its root is one', async () => {
    const files = ['apps/new/index.html', 'apps/own/mycli.config.json', 'packages/ui/src/a.js'];
    const packages = {'apps/new/package.json': '{"devDependencies": {"vite": "8"}}', 'apps/own/package.json': '{}'};
    await project([], files, {...packages, 'packages/ui/package.json': '{}'});
    expect(await applicationsBelow(root)).toEqual([]);
    await writeFile(join(root, 'pnpm-workspace.yaml'), '');
    expect(await applicationsBelow(root)).toEqual(['apps/new', 'apps/own']);
    await project([], ['build/ssr.js']);
    expect(await applicationsBelow(root)).toEqual([]);
  });

  test.each([['public'], ['site']])('detectBuild: %s may be a site that has no build script', async (folder) => {
    await project([], [`${folder}/index.html`]);
    expect(await detectBuild(root)).toEqual({buildDirectory: folder, static: true, exists: true, isGuess: true});
    await writeFile(join(root, 'package.json'), '{"scripts": {"build": "make"}}');
    expect(await detectBuild(root)).toBeUndefined();
  });

  test.each([['pnpm-workspace.yaml'], ['nx.json'], ['lerna.json']])(
    'detectBuild: at the root of a workspace with %s, the applications that were built are named',
    async (file) => {
      await project(['vite'], [file, 'apps/web/dist/index.html', 'apps/new/package.json', 'packages/ui/dist/a.js'], {
        'apps/web/package.json': '{}',
        'packages/ui/package.json': '{}',
      });
      const unfit = {
        problem: 'This project has no build of its own, but there are builds in apps/web.',
        advice: 'Choose one of them: run',
        instead: {projects: [{folder: 'apps/web', inherits: false}]},
      };
      expect(await detectBuild(root)).toMatchObject({exists: false, unfit});
      await writeFile(join(root, 'package.json'), '{}');
      expect(await detectBuild(root)).toEqual({buildDirectory: 'build', exists: false, static: false, unfit});
      await expect(verifyBuildDirectory(join(root, 'build'), {cwd: root, project: root})).rejects.toMatchObject({
        message: unfit.problem,
      });
      // An application whose packages are a workspace.
      await project(['vite'], ['index.html']);
      expect((await detectBuild(root))?.unfit).toBeUndefined();
    },
  );

  test.each([
    [
      '@react-router/dev',
      'build/server/index.js',
      'export {serverManifest as assets, assetsBuildDirectory, entry, routes};',
      'export {app as default, assetsBuildDirectory};',
    ],
    ['@react-router/dev', 'build/server/index.js', 'export {\n  app\n};', 'export {app, handler};'],
    [
      '@shopify/hydrogen',
      'dist/server/index.js',
      'const worker = {\n  async fetch(request, env, executionContext) {}\n};\nexport {worker as default};',
      'export {app as default};',
    ],
    [
      '@astrojs/node',
      'dist/server/entry.mjs',
      'var mode = "middleware";\nexport {handler};',
      'var mode = "standalone";\nexport {handler};',
    ],
    ['vite', 'dist/server/entry-server.js', 'export { render };', 'export { render, app as default };'],
    [
      'vike',
      'dist/server/entry.mjs',
      'globalThis.__VIKE__IS_DEV = false;\nexport {};',
      'globalThis.__VIKE__IS_DEV = false;\nserve(module.fetch);\nexport {};',
    ],
  ])('detectBuild: an entry of %s that is no server is told', async (name, path, entry, server) => {
    const packages = name === '@astrojs/node' ? ['astro', name] : [name];
    await project(packages, [path.replace(/server.*/, 'client/a.js')], {[path]: entry});
    expect((await detectBuild(root))?.unfit?.problem).toMatch(/not a server|no server|worker for Oxygen/);
    await writeFile(join(root, path), server);
    expect((await detectBuild(root))?.unfit).toBeUndefined();
  });

  test('detectBuild: routes need no entry of their own with a server beside them', async () => {
    await project(['@react-router/dev'], ['build/ssr.mjs', 'build/client/a.js'], {
      'build/server/index.js': 'export {assetsBuildDirectory, routes};',
    });
    expect((await detectBuild(root))?.unfit).toBeUndefined();
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
    expect(await detectBuild(root)).toEqual({buildDirectory: '.', static: true, exists: true, isGuess: true});
    const missing = verifyBuildDirectory(join(root, 'build'), {cwd: root, project: root});
    await expect(missing).rejects.toMatchObject({
      suggestions: [
        'The folder . looks like a static site. To use it, run mycli bundle:push .',
        'To use it always, set buildDirectory in mycli.config.',
      ],
    });
    await project([], []);
    expect(await detectBuild(root)).toMatchObject({buildDirectory: '.', static: true});
    await writeFile(join(root, 'package.json'), '{"scripts": {"build": "make"}}');
    expect(await detectBuild(root)).toBeUndefined();
  });

  test('detectBuild: a site in a folder of any name may be it, where nothing builds one', async () => {
    await project([], ['my build/index.html', 'src/a.js']);
    const site = {buildDirectory: 'my build', static: true, exists: true, isGuess: true};
    expect(await detectBuild(root)).toEqual(site);
    await project([], ['other/index.html']);
    expect(await unfitSays()).toMatch(/^There are several builds: .*\nChoose one of them: run mycli bundle:push /);
    await project([], [], {'package.json': '{"scripts": {"build": "make"}}'});
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
  test('verifyBuildDirectory: names the sites that are newer than their sources, the newest first', async () => {
    await project(
      [],
      ['public/index.html', 'web/out/index.html', 'old/index.html', 'src/a.js', 'coverage/index.html'],
      {
        'package.json': '{"scripts": {"build": "make"}}',
      },
    );
    const at = (path: string, seconds: number) => utimes(join(root, path), seconds, seconds);
    await at('src/a.js', 2_000_000);
    await at('old/index.html', 1_000_000);
    await at('public/index.html', 2_000_100);
    await at('web/out/index.html', 2_000_200);
    await expect(verifyBuildDirectory(join(root, 'build'), {cwd: root, project: root})).rejects.toMatchObject({
      suggestions: [
        'web/out looks like a site that was built. To use it, run mycli bundle:push web/out',
        'public looks like a site that was built. To use it, run mycli bundle:push public',
        'Build the application first. If it builds into another folder, set buildDirectory in mycli.config, ' +
          'or run mycli bundle:push DIR',
      ],
    });
    const places = {cwd: root, project: join(root, 'src'), command: []};
    await expect(verifyBuildDirectory(join(root, 'src/build'), places)).rejects.toMatchObject({
      suggestions: [
        'Build the application first. If it builds into another folder, set buildDirectory in mycli.config.',
      ],
    });
  });

  test('verifyBuildDirectory: suggests to build an application, never to push its sources', async () => {
    await project(['vite'], ['index.html'], {
      'package.json': JSON.stringify({scripts: {build: 'vite build'}, devDependencies: {vite: '8'}}),
    });
    await expect(verifyBuildDirectory(join(root, 'build'), {cwd: root, project: root})).rejects.toMatchObject({
      code: 'ERR_BUILD_DIRECTORY',
      suggestions: [
        'Build the application first: npm run build',
        'Vite builds into dist. To use it, run mycli bundle:push dist',
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
    // Its server/index.js exports no server.
    ['waku', 'serve-node.js', ['server/index.js', 'public/index.html']],
    // Others build the same.
    [expect.any(String), 'server/index.js', ['client/a.js']],
  ])('findServer: the server of %s is %s', async (id, entry, files) => {
    await project([], [entry, ...files]);
    expect(await findServer(root)).toMatchObject({framework: {id}, entry});
  });

  test('findServer: a site has none', async () => {
    await project([], ['index.html', 'assets/index.js']);
    expect(await findServer(root)).toBeUndefined();
  });
});

test('frameworks: each has an ID of its own, and each project is of a row', () => {
  const ids = frameworks.map(({id}) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids).toEqual(expect.arrayContaining(zooProjects.flatMap(({framework = []}) => framework)));
});
