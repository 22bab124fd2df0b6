import {execFileSync} from 'node:child_process';
import {lchown, rm, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {loadConfigFile} from '../../../src/cli/settings/config-file.js';
import {definitions} from '../../../src/settings/definitions.js';
import {makeFolder, writeTree} from '../../folder.js';
import {shellLine} from '../../../src/text/suggest.js';

let root: string;
let warnings: string[];

beforeEach(async () => {
  root = await makeFolder();
  warnings = [];
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  await writeTree(root, files);
}

function load(directory: string, explicit?: string, refusesForeign = false) {
  const warn = (message: string) => warnings.push(message);
  return loadConfigFile({cwd: join(root, directory), warn, refusesForeign}, explicit);
}

describe('finding', () => {
  test.each([
    ['mycli.config.ts', 'const slug: string = "shop"; export default {projectSlug: slug};'],
    ['mycli.config.mts', 'export const config = {projectSlug: "shop" as string};'],
    ['mycli.config.cts', 'module.exports = {projectSlug: "shop" as string};'],
    ['mycli.config.js', 'export default {projectSlug: "shop"};'],
    ['mycli.config.cjs', 'module.exports = {projectSlug: "shop"};'],
    ['mycli.config.cjs', 'exports.default = {projectSlug: "shop"};'],
    ['mycli.config.cjs', 'exports.config = {projectSlug: "shop"};'],
    ['mycli.config.cjs', 'module.exports = {config: {projectSlug: "shop"}};'],
    ['mycli.config.mjs', 'export const config = {projectSlug: await Promise.resolve("shop")};'],
    ['mycli.config.json', '\uFEFF{"$schema": "./schema.json", "projectSlug": "shop"}'],
    ['package.json', '{"name": "x", "mycli": {"projectSlug": "shop"}}'],
  ])('reads %s of the working directory', async (name, text) => {
    await write({[name]: text});
    const expected = {path: join(root, name), directory: root, settings: {projectSlug: 'shop'}, targets: new Map()};
    expect(await load('.')).toEqual(expected);
  });

  test.each(['mycli.config.ts', 'mycli.config.mjs'])('%s: needs no mycli installed for defineConfig', async (name) => {
    await write({[name]: "import {defineConfig} from 'mycli';\nexport default defineConfig({projectSlug: 'shop'});\n"});
    expect(await load('.')).toMatchObject({settings: {projectSlug: 'shop'}});
  });

  test('goes up to the root of the repository and takes the nearest file', async () => {
    await write({
      '.git/HEAD': '',
      'mycli.config.json': '{"projectSlug": "top"}',
      'packages/a/package.json': '{"name": "a"}',
      'packages/a/src/index.js': '',
      'packages/b/mycli.config.json': '{"projectSlug": "b"}',
    });
    expect((await load('packages/a/src'))?.settings.projectSlug).toBe('top');
    expect((await load('packages/b'))?.settings.projectSlug).toBe('b');
  });

  test('never looks above the root of the repository, be .git a folder or a file', async () => {
    await write({'mycli.config.json': '{}', 'repository/.git': 'gitdir: elsewhere', 'repository/a/x': ''});
    expect(await load('repository/a')).toBeUndefined();
  });

  test('without a repository looks in the working directory only, and names the file above', async () => {
    await write({'mycli.config.json': '{}', 'a/b/x': ''});
    expect(await load('a/b')).toBeUndefined();
    const [path, searched] = [join(root, 'mycli.config.json'), 'only the working directory is searched'];
    expect(warnings).toEqual([
      `Ignored ${path}: outside a git repository, ${searched}. To use it, pass ${shellLine('--cwd', root)}`,
    ]);
    expect((await load('.'))?.path).toBe(join(root, 'mycli.config.json'));
  });

  test('names a second file in the same folder, which is not read', async () => {
    await write({'mycli.config.ts': 'export default {projectSlug: "shop"}', 'mycli.config.json': '{', 'a/x': ''});
    expect(await load('.')).toMatchObject({path: join(root, 'mycli.config.ts')});
    await write({'mycli.config.yaml': '', 'mycli.config.d.ts': '', 'package.json': '{"mycli": {"projectSlug": "x"}}'});
    warnings = [];
    expect(await load('.')).toMatchObject({path: join(root, 'mycli.config.ts')});
    expect(warnings).toEqual([
      `Ignored ${join(root, 'mycli.config.yaml')}. The name of a configuration ends in .ts, .mts, .cts, .js, .mjs, .cjs, .json.`,
      `Ignored ${join(root, 'mycli.config.json')}, because mycli.config.ts is beside it.`,
      `Ignored the "mycli" key of ${join(root, 'package.json')}, because mycli.config.ts is beside it.`,
    ]);
  });

  test('belongs to the folder of the file, unless there is a project of its own on the way', async () => {
    await write({
      '.git/HEAD': '',
      'mycli.config.json': '{}',
      'scripts/x': '',
      'packages/a/package.json': '{}',
      'packages/a/src/x': '',
      'packages/b/build/ssr.js': '',
      'other/mycli.json': '{}',
    });
    expect(await load('scripts')).toMatchObject({directory: root});
    expect((await load('scripts'))?.otherProject).toBeUndefined();
    for (const [folder, project] of [
      ['packages/a/src', 'packages/a'],
      ['packages/b', 'packages/b'],
    ] as const) {
      expect(await load(folder)).toMatchObject({directory: root, otherProject: join(root, project)});
      const named = await load(folder, join(root, 'mycli.config.json'));
      expect(named).toMatchObject({directory: join(root, project)});
      expect(named?.otherProject).toBeUndefined();
    }
    expect(await load('scripts', '../mycli.config.json')).toMatchObject({directory: root});
    expect(await load('packages/b', '../../other/mycli.json')).toMatchObject({directory: join(root, 'packages/b')});
  });

  test.runIf(process.getuid?.() === 0)('passes over a file of another user, and takes it when named', async () => {
    await write({'mycli.config.js': 'throw new Error("it was run");', 'named.json': '{"projectSlug": "named"}'});
    for (const name of ['mycli.config.js', 'named.json']) await lchown(join(root, name), 4242, 4242);
    expect(await load('.')).toBeUndefined();
    expect(warnings).toEqual([
      `Ignored ${join(root, 'mycli.config.js')}, because it belongs to another user (4242). ` +
        `If you trust it, pass ${shellLine('--config', join(root, 'mycli.config.js'))}`,
    ]);
    await expect(load('.', undefined, true)).rejects.toMatchObject({
      code: 'ERR_CONFIG_FOREIGN',
      exitCode: 3,
      message: `${join(root, 'mycli.config.js')} belongs to another user (4242), so it is not used. Nothing was changed.`,
    });
    await rm(join(root, 'mycli.config.js'));
    for (const [json, isConfigured] of [
      ['{"name": "x"}', false],
      ['{"mycli": {}}', true],
    ] as const) {
      await write({'package.json': json});
      await lchown(join(root, 'package.json'), 4242, 4242);
      const loading = load('.', undefined, true);
      if (isConfigured) await expect(loading).rejects.toMatchObject({code: 'ERR_CONFIG_FOREIGN'});
      else expect(await loading).toBeUndefined();
    }
    await rm(join(root, 'package.json'));
    expect((await load('.', 'named.json'))?.settings.projectSlug).toBe('named');
    // Reading it would never end.
    execFileSync('mkfifo', [join(root, 'package.json')]);
    await lchown(join(root, 'package.json'), 4242, 4242);
    expect(await load('.')).toBeUndefined();
  });

  test('looks above a folder, not above a link to it', async () => {
    await write({
      'mine/.git/HEAD': '',
      'mine/mycli.config.json': '{"projectSlug": "mine"}',
      'mine/sub/x': '',
      'theirs/.git/HEAD': '',
      'theirs/mycli.config.json': '{"projectSlug": "theirs"}',
    });
    await symlink(join(root, 'mine/sub'), join(root, 'theirs/link'));
    expect(await load('theirs/link')).toMatchObject({settings: {projectSlug: 'mine'}});
  });

  test.runIf(process.getuid?.() === 0)('passes over a link of another user to a file of ours', async () => {
    await write({'other/config.json': '{}', 'work/x': ''});
    await symlink(join(root, 'other/config.json'), join(root, 'work/mycli.config.json'));
    await lchown(join(root, 'work/mycli.config.json'), 4242, 4242);
    expect(await load('work')).toBeUndefined();
  });
});

describe('reading', () => {
  test('paths are relative to the folder of the file, and SSR parameters may have any name', async () => {
    const config = {buildDirectory: 'out', projectDirectory: '.', ssrParameters: {token: 'is not looked at'}};
    await write({'.git/HEAD': '', 'mycli.config.json': JSON.stringify(config), 'a/x': ''});
    expect((await load('a'))?.settings).toEqual({...config, buildDirectory: join(root, 'out'), projectDirectory: root});
  });

  test.each(['prototype', 'constructor', '__proto__'])(
    'takes %s for the name of a target or a backend',
    async (name) => {
      await write({
        'mycli.config.json': `{"targets": {"${name}": {"guard": {"cleanTree": true}}}, "backends": {"${name}": {}}}`,
      });
      const file = await load('.');
      expect(file?.targets.get(name)).toEqual({guardCleanTree: true});
      expect(Object.keys(file?.settings.backendOptions ?? {})).toEqual([name]);
      await write({'mycli.config.js': 'export default {targets: {__proto__: {guard: {}}}}'});
      await expect(load('.', 'mycli.config.js')).rejects.toThrow('targets must be a plain object');
    },
  );

  test('names have no spaces around them', async () => {
    await write({'mycli.config.json': '{"projectSlug": " shop ", "api": {"organizationId": "org\\r"}}'});
    expect((await load('.'))?.settings).toEqual({projectSlug: 'shop', organizationId: 'org'});
  });

  test.each(['mycli.config.json', 'package.json'])('takes SSR parameters in %s as they are written', async (name) => {
    const config = '{"ssrParameters": {"v": 3.10, "id": 12345678901234567890, "n": 5}, "timeout": 60.0}';
    await write({[name]: name === 'package.json' ? `{"mycli": ${config}}` : config});
    const settings = {ssrParameters: {v: '3.10', id: '12345678901234567890', n: 5}, timeout: 60};
    expect((await load('.'))?.settings).toEqual(settings);
  });

  test.each([
    [{projectSlugs: 'x'}, 'has an unknown key: projectSlugs', 'Did you mean projectSlug?'],
    [{project: 'x'}, 'has an unknown key: project', 'Did you mean projectSlug?'],
    [{api: {orgin: 'x'}}, 'has an unknown key: api.orgin', 'Did you mean origin?'],
    [{targets: {live: {gaurd: {}}}}, 'unknown key: targets.live.gaurd', 'Did you mean guard?'],
    [{targets: {live: {guard: {branches: []}}}}, 'unknown key: targets.live.guard.branches', 'Did you mean branch?'],
    [
      {targets: {live: {logLevel: 'debug'}}},
      'unknown key: targets.live.logLevel',
      /targets\.live\.settings\.logLevel\?$/,
    ],
    [
      {targets: {live: {origin: 'x'}}},
      'has an unknown key: targets.live.origin',
      /^Known keys: check, settings, redirects, /,
    ],
    [{targets: {live: {guard: {cleanTree: 'yes'}}}}, 'targets.live.guard.cleanTree must be true or false', /^Correct/],
    [{targets: {live: true}}, 'targets.live must be an object', /^Correct/],
    [{settings: {}}, 'has an unknown key: settings', /^Known keys: /],
    [{targets: {live: {settings: {regoin: 'x'}}}}, 'unknown key: regoin (did you mean region?)', /^Correct/],
    [
      {preview: {settings: {allowedIps: ['1.2.3.4/33']}}},
      'preview.settings.allowedIps.0 must be an IP add',
      /^Correct/,
    ],
    [{targets: {live: {settings: {logLevel: 'loud'}}}}, 'settings.logLevel must be one of trace, debug', /^Correct/],
    [{targets: {live: {redirects: [{from: 'a', to: '/b'}]}}}, 'redirects.0.from must be a path', /^Correct/],
    [{targets: {live: {redirects: [{from: '/a', to: '/a'}]}}}, 'live.redirects.0 redirects to itself', /^Correct/],
    [{preview: {settings: {name: 'x'}}}, 'preview.settings has an unknown key: name', /^Correct/],
    [{targets: ['live']}, 'targets must be an object', /^Correct/],
    [{pollInterval: '5'}, 'pollInterval must be a number of seconds above 0', /^Correct/],
    [{rateLimit: {statusCodes: [200]}}, 'rateLimit.statusCodes.0 must be an HTTP status from 400 to 599', /^Correct/],
    [
      {rateLimit: {maxDelayMs: 2 ** 31}},
      'rateLimit.maxDelayMs must be a number of milliseconds from 0 to 2147483647',
      /^Correct/,
    ],
  ])('refuses %j', async (config, message, suggestion) => {
    await write({'mycli.config.json': JSON.stringify(config)});
    await expect(load('.')).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      exitCode: 3,
      message: expect.stringContaining(message) as string,
      suggestions: [expect.stringMatching(suggestion)],
    });
  });

  test.each(['::1/129', '1.2.3.4/24/8', '1.2.3/24', '10.0.0.0/', '/8', 'office.example', ''])(
    'refuses %j where visitors come from, but neither addresses nor CIDR blocks',
    async (ip) => {
      const settings = (...more: readonly string[]) => ({allowedIps: ['::/0', '10.0.0.1', '10.0.0.0/8', ...more]});
      await write({'mycli.config.json': JSON.stringify({preview: {settings: settings(ip)}})});
      await expect(load('.')).rejects.toThrow('allowedIps.3 must be an IP address or a CIDR block');
      await write({'mycli.config.json': JSON.stringify({preview: {settings: settings()}})});
      await load('.');
    },
  );

  test('every wrong value is named in plain words', async () => {
    const keys = Object.values(definitions).flatMap(({config, perTarget}) =>
      perTarget === 'only' ? [] : (config?.split('.')[0] ?? []),
    );
    const wrong = Object.fromEntries(['$schema', ...keys].map((key) => [key, null]));
    await write({'mycli.config.json': JSON.stringify(wrong)});
    const error: unknown = await load('.').catch((reason: unknown) => reason);
    for (const key of Object.keys(wrong)) {
      expect(error).toMatchObject({message: expect.stringContaining(` ${key} must be `) as string});
    }
    expect(String(error)).not.toMatch(/Invalid|Expected|received/);
  });

  test.each([
    [{apiKey: 'canary-1'}, 'apiKey', 'MYCLI_API_KEY'],
    [{api: {clientSecret: 'canary-1'}}, 'api.clientSecret', 'MYCLI_CLIENT_SECRET'],
    [{api_token: 'canary-1'}, 'api_token', 'MYCLI_API_TOKEN'],
    [{password: 'canary-1'}, 'password', 'MYCLI_API_KEY'],
    [{backends: {acme: {token: 'canary-1'}}}, 'backends.acme.token', 'MYCLI_BACKEND_OPTION'],
    [
      {backends: {acme: {targets: {prod: {apiKey: 'canary-1'}}}}},
      'backends.acme.targets.prod.apiKey',
      'MYCLI_BACKEND_OPTION',
    ],
  ])('refuses the secret in %j and says where it goes', async (config, key, variable) => {
    await write({'mycli.config.json': JSON.stringify(config)});
    const error: unknown = await load('.').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(key) as string,
      suggestions: [expect.stringContaining(variable), expect.anything()],
    });
    expect(JSON.stringify(error)).not.toContain('canary-1');
  });

  test.each([
    ['mycli.config.json', '{', 'cannot be read'],
    ['mycli.config.json', `{"ssrParameters": {"a": ${'['.repeat(5000)}${']'.repeat(5000)}}}`, 'nested more than 200'],
    [
      'mycli.config.mjs',
      'let a = []; for (let i = 0; i < 9999; i++) a = [a]; export default {ssrParameters: {a}}',
      'nested more than 200',
    ],
    ['mycli.config.json', '[]', 'does not contain a JSON object'],
    ['package.json', '{"mycli": 1}', 'is not an object'],
    ['package.json', '{', 'cannot be read'],
    ['mycli.config.js', 'throw new Error("broken on purpose");', 'broken on purpose'],
    ['mycli.config.js', 'export const other = 1;', 'does not export a configuration'],
    ['mycli.config.ts', 'export default () => ({});', 'does not export a configuration'],
  ])('an unusable %s (%s) is an error that names it', async (name, text, message) => {
    await write({[name]: text});
    await expect(load('.')).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(new RegExp(`${name}.*${message}`)) as string,
    });
  });

  test('a named file that is not there is an error', async () => {
    for (const explicit of ['absent.json', 'absent.ts', 'absent']) {
      await expect(load('.', explicit)).rejects.toMatchObject({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(/absent[.a-z]* cannot be read: no such file or directory\.?$/) as string,
      });
    }
  });
});

test.each([
  ['.\\build', 'has a backspace or a form feed in a value'],
  ['.\\output', 'Bad escaped character'],
])('a path with backslashes in JSON, %s, is told with the way to write it', async (path, message) => {
  await write({'mycli.config.json': `{"buildDirectory": "${path}"}`});
  await expect(loadConfigFile({cwd: root, warn: () => undefined})).rejects.toMatchObject({
    message: expect.stringContaining(message) as string,
    suggestions: [expect.stringContaining('paths with slashes, such as "./build"') as string],
  });
});
