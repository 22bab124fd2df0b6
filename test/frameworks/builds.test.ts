import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {planBundle} from '../../src/bundle/plan.js';
import {makeFolder, writeTree} from '../folder.js';

let root: string;
beforeEach(async () => {
  root = await makeFolder();
});

/** Writes a project with one dependency. */
async function write(dependency: string, files: Readonly<Record<string, string>>) {
  const all = {'package.json': JSON.stringify({dependencies: {[dependency]: '1'}}), ...files};
  await writeTree(root, all);
}

const plan = (options: Readonly<Record<string, unknown>> = {}) =>
  planBundle({format: 'v1', projectSlug: 'shop', cwd: root, now: () => new Date(), env: {}, ...options});

const pathsOf = async (mark: 'ssrOnly' | 'ssrShared', options = {}) =>
  (await plan(options)).files.filter((file) => file[mark]).map(({path}) => path);

describe('Storefront Next', () => {
  const build = {
    'build/server/index.js': '',
    'build/server/chunks/a.js': '',
    'build/loader.js': '',
    'build/streamingHandler.mjs': '',
    'build/sfnext-server-jiti-1.mjs': '',
    'build/package.json': '{}',
    'build/client/app.js': '',
    'build/logo.svg': '<svg/>',
    'build/secret.js': '',
  };
  const serverFiles = [
    'loader.js',
    'package.json',
    'server/chunks/a.js',
    'server/index.js',
    'sfnext-server-jiti-1.mjs',
    'streamingHandler.mjs',
  ];

  test('Storefront Next: the lists under runtime come before those of the framework', async () => {
    await write('@example/storefront-next-dev', {
      ...build,
      'config.server.ts': `export default {
        app: {}, runtime: {ssrOnly: ['secret.js'], ssrParameters: {ssrFunctionNodeVersion: '22.x', envBasePath: ''}}};`,
    });
    const {config} = await plan();
    expect(config.ssrOnly.slice(0, 2)).toEqual(['secret.js', 'server/**/*']);
    expect(await pathsOf('ssrOnly')).toEqual([...serverFiles, 'secret.js'].toSorted());
    expect(await pathsOf('ssrShared')).toEqual(['client/app.js', 'logo.svg']);
    expect(config.ssrParameters).toEqual({ssrFunctionNodeVersion: '22.x'});
  });

  test('Storefront Next: without a configuration, the server code is not public', async () => {
    await write('@example/storefront-next-dev', build);
    expect(await pathsOf('ssrOnly')).toEqual(serverFiles);
    const {sources, config} = await plan({format: 'v2'});
    expect(sources).toContainEqual({setting: 'ssrOnly', from: 'Storefront Next'});
    // In strict mode, a pattern that matches no file refuses the bundle.
    expect(config.ssrOnly).not.toContain('{streamingHandler,ssr}.{js,mjs,cjs}.map');
  });
});

describe('PWA Kit', () => {
  const build = {'build/ssr.js': '', 'build/main.js': '', 'build/static/a.css': ''};
  const settings = (parameters: object) =>
    `module.exports = ${JSON.stringify({ssrOnly: ['ssr.js', 'none.js'], ssrShared: ['main.js'], ssrParameters: parameters})}`;

  test('PWA Kit: the parameters and lists of config/default.js are sent', async () => {
    const proxyConfigs = [{host: 'api.example', path: 'api'}];
    await write('@example/pwa-kit-dev', {
      ...build,
      'config/default.js': settings({ssrFunctionNodeVersion: '22.x', proxyConfigs}),
    });
    const {config, sources, warnings} = await plan();
    expect(config.ssrParameters).toEqual({ssrFunctionNodeVersion: '22.x', proxyConfigs});
    expect(config.ssrOnly).toEqual(['ssr.js']);
    expect(sources).toContainEqual({setting: 'ssrOnly', from: 'config/default.js'});
    expect(warnings).toEqual([]);
  });

  test('PWA Kit: the environment picks the file, then local, then default; the build comes first', async () => {
    await write('@example/pwa-kit-dev', {
      ...build,
      'config/default.js': settings({from: 'default'}),
      'config/staging.json': JSON.stringify({ssrParameters: {from: 'staging'}}),
    });
    const from = async (env = {}) => (await plan({env})).config.ssrParameters['from'];
    expect(await from()).toBe('default');
    expect(await from({DEPLOY_TARGET: 'staging'})).toBe('staging');
    await writeFile(join(root, 'config/local.js'), settings({from: 'local'}));
    expect(await from()).toBe('local');
    await write('@example/pwa-kit-dev', {'build/config/default.js': settings({from: 'build'})});
    expect(await from()).toBe('build');
  });

  test('PWA Kit: without a file, package.json has its settings', async () => {
    await write('@example/pwa-kit-dev', build);
    const manifest = {dependencies: {'@example/pwa-kit-dev': '1'}, mobify: {ssrParameters: {from: 'mobify'}}};
    await writeFile(join(root, 'package.json'), JSON.stringify(manifest));
    expect((await plan()).config.ssrParameters).toMatchObject({from: 'mobify'});
  });

  test.each([
    ['config/default.js', 'module.exports = {app: {}};', ', but app'],
    ['config/default.js', "export const ssrOnly = ['ssr.js'];", ''],
    ['config/local.json', '{}', ''],
  ])('PWA Kit: settings in %s with none of the known keys are refused: %s', async (file, text, has) => {
    await write('@example/pwa-kit-dev', {...build, [file]: text});
    await expect(plan()).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: `${join(root, file)} exports none of ssrOnly, ssrShared, ssrParameters${has}.`,
    });
  });

  test('PWA Kit: settings are found in a folder with any name', async () => {
    for (const folder of ['h#sh', 'a%20b', 'wh?t']) {
      root = join(await makeFolder(), folder);
      await write('@example/pwa-kit-dev', {
        ...build,
        'build/secret.js': '',
        'config/base.ts': "export const ssrOnly = ['ssr.js', 'secret.js'];",
        'config/default.js': "const {ssrOnly} = require('./base'); module.exports = {ssrOnly, ssrShared: ['main.js']};",
      });
      expect(await pathsOf('ssrOnly')).toEqual(['secret.js', 'ssr.js']);
    }
  });

  test('PWA Kit: settings in YAML are refused, not overlooked', async () => {
    await write('@example/pwa-kit-dev', {...build, 'config/default.yml': 'ssrOnly: []'});
    await expect(plan()).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(/default\.yml is YAML/) as string,
      suggestions: ['Write the settings as .js or .json.'],
    });
  });
});

describe('planBundle', () => {
  test('Preact CLI: the bundle that its prerendering runs is left out', async () => {
    await write('preact-cli', {
      'build/index.html': '',
      'build/bundle.js': '',
      'build/ssr-build/ssr-bundle.js': '',
      'build/ssr-build/ssr-bundle.js.map': '',
    });
    const {files} = await plan({static: true});
    expect(files.map(({path}) => path)).toEqual(['bundle.js', 'index.html']);
  });

  test('planBundle: one Node version is sent, whichever way it is spelled', async () => {
    await write('none', {'build/ssr.js': '', 'build/static/a.js': ''});
    const parameters = async (ssrParameters?: object) => (await plan({ssrParameters})).config.ssrParameters;
    expect(await parameters()).toEqual({SSRFunctionNodeVersion: '24.x'});
    expect(await parameters({ssrFunctionNodeVersion: '22.x'})).toEqual({ssrFunctionNodeVersion: '22.x'});
    expect(await parameters({SSRFunctionNodeVersion: '20.x'})).toEqual({SSRFunctionNodeVersion: '20.x'});
  });

  test('planBundle: a configuration with none of the known keys is a warning that names its keys', async () => {
    await write('none', {
      'build/ssr.js': '',
      'build/static/a.js': '',
      'config.server.js': "export default {app: {}, server: {ssrOnly: ['x.js']}};",
    });
    const {warnings} = await plan();
    expect(warnings).toContain(
      'config.server.js exports none of ssrOnly, ssrShared, ssrParameters, but app, server. The defaults apply.',
    );
  });

  test('planBundle: names the packages that the server imports and the bundle lacks', async () => {
    await write('@react-router/dev', {
      'build/server/index.js': "import 'node:fs';\nimport {a} from './chunks/a.js';\nimport 'own';\nexport default a;",
      'build/server/chunks/a.js':
        "import './near.js';\nimport React from 'react';\nimport '@scope/part/sub';\nexport const a = import('later');",
      'build/server/chunks/near.js': "import 'near';",
      'build/server/chunks/node_modules/near/index.js': '',
      'build/node_modules/own/index.js': '',
      'build/client/a.js': '',
    });
    const {warnings} = await plan();
    expect(warnings.join('\n')).toContain(
      'server/index.js imports packages that are not in the bundle: @scope/part, react.',
    );
  });

  test('planBundle: names the packages that CommonJS of TypeScript needs', async () => {
    await write('express', {
      'dist/ssr.js':
        '"use strict";\nconst tslib_1 = require("tslib");\nconst app_1 = tslib_1.__importDefault(require("./app"));',
      'dist/app.js': 'const express_1 = __importDefault(require("express"));\nconst pg = __importStar(require("pg"));',
    });
    const {warnings} = await plan({buildDirectory: 'dist'});
    expect(warnings.join('\n')).toContain('packages that are not in the bundle: express, pg, tslib.');
  });

  test.each([
    [
      'export default app;',
      /only has main\.js\. Add an ssr\.mjs to the build: export \{default\} from '\.\/main\.js';$/,
    ],
    ['await app.listen(3000);\nexport const a = 1;', /Export the app or its handler from main\.js as default, and add/],
  ])('planBundle: a program without an ssr.js, %j, is told what to add', async (source, advice) => {
    await write('@nestjs/core', {'dist/main.js': source, 'dist/public/a.js': ''});
    const {warnings} = await plan({buildDirectory: 'dist'});
    expect(warnings).toEqual([expect.stringMatching(advice)]);
    await write('@nestjs/core', {'dist/ssr.mjs': "export {default} from './main.js';"});
    expect((await plan({buildDirectory: 'dist'})).warnings).toEqual([]);
  });

  test('planBundle: tells how to complete a standalone build of Next.js', async () => {
    await write('next', {
      '.next/standalone/server.js': '',
      '.next/standalone/.next/static/a.js': '',
      '.next/static/a.js': '',
      'public/robots.txt': '',
    });
    const {warnings} = await plan({buildDirectory: '.next/standalone'});
    expect(warnings).toContain(
      "Next.js doesn't copy public into the build. Before the push, run: cp -r public .next/standalone/",
    );
    await write('next', {'.next/standalone/public/robots.txt': ''});
    expect((await plan({buildDirectory: '.next/standalone'})).warnings).toEqual([]);
  });

  test('planBundle: a SvelteKit build with both adapters keeps its server code', async () => {
    await write('@sveltejs/kit', {
      'build/index.js': '',
      'build/handler.js': '',
      'build/server/index.js': '',
      'build/client/a.js': '',
    });
    expect(await pathsOf('ssrOnly')).toEqual(['handler.js', 'index.js', 'server/index.js']);
    expect(await pathsOf('ssrShared')).toEqual(['client/a.js']);
  });
});
