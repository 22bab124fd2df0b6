import {symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {checkArchivedScripts, openBundle, planBundle, verifyMarks, writeBundle} from '../../../src/bundle/index.js';
import {makeFolder, type Tree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

type Options = Parameters<typeof planOptions>[1];

async function warningsOf(tree: Tree, options: Options = {}): Promise<readonly string[]> {
  return (await planBundle(planOptions(await makeFolder(tree), options))).warnings;
}

async function refusalOf(tree: Tree, options: Options): Promise<unknown> {
  return planBundle(planOptions(await makeFolder(tree), options)).catch((error: unknown) => error);
}

describe('scripts and dot files that are neither server-only nor shared', () => {
  test.each<[what: string, tree: Tree, options: Options, names: string, advice: string]>([
    [
      'at the top, by default',
      {'ssr.js': '', 'main.js': '', 'vendor.js': '', 'static/a.js': ''},
      {},
      'main.js, vendor.js',
      'pass --ssr-only ssr.js,main.js,vendor.js',
    ],
    [
      'of a server elsewhere, by default',
      {'ssr.mjs': '', '.output/server/index.mjs': '', '.output/public/_nuxt/a.js': ''},
      {},
      '.output/server/index.mjs, .output/public/_nuxt/a.js',
      "pass --ssr-only 'ssr.mjs,.output/**'",
    ],
    [
      'of browsers in another folder, by default',
      {'server/server.mjs': '', 'browser/main.js': ''},
      {},
      'browser/main.js',
      'set ssrOnly or ssrShared (--ssr-only GLOB or --ssr-shared GLOB).',
    ],
    [
      'dot files and folders beside given patterns',
      {'ssr.js': '', 'server/x.mjs': '', 'server/.config.json': '', 'server/.data/.db/x': '', '.well-known/a.js': ''},
      {ssrOnly: ['ssr.js', 'server/**/*'], ssrShared: []},
      'server/.config.json, server/.data/.db/x',
      "pass --ssr-only 'ssr.js,server/**/*,server/**/.*,server/**/.*/**/.*/**'",
    ],
    [
      'in a folder that a given pattern means',
      {
        'ssr.mjs': '',
        'app/run.js': '',
        'app/node_modules/.prisma/x': '',
        'app/lib/a.mjs': '',
        'public/.x': '',
        'a.txt': '',
      },
      {ssrOnly: ['ssr.mjs', 'app/**/*.js']},
      'app/lib/a.mjs, app/node_modules/.prisma/x',
      "pass --ssr-only 'ssr.mjs,app/**/*.js,app/lib/*.mjs,app/**/.*/**'",
    ],
    [
      'in a server folder that given patterns forget, and in a name with a comma',
      {'ssr.js': '', 'server/a.mjs': '', 'a,b.js': ''},
      {ssrOnly: ['ssr.js'], ssrShared: []},
      'server/a.mjs, a,b.js',
      `pass --ssr-only '["ssr.js","server/**/*","a,b.js"]'`,
    ],
  ])('are told with the list that covers them: %s', async (_what, tree, options, names, advice) => {
    const build = Object.fromEntries(Object.entries(tree).map(([path, content]) => [`build/${path}`, content]));
    const [warning, ...more] = await warningsOf(build, options);
    expect(more).toEqual([]);
    expect(warning).toContain(
      `These files are neither server-only nor shared: ${names}. Anyone can download them. If `,
    );
    expect(warning?.endsWith(advice), warning).toBe(true);
    // Followed, it leaves no warning, and no file that was the server's is public.
    const [, list] = /--ssr-only '?([^']+)'?$/.exec(warning ?? '') ?? [];
    if (list === undefined || !advice.startsWith('pass')) return;
    const ssrOnly = list.startsWith('[') ? (JSON.parse(list) as string[]) : list.split(',');
    expect(await warningsOf(build, {...options, ssrOnly, ssrShared: []})).toEqual([]);
  });

  test('are not told where they are shared, excluded, for visitors, of a cache, or secrets', async () => {
    const others = {'build/server/public.mjs': '', 'build/static/other.js': ''};
    const tree = {...smallBuild, ...others, 'build/main.js': '', 'build/.turbo/a': '', 'build/.env': ''};
    const ssrOnly = ['ssr.js', 'server/*', '!server/public.mjs', 'static/app.js'];
    const options = {ssrOnly, ssrShared: ['*.js'], allowSensitiveFiles: true};
    expect(await warningsOf(tree, options)).toEqual([
      expect.stringContaining('that may hold secrets'),
      expect.stringContaining("a framework's cache"),
    ]);
    const many = Object.fromEntries(Array.from({length: 9}, (_, number) => [`build/${String(number)}.js`, '']));
    expect((await warningsOf({...smallBuild, ...many}))[0]).toContain('0.js, 1.js, 2.js, 3.js, 4.js, and 4 more');
  });

  test('of packages are told with the list that keeps them for the server, and matches something each', async () => {
    const tree = {...smallBuild, 'build/node_modules/a/index.js': '', 'build/node_modules/.pnpm/b/.x/c.js': ''};
    const [warning, ...more] = await warningsOf(tree);
    expect(more).toEqual([]);
    const [, list = ''] = /if the server needs it, --ssr-only '(.*)'$/.exec(warning ?? '') ?? [];
    expect(list).toMatch(/,node_modules\/\*\*\/\*,node_modules\/\*\*\/\.\*\/\*\*\/\.\*\/\*\*$/);
    expect(await warningsOf(tree, {ssrOnly: list.split(',')})).toEqual([]);
    expect(await warningsOf(tree, {ignore: ['/node_modules/']})).toEqual([]);
  });

  test('that a v2 service would start are told even if they are shared', async () => {
    expect(await warningsOf(smallBuild, {ssrOnly: ['server/**'], ssrShared: ['*.js', 'static/*']})).toEqual([
      'Anyone could download the code of the server, because it is not server-only: ssr.js. ' +
        "Pass --ssr-only 'server/**,ssr.js'",
    ]);
  });
});

describe('v1', () => {
  const v1 = {format: 'v1'} as const;

  test('a bundle without a server-only file is refused: patterns of another case, exclusions, a link', async () => {
    expect(await refusalOf(smallBuild, {...v1, ssrOnly: ['Server/**']})).toMatchObject({
      code: 'ERR_SSR_ENTRY_MISSING',
      exitCode: 3,
      message: 'The build has no server-only file. Anyone could download all of it.',
      suggestions: expect.arrayContaining([
        'The ssrOnly pattern "Server/**" matches no file. The closest is "server/render.js".',
      ]) as unknown,
    });
    const none = {code: 'ERR_SSR_ENTRY_MISSING'};
    expect(await refusalOf(smallBuild, {...v1, ssrOnly: ['**/*', '!**/*.js']})).toMatchObject(none);
    const cwd = await makeFolder({'build/static/a.js': ''});
    await symlink('static/a.js', join(cwd, 'build/ssr.js'));
    await expect(planBundle(planOptions(cwd, v1))).rejects.toMatchObject(none);
    await expect(planBundle(planOptions(cwd, {...v1, static: true, allowSensitiveFiles: true}))).resolves.toBeDefined();
  });

  test('an entry among the public files is refused, with the list that covers it', async () => {
    expect(await refusalOf(smallBuild, {...v1, ssrOnly: ['server/**'], ssrShared: ['*.js']})).toMatchObject({
      code: 'ERR_SSR_ENTRY_PUBLIC',
      exitCode: 3,
      suggestions: ["Make it server-only: pass --ssr-only 'server/**,ssr.js'"],
      details: {files: ['ssr.js'], count: 1},
    });
    expect(await refusalOf(smallBuild, {...v1, ssrOnly: ['**/*', '!ssr.js']})).toMatchObject({
      suggestions: ['Make it server-only: pass --ssr-only GLOB, with a list that does not exclude them'],
    });
  });

  test.each([
    ['no server-only file', [], 'ERR_SSR_ENTRY_MISSING', /^Build it again with --ssr-only GLOB, or with --static/],
    ['a public entry', ['a.js'], 'ERR_SSR_ENTRY_PUBLIC', /^Build the archive again with --ssr-only a\.js,ssr\.js$/],
  ] as const)('an archive with %s is refused', (_what, ssrOnly, code, advice) => {
    const files = [...ssrOnly, 'ssr.js'].map((path) => {
      return {path, size: 1, executable: false, ssrOnly: path !== 'ssr.js', ssrShared: false};
    });
    expect(() => {
      verifyMarks({format: 'v1', files, patterns: ['a.js']});
    }).toThrow(expect.objectContaining({code, suggestions: [expect.stringMatching(advice)]}) as Error);
  });
});

test('an archive without its manifest, which nobody checked, is refused if it publishes code of a server', async () => {
  const cwd = await makeFolder({...smallBuild, 'build/api.js': "require('node:http').createServer().listen(80);"});
  const plan = await planBundle(planOptions(cwd, {allowSensitiveFiles: true}));
  for (const manifest of [false, true]) {
    const {path} = await writeBundle(plan, {path: join(cwd, 'bundle'), manifest});
    const checking = checkArchivedScripts(await openBundle(path));
    if (manifest) await expect(checking).resolves.toEqual([]);
    else await expect(checking).rejects.toMatchObject({code: 'ERR_SSR_ENTRY_PUBLIC', details: {files: ['api.js']}});
  }
});

test('what the server imports is refused, unless it is for browsers, too', async () => {
  const tree = {...smallBuild, 'build/ssr.js': "import './lib/a.js';\nimport './static/app.js';", 'build/lib/a.js': ''};
  const error = {code: 'ERR_SSR_ENTRY_PUBLIC', details: {files: ['lib/a.js']}};
  expect(await refusalOf(tree, {})).toMatchObject(error);
  expect(await warningsOf(tree, {ssrOnly: ['ssr.js', 'server/*', 'lib/*'], ssrShared: ['static/*']})).toEqual([]);
});

test('a script that no browser can load is told', async () => {
  expect(await warningsOf({...smallBuild, 'build/static/app.js': "import 'three';"})).toEqual([
    'No browser can load these scripts, because they import packages by name: static/app.js (imports three). ' +
      'Bundle them, or name the packages in an import map of the page.',
  ]);
});

test.each(['v1', 'v2'] as const)('%s: the entry and the packages of a framework are never public', async (format) => {
  const tree = {
    'package.json': '{"dependencies": {"next": "1"}}',
    'build/server.js': '',
    'build/.next/static/a.js': '',
    'build/node_modules/a/index.js': '',
  };
  for (const [ssrOnly, exposed] of [
    [['node_modules/**'], ['server.js']],
    [['server.js'], ['node_modules/a/index.js']],
  ] as const) {
    expect(await refusalOf(tree, {format, ssrOnly, ssrShared: ['.next/static/**']})).toMatchObject({
      code: 'ERR_SSR_ENTRY_PUBLIC',
      details: {files: exposed},
    });
  }
});

describe('a build with a server and no public file', () => {
  const hidden = (from: string) =>
    `With the lists of ${from}, every file is server-only: browsers can load no script, style or image.`;
  const nuxt = {
    'package.json': '{"dependencies": {"nuxt": "4"}}',
    'build/nitro.json': '{}',
    'build/server/index.mjs': '',
    'build/www/app.js': '',
  };

  test('is told with the folders that its framework makes public, which are elsewhere', async () => {
    expect(await warningsOf(nuxt)).toEqual([
      `${hidden('Nuxt')} Nuxt has them in public. Unless the app is only an API, check that the build is complete, ` +
        'or choose its server-only files with --ssr-only GLOB.',
    ]);
    expect(await warningsOf({...nuxt, 'build/nitro.json': '{"publicDir": "www"}'})).toEqual([]);
    expect(await warningsOf({...nuxt, 'build/public/app.js': ''})).toEqual([]);
  });

  test('is told of the lists in a configuration, not of those that are passed', async () => {
    const ofProject = "export default {ssrOnly: ['**/*'], ssrShared: []};";
    expect(await warningsOf({...smallBuild, 'config.server.mjs': ofProject})).toEqual([
      expect.stringMatching(`^${hidden('config.server.mjs')} Unless `),
    ]);
    expect(await warningsOf(smallBuild, {ssrOnly: ['**/*'], ssrShared: []})).toEqual([]);
    expect(await warningsOf({'build/ssr.js': ''})).toEqual([]);
  });
});
