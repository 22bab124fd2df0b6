import {describe, expect, test} from 'vitest';
import {planBundle} from '../../../src/bundle/index.js';
import {makeFolder, type Tree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

type Options = Parameters<typeof planOptions>[1];

const plan = async (tree: Tree, options: Options = {}) =>
  planBundle(planOptions(await makeFolder({...smallBuild, ...tree}), options));
const warningsOf = async (tree: Tree, options: Options = {}) => (await plan(tree, options)).warnings;

describe('planBundle', () => {
  test.each([
    ['backup.sql', 'a database dump'],
    ['dump.sql.gz', 'a database dump'],
    ['data/shop.sqlite3', 'a database'],
    ['dev.db', 'a database'],
    ['config.json.bak', 'a backup'],
  ])('planBundle: %s is no visitor’s, and refused', async (path, reason) => {
    const tree = {[`build/static/${path}`]: ''};
    await expect(plan(tree)).rejects.toMatchObject({
      code: 'ERR_SENSITIVE_FILES',
      message: `The build would publish files that are not for visitors: static/${path} (${reason}).`,
    });
    expect(await warningsOf(tree, {allowSensitiveFiles: true})).toEqual([expect.stringContaining(`static/${path}`)]);
    expect(await warningsOf(tree, {ignore: [path.split('/').at(-1) ?? '']})).toEqual([]);
    expect(await warningsOf({[`build/server/${path}`]: ''})).toEqual([]);
  });

  test.each([
    ...['app.ts', 'main.tsx', 'App.vue', 'App.svelte', 'app.py', 'app.rb', 'main.go', 'deploy.sh'].map((name) => [
      name,
      'a source',
    ]),
    ...['package.json', 'pnpm-lock.yaml', 'composer.json'].map((name) => [name, 'the packages of the project']),
    ...['tsconfig.app.json', 'vite.config.mts', 'Makefile'].map((name) => [name, 'configuration of a build']),
    ...['Dockerfile', 'docker-compose.prod.yml', 'compose.yaml'].map((name) => [name, 'configuration of containers']),
    ...['.vscode/settings.json', '.idea/workspace.xml', '.editorconfig'].map((name) => [
      name,
      'configuration of an editor',
    ]),
    ...['.github/workflows/a.yml', '.gitlab-ci.yml'].map((name) => [name, 'configuration of CI']),
    ['prisma/schema.prisma', 'a database schema'],
    ['index.html.old', 'a backup'],
  ])('planBundle: of %s, a warning tells', async (path, reason) => {
    const told = `The bundle publishes files that no visitor needs: static/a/${path} (${reason}). Exclude them in .bundleignore`;
    expect(await warningsOf({[`build/static/a/${path}`]: ''})).toContainEqual(expect.stringContaining(told));
  });

  test('planBundle: what no visitor needs may be for the server, and stays in the bundle as the warning says', async () => {
    const tree = {'build/package.json': '{}'};
    const ssrOnly = ['ssr.js', 'server/**/*'];
    expect(await warningsOf(tree, {ssrOnly})).toEqual([
      'The bundle publishes files that no visitor needs: package.json (the packages of the project). Exclude them in ' +
        ".bundleignore, unless the server needs them: then pass --ssr-only 'ssr.js,server/**/*,package.json'",
    ]);
    const {warnings, files} = await plan(tree, {ssrOnly: [...ssrOnly, 'package.json']});
    expect(warnings).toEqual([]);
    expect(files).toContainEqual(expect.objectContaining({path: 'package.json', ssrOnly: true}));
  });

  test.each([
    ['types beside a script', ['lib.d.ts', 'lib.d.mts']],
    ['a stream of video', ['video/1.ts', 'video/2.ts', 'video/all.m3u8']],
    ['a database that a page reads', ['shop.sqlite', 'lib/sql-wasm.wasm']],
    ['what its name only resembles', ['packages.json', 'map', 'sql.js', 'tsconfig.html', 'github/a.html', 'a.db.html']],
  ])('planBundle: %s is for visitors', async (_, paths) => {
    expect(await warningsOf(Object.fromEntries(paths.map((path) => [`build/static/${path}`, ''])))).toEqual([]);
  });

  test('planBundle: public source maps are counted, unless they are allowed or usual', async () => {
    const maps = {'build/static/a.js.map': '', 'build/static/b.css.map': '', 'build/server/a.js.map': ''};
    expect(await warningsOf(maps)).toEqual([
      'The bundle publishes source maps (files: 2), from which anyone can read the sources: static/a.js.map, ' +
        'static/b.css.map. Add *.map to .bundleignore to exclude them, or set allowSourceMaps: true in mycli.config.',
    ]);
    expect(await warningsOf(maps, {allowSourceMaps: true})).toEqual([]);
    const gatsby = {
      'package.json': '{"dependencies": {"gatsby": "5"}}',
      'public/index.html': '',
      'public/a.js.map': '',
    };
    expect(await warningsOf(gatsby, {buildDirectory: 'public', static: true})).toEqual([]);
  });
});
