import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {bundleOptions, rejectV2OnlyFlags} from '../../../src/cli/command/operation-options.js';
import {loadSettings} from '../../../src/cli/settings/load-settings.js';
import type {Settings} from '../../../src/cli/settings/settings.js';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'mycli-options-'));
});
afterEach(() => rm(cwd, {recursive: true}));

function load(flags: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}): Promise<Settings> {
  const warn = (message: string) => {
    throw new Error(`unexpected warning: ${message}`);
  };
  return loadSettings({flags, env, cwd, configFile: undefined, uid: undefined, stdin: new PassThrough(), warn});
}

describe('bundleOptions', () => {
  test('leaves out what nobody has set, so that the defaults of the library apply', async () => {
    const given = Object.entries(await bundleOptions(await load({}))).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(given)).toEqual({
      buildDirectory: join(cwd, 'build'),
      projectDirectory: cwd,
      allowSensitiveFiles: false,
    });
  });

  test('--node-version is an SSR parameter, over the one of --ssr-param', async () => {
    const flags = {'node-version': '24.x', 'ssr-param': ['SSRFunctionNodeVersion=22.x', 'a=1']};
    expect((await bundleOptions(await load(flags))).ssrParameters).toEqual({SSRFunctionNodeVersion: '24.x', a: 1});
  });

  test('dependencies are given as JSON, as a file, or taken from package.json', async () => {
    await writeFile(join(cwd, 'package.json'), '{"dependencies": {"a": "^1"}, "devDependencies": {"b": "^2"}}');
    await writeFile(join(cwd, 'dependencies.json'), '\uFEFF{"c": "^3"}');
    const metadata = async (dependencies: string) => (await bundleOptions(await load({dependencies}))).bundleMetadata;
    expect(await metadata('{"d": "^4"}')).toEqual({dependencies: {d: '^4'}});
    expect(await metadata('@dependencies.json')).toEqual({dependencies: {c: '^3'}});
    expect(await metadata('auto')).toEqual({dependencies: {a: '^1', b: '^2'}});
  });

  test.each(['{"a": 1}', '[]', 'automatic', '@absent.json'])('%s is no set of dependencies', async (dependencies) => {
    await expect(load({dependencies})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
  });

  test('a file of dependencies that is not there is named as it was given', async () => {
    await expect(load({dependencies: '@absent.json'})).rejects.toMatchObject({
      message: '--dependencies @absent.json cannot be read: no such file or directory.',
    });
  });

  test('auto without a package.json is an error that names it', async () => {
    const settings = await load({dependencies: 'auto'});
    await expect(bundleOptions(settings)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(join(cwd, 'package.json')) as string,
    });
  });
});

describe('rejectV2OnlyFlags', () => {
  test('names the flags that a v1 bundle cannot have', async () => {
    const settings = await load({'root-dir': 'x', 'match-mode': 'strict'}, {MYCLI_CONFIG_PATH: 'from/the/environment'});
    expect(() => rejectV2OnlyFlags('v1', settings, '--format v2')).toThrow(
      expect.objectContaining({
        code: 'ERR_USAGE',
        message: '--root-dir, --match-mode cannot be used with the v1 format.',
        suggestions: ['Pass --format v2 to use the v2 format, or remove these flags.'],
      }),
    );
    expect(() => rejectV2OnlyFlags('v2', settings, '--v2')).not.toThrow();
  });
});
