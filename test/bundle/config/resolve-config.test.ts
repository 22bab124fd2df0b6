import {execFileSync} from 'node:child_process';
import {mkdir, mkdtemp, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import picomatch from 'picomatch';
import {describe, expect, test} from 'vitest';
import {planBundle, type BundleFormat, type BundlePlan, type BundlePlanOptions} from '../../../src/bundle/index.js';
import {makeFolder, writeTree, type Tree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

async function plan(tree: Tree, options: Partial<BundlePlanOptions> = {}): Promise<BundlePlan> {
  return planBundle(planOptions(await makeFolder({...smallBuild, ...tree}), options));
}

const onDisk = 'build/.runtime/config.json';
const bomb = "throw new Error('this file must not be executed');";

const sourceOf = ({sources}: BundlePlan, setting: string): string | undefined =>
  sources.find((source) => source.setting === setting)?.from;

test('an on-disk configuration keeps SSR parameters as they are written, and refuses a key that would be lost', async () => {
  const {config} = await plan({[onDisk]: '{"ssrOnly": ["ssr.js"], "ssrParameters": {"v": 3.10}, "other": 3.10}'});
  expect(config).toMatchObject({ssrParameters: {v: '3.10'}, other: 3.1});
  await expect(plan({[onDisk]: '{"ssrOnly": ["ssr.js"], "constructor": 1}'})).rejects.toThrow('named __proto__,');
});

describe('defaults', () => {
  test('are those that match a file of this build', async () => {
    const result = await plan({});
    expect(result.config).toEqual({
      ssrOnly: ['ssr.js', 'server/**/*'],
      ssrShared: ['static/**/*'],
      ssrParameters: {SSRFunctionNodeVersion: '24.x'},
    });
    expect(result.sources).toEqual([
      {setting: 'ssrOnly', from: 'default'},
      {setting: 'ssrShared', from: 'default'},
      {setting: 'ssrParameters', from: 'default'},
      {setting: 'message', from: 'option'},
    ]);
    expect(result).toMatchObject({
      rootDir: 'bld',
      configPath: '.runtime/config.json',
      matchMode: 'strict',
      compressionLevel: 6,
      warnings: [],
    });
    expect(result.files.map(({path, ssrOnly, ssrShared}) => [path, ssrOnly, ssrShared])).toEqual([
      ['server/render.js', true, false],
      ['ssr.js', true, false],
      ['static/app.js', false, true],
    ]);
  });

  test('of ssrOnly cover everything below server, names that begin with a dot at any depth too', async () => {
    const name = fc.constantFrom('a', '.b', 'c.js', '.d.json', '.e', '...', '[f]', '{g}', '!h', ' ');
    const paths = fc.array(fc.array(name, {minLength: 1, maxLength: 6}), {minLength: 1, maxLength: 5});
    const cwd = await makeFolder();
    await fc.assert(
      fc.asyncProperty(paths, fc.constantFrom<BundleFormat>('v1', 'v2'), async (names, format) => {
        const folder = await mkdtemp(join(cwd, 'x-'));
        await writeTree(folder, smallBuild);
        for (const parts of names)
          await writeTree(folder, {[`build/server/${parts.join('/')}`]: ''}).catch(() => undefined);
        const {files, config} = await planBundle(planOptions(folder, {format, cwd: folder}));
        const open = files.filter(({path, ssrOnly}) => path.startsWith('server/') && !ssrOnly);
        expect(open).toEqual([]);
        // A strict server finds a file for each.
        for (const pattern of config.ssrOnly) {
          const isMatch = picomatch(pattern, {windows: false});
          expect(
            files.some(({path}) => isMatch(path)),
            pattern,
          ).toBe(true);
        }
      }),
      {numRuns: 60},
    );
  });

  test('of ssrOnly must match something', async () => {
    const cwd = await makeFolder({'build/index.html': ''});
    await expect(planBundle(planOptions(cwd))).rejects.toMatchObject({
      code: 'ERR_SSR_ENTRY_MISSING',
      message: expect.stringContaining('Looked for ssr.js, ssr.mjs, server/**/*'),
      suggestions: [
        expect.stringContaining('--static'),
        expect.stringContaining('--ssr-only'),
        expect.stringContaining('--build-directory'),
      ],
    });
    expect((await planBundle(planOptions(cwd, {ssrOnly: ['index.html']}))).config).toMatchObject({ssrShared: []});
  });
});

describe('static', () => {
  const site = {'build/index.html': '', 'build/assets/app.js': '', 'build/.well-known/security.txt': ''};

  test.each(['v1', 'v2'] as const)('shares every file of a %s bundle, and none is server-only', async (format) => {
    const cwd = await makeFolder(site);
    const result = await planBundle(planOptions(cwd, {format, static: true}));
    expect(result.config).toMatchObject({ssrOnly: [], ssrShared: ['**/*', '**/.*/**/*']});
    expect(result.files.map(({ssrOnly, ssrShared}) => [ssrOnly, ssrShared])).toEqual(Array(3).fill([false, true]));
    expect(result.warnings).toEqual([]);
    expect(result.matchMode).toBe(format === 'v2' ? 'ignore_missing' : undefined);
    expect(sourceOf(result, 'ssrShared')).toBe('static');
  });

  test('wins over configuration files, whose parameters hold, and not over a match mode', async () => {
    const cwd = await makeFolder({
      ...site,
      'config.server.js': "export default {ssrOnly: ['index.html'], ssrParameters: {a: 1}}",
    });
    expect(await planBundle(planOptions(cwd, {static: true, matchMode: 'strict'}))).toMatchObject({
      matchMode: 'strict',
      config: {ssrOnly: [], ssrShared: ['**/*', '**/.*/**/*'], ssrParameters: {a: 1}},
    });
  });

  test('does not go with patterns', async () => {
    await expect(plan({}, {static: true, ssrShared: ['a.js']})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message:
        'static cannot be combined with patterns, because it shares every file; ssrShared is for a site with server code.',
      suggestions: ['Remove the patterns, or do not make it a static site.'],
    });
  });
});

describe('config.server', () => {
  test('.ts over .js over .mjs, and the project over the build', async () => {
    const files = {
      'config.server.ts': "export default {ssrOnly: ['*.ts'], ssrShared: []};",
      'config.server.js': "module.exports = {ssrOnly: ['*.js'], ssrShared: []};",
      'config.server.mjs': "export default {ssrOnly: ['*.mjs'], ssrShared: []};",
      'build/config.server.js': "module.exports = {ssrOnly: ['compiled'], ssrShared: []};",
    };
    for (const [name, pattern] of [
      ['config.server.ts', '*.ts'],
      ['config.server.js', '*.js'],
      ['config.server.mjs', '*.mjs'],
      ['build/config.server.js', 'compiled'],
    ] as const) {
      expect((await plan(files)).config.ssrOnly, name).toEqual([pattern]);
      Reflect.deleteProperty(files, name);
    }
  });

  test('projectDirectory is where config.server is looked for', async () => {
    const tree = {
      'config.server.ts': bomb,
      'app/config.server.js': "module.exports = {config: {ssrOnly: ['ssr.js']}};",
    };
    const result = await plan(tree, {projectDirectory: 'app'});
    expect(sourceOf(result, 'ssrOnly')).toBe('app/config.server.js');
  });

  test.each([
    ['a named export config', "export const config = {ssrOnly: ['ssr.js']};"],
    ['a default export holding config', "export default {config: {ssrOnly: ['ssr.js']}};"],
    ['a default export', "export default {ssrOnly: ['ssr.js']};"],
    ['a promise awaited', "export default await Promise.resolve({ssrOnly: ['ssr.js']});"],
  ])('config.server may be %s', async (_what, text) => {
    expect((await plan({'config.server.ts': text})).config.ssrOnly).toEqual(['ssr.js']);
  });
});

describe('metadata and other keys', () => {
  test('are not there when nobody gives them, and never come from config.server', async () => {
    const tree = {'config.server.ts': "export default {bundleMetadata: {ccOverrides: ['x']}, flavour: 1};"};
    expect(Object.keys((await plan(tree)).config).sort()).toEqual(['ssrOnly', 'ssrParameters', 'ssrShared']);
  });

  test('other keys of the option are dropped', async () => {
    const metadata = {ccOverrides: ['a'], other: 1};
    expect((await plan({}, {bundleMetadata: metadata})).config.bundleMetadata).toEqual({ccOverrides: ['a']});
  });
});

describe('v1', () => {
  test('does not look at the on-disk file, and keeps it as a file', async () => {
    const tree = {
      [onDisk]: 'no JSON',
      'config.server.ts': "export default {ssrOnly: ['ssr.js'], ssrParameters: {a: 1}};",
    };
    const result = await plan(tree, {format: 'v1'});
    expect(result.config).toEqual({
      ssrOnly: ['ssr.js'],
      ssrShared: ['static/**/*'],
      ssrParameters: {SSRFunctionNodeVersion: '24.x', a: 1},
    });
    expect(result.files.map(({path}) => path)).toContain('.runtime/config.json');
    expect(result).toMatchObject({projectSlug: 'shop'});
    expect(Object.keys(result)).not.toContain('rootDir');
  });
});

describe('a configuration that cannot be used is an error that names file and field', () => {
  test.each([
    ['malformed JSON', '{"ssrOnly": [', 'is not valid JSON'],
    ['no object', '[]', 'must be an object'],
    ['null', 'null', 'must be an object'],
    ['a text for patterns', '{"ssrOnly": "ssr.js"}', 'ssrOnly must be an array of glob patterns'],
    ['an empty ssrOnly', '{"ssrOnly": []}', 'ssrOnly must have at least one pattern'],
    ['a number in a list', '{"ssrShared": ["a", 1]}', 'ssrShared.1 must be a string'],
    ['an empty pattern', '{"ssrShared": [""]}', 'ssrShared.0 is not a glob pattern: "".'],
    ['null for patterns', '{"ssrOnly": null}', 'ssrOnly must be'],
    ['parameters that are a list', '{"ssrParameters": []}', 'ssrParameters must be an object'],
    [
      'a version that is a number',
      '{"bundleMetadata": {"dependencies": {"a": 1}}}',
      'bundleMetadata.dependencies.a must be',
    ],
  ])('on disk: %s', async (_what, text, message) => {
    await expect(plan({[onDisk]: text})).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(new RegExp(`build/\\.runtime/config\\.json.*${message}`, 's')),
      suggestions: [expect.stringContaining('orrect the file')],
    });
  });

  test('on disk: several fields, all of them', async () => {
    const cwd = await makeFolder({...smallBuild, [onDisk]: '{"ssrOnly": [1], "ssrShared": 2}'});
    await expect(planBundle(planOptions(cwd))).rejects.toMatchObject({
      details: {
        file: join(cwd, onDisk),
        problems: [
          {field: 'ssrOnly.0', message: 'must be a string'},
          {field: 'ssrShared', message: 'must be an array of glob patterns'},
        ],
      },
      message: `${join(cwd, onDisk)} is invalid: ssrOnly.0 must be a string; ssrShared must be an array of glob patterns.`,
    });
  });

  test('on disk: a folder, and a link to itself', async () => {
    const folder = await makeFolder(smallBuild);
    await mkdir(join(folder, onDisk), {recursive: true});
    await expect(planBundle(planOptions(folder))).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: `${join(folder, onDisk)} cannot be read: it is not a regular file.`,
    });
    const circle = await makeFolder({...smallBuild, 'build/.runtime/other': ''});
    await symlink('config.json', join(circle, onDisk));
    await expect(planBundle(planOptions(circle))).rejects.toMatchObject({
      code: 'ERR_FILE_UNSUPPORTED',
      message: expect.stringContaining('.runtime/config.json is a symbolic link to config.json, which loops'),
    });
  });

  test.each([
    ['throws', bomb, 'must not be executed'],
    ['exports nothing', '', 'does not export a configuration'],
    ['exports something else', 'export const other = {ssrOnly: []};', 'does not export a configuration'],
    ['exports undefined', 'export default undefined;', 'does not export a configuration'],
    ['exports null', 'export default null;', 'could not be loaded'],
    ['exports a function', 'export default () => ({});', 'does not export a configuration'],
    ['exports nothing as its config', 'export const config = undefined;', 'it must be an object'],
    ['exports a config that is not an object', 'export const config = 7;', 'must be an object'],
    ['has wrong types', 'export default {ssrOnly: [/ssr/]};', 'ssrOnly.0 must be a string'],
    [
      'has a function among its parameters',
      'export default {ssrParameters: {a: {b: () => 1}}};',
      'ssrParameters .*at a.b',
    ],
  ])('config.server that %s', async (_what, text, message) => {
    await expect(plan({'config.server.ts': text})).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(new RegExp(`config\\.server\\.ts.*${message}`, 's')),
    });
  });
});

describe('a key of config.server', () => {
  test('that is nearly one of ours is refused: a default would be in force, unseen', async () => {
    await expect(plan({'config.server.ts': "export default {ssrOnyl: ['ssr.js']};"})).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining('config.server.ts has an unknown key: ssrOnyl'),
      suggestions: ['Did you mean ssrOnly?'],
    });
  });

  test('that is the project’s own is left alone', async () => {
    const text = "export default {port: 3000, ssrOnly: ['ssr.js']};";
    expect((await plan({'config.server.ts': text})).config.ssrOnly).toEqual(['ssr.js']);
  });
});

test('a source outside the working directory is named in full', async () => {
  const cwd = await makeFolder({...smallBuild, 'config.server.ts': "export default {ssrOnly: ['ssr.js']};", 'a/b': ''});
  const inside = await planBundle(planOptions(cwd));
  expect(sourceOf(inside, 'ssrOnly')).toBe('config.server.ts');
  const options = {buildDirectory: '../build', projectDirectory: '..'};
  const outside = await planBundle(planOptions(join(cwd, 'a'), options));
  expect(sourceOf(outside, 'ssrOnly')).toBe(join(cwd, 'config.server.ts'));
});

describe('anything but a regular file is refused by name', () => {
  test.skipIf(process.platform === 'win32').each(['config.server.ts', 'config.server.mjs'])(
    'a pipe %s',
    async (name) => {
      const cwd = await makeFolder(smallBuild);
      execFileSync('mkfifo', [join(cwd, name)]);
      await expect(planBundle(planOptions(cwd))).rejects.toMatchObject({
        code: 'ERR_CONFIG_INVALID',
        message: `${join(cwd, name)} cannot be read: it is not a regular file.`,
      });
    },
  );
});

describe('warnings of patterns that match nothing', () => {
  const given = {ssrOnly: ['ssr.js', 'server/*', 'gone.js', '!nothing'], ssrShared: ['client/**']};

  test('are given in strict mode and for v1', async () => {
    const v1 = [
      expect.stringMatching(/^The ssrOnly pattern "gone\.js" matches no file/),
      expect.stringMatching(/^The ssrShared pattern "client\/\*\*" matches no file/),
    ];
    const {warnings} = await plan({}, given);
    expect(warnings).toEqual(v1);
    for (const warning of warnings) expect(warning).toContain('set matchMode to ignore_missing in mycli.config');
    const older = (await plan({}, {...given, format: 'v1'})).warnings;
    expect(older).toEqual(v1);
    for (const warning of older) expect(warning).not.toContain('strict server');
  });

  test('are not given when the server is to pass over them', async () => {
    expect((await plan({}, {...given, matchMode: 'ignore_missing'})).warnings).toEqual([]);
  });
});

test('the configuration has one place: files in its way are named', async () => {
  await expect(plan({'build/.runtime': 'a file'})).rejects.toMatchObject({
    code: 'ERR_FILE_UNSUPPORTED',
    message: "The build contains .runtime, but the bundle's configuration goes to .runtime/config.json.",
    suggestions: [expect.stringContaining('set configPath in mycli.config')],
  });
  await expect(plan({'build/conf-x': '', 'build/conf/x': ''}, {configPath: 'conf'})).rejects.toMatchObject({
    code: 'ERR_FILE_UNSUPPORTED',
    message: "The build contains conf/x, but the bundle's configuration goes to conf.",
  });
  const near = {'build/conf-x': '', 'build/con': ''};
  expect((await plan(near, {configPath: 'conf'})).files).toHaveLength(5);
  expect(
    (await plan({'build/conf': '{}', ...near}, {configPath: 'conf', ssrOnly: ['ssr.js'], ssrShared: []})).files,
  ).toHaveLength(5);
});
