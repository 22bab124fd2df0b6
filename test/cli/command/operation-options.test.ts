import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {beforeEach, describe, expect, test} from 'vitest';
import {bundleOptions, deploymentOptions, missingTarget} from '../../../src/cli/command/operation-options.js';
import type {CommandContext} from '../../../src/cli/command/command-context.js';
import {loadSettings} from '../../../src/cli/settings/load-settings.js';
import type {Settings} from '../../../src/cli/settings/settings.js';
import {makeFolder} from '../../folder.js';
import {collectOutput} from '../collect-output.js';

let cwd: string;
beforeEach(async () => {
  cwd = await makeFolder();
});

async function load(flags: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv = {}): Promise<Settings> {
  const warn = (message: string) => {
    throw new Error(`unexpected warning: ${message}`);
  };
  const input = {stdin: new PassThrough(), signal: new AbortController().signal};
  const output = Object.assign(collectOutput().output, {warn});
  const context = {flags, env, cwd, ...input, output, credentialFile: {directory: cwd, warn}};
  return (await loadSettings(context, {stored: false})).settings;
}

describe('bundleOptions', () => {
  test('leaves out what nobody has set, so that the defaults of the library apply', async () => {
    const given = Object.entries(await bundleOptions(await load({}))).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(given)).toEqual({
      buildDirectory: join(cwd, 'build'),
      projectDirectory: cwd,
      allowSensitiveFiles: false,
      allowSourceMaps: false,
    });
  });

  test('--node-version is an SSR parameter, over the one of --ssr-param', async () => {
    const flags = {'node-version': '24.x', 'ssr-param': ['SSRFunctionNodeVersion=22.x', 'a=1']};
    expect((await bundleOptions(await load(flags))).ssrParameters).toEqual({SSRFunctionNodeVersion: '24.x', a: 1});
  });

  test('dependencies are given as JSON, as a file, or taken from package.json', async () => {
    await writeFile(join(cwd, 'package.json'), '{"dependencies": {"a": "^1"}, "devDependencies": {"b": "^2"}}');
    await writeFile(join(cwd, 'dependencies.json'), '\uFEFF{"c": "^3"}');
    const metadata = async (dependencies: string) =>
      (await bundleOptions(await load({}, {MYCLI_DEPENDENCIES: dependencies}))).bundleMetadata;
    expect(await metadata('{"d": "^4"}')).toEqual({dependencies: {d: '^4'}});
    expect(await metadata('@dependencies.json')).toEqual({dependencies: {c: '^3'}});
    expect(await metadata('auto')).toEqual({dependencies: {a: '^1', b: '^2'}});
  });

  test.each(['{"a": 1}', '[]', 'automatic', '@absent.json'])('%s is no set of dependencies', async (dependencies) => {
    await expect(load({}, {MYCLI_DEPENDENCIES: dependencies})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
  });

  test('a file of dependencies that is not there is named as it was given', async () => {
    await expect(load({}, {MYCLI_DEPENDENCIES: '@absent.json'})).rejects.toMatchObject({
      message: 'MYCLI_DEPENDENCIES @absent.json cannot be read: no such file or directory.',
    });
  });

  test('auto without a package.json is an error that names it', async () => {
    const settings = await load({}, {MYCLI_DEPENDENCIES: 'auto'});
    await expect(bundleOptions(settings)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(join(cwd, 'package.json')) as string,
    });
  });
});

describe('deploymentOptions', () => {
  const standard = {status: undefined, text: undefined, retries: 5, interval: 2, timeout: 10};
  const live = {target: 'live'};
  const context = {output: {interactive: false}, stdin: {isTTY: false}} as unknown as CommandContext;
  const optionsOf = (settings: Settings, more = {}) => deploymentOptions(settings, context, more);
  const configured = async (config: unknown, flags: Readonly<Record<string, unknown>> = live) => {
    await writeFile(join(cwd, 'mycli.config.json'), JSON.stringify(config));
    return load(flags);
  };

  test('nothing follows by default', async () => {
    expect(optionsOf(await load(live))).toMatchObject({wait: false, check: [], rollbackOnFailure: false});
  });

  test('a flag says where to look, and variables how to judge what is there', async () => {
    const env = {MYCLI_CHECK_TEXT: 'OK', MYCLI_CHECK_STATUS: '200,204', MYCLI_CHECK_RETRIES: '0'};
    const options = optionsOf(await load({...live, check: ['/', '/health']}, env));
    const how = {...standard, text: 'OK', status: [200, 204], retries: 0};
    expect(options.check).toEqual([
      {...how, url: '/'},
      {...how, url: '/health'},
    ]);
    // What follows waits, unless that is turned off.
    expect(options.wait).toBe(true);
  });

  test('a target replaces single keys of the checks of all, and a check those of its object', async () => {
    const settings = await configured({
      check: {url: ['/', {url: '/health', text: 'OK', retries: 1}], interval: 1},
      targets: {live: {check: {interval: 7, rollbackOnFailure: true}}},
    });
    const {check, rollbackOnFailure} = optionsOf(settings);
    expect(check).toEqual([
      {...standard, url: '/', interval: 7},
      {...standard, url: '/health', text: 'OK', retries: 1, interval: 7},
    ]);
    expect(rollbackOnFailure).toBe(true);
    expect(optionsOf(settings, {canRollBack: false}).rollbackOnFailure).toBe(false);
  });

  test('one check of the configuration needs no list, and --check [] turns it off', async () => {
    const config = {check: {url: '/'}};
    expect(optionsOf(await configured(config)).check).toHaveLength(1);
    const none = await configured(config, {...live, check: ['[]']});
    expect(optionsOf(none)).toMatchObject({check: [], wait: false});
  });

  test('what is configured does not follow a push without a target', async () => {
    const settings = await configured({check: {url: '/', rollbackOnFailure: true}}, {});
    expect(optionsOf(settings)).toMatchObject({check: [], rollbackOnFailure: false});
    expect(missingTarget(settings)).toEqual([]);
  });

  test.each([
    [{check: ['/'], wait: false}, {}, '--check waits for the deployment, but --no-wait turns waiting off.'],
    [
      {'rollback-on-failure': true},
      {MYCLI_WAIT: '0'},
      '--rollback-on-failure waits for the deployment, but MYCLI_WAIT',
    ],
  ])('%j with %j is refused', async (flags, env, message) => {
    const settings = await load({...live, ...flags}, env);
    expect(() => optionsOf(settings)).toThrow(message);
  });

  test('a refusal names the key in the file, and only what follows', async () => {
    const settings = await configured({wait: false, check: {url: '/', rollbackOnFailure: true}});
    const file = join(cwd, 'mycli.config.json');
    const message = `check.url in ${file} waits for the deployment, but wait in ${file} turns waiting off.`;
    const remove = `Remove wait in ${file}, or pass --check '[]'`;
    const refused = (suggestion: string) => expect.objectContaining({message, suggestions: [suggestion]}) as Error;
    expect(() => optionsOf(settings)).toThrow(refused(`${remove} and pass --no-rollback-on-failure.`));
    expect(() => optionsOf(settings, {canRollBack: false})).toThrow(refused(`${remove}.`));
  });

  test.each([
    [{check: ['/']}, '--check'],
    [{'rollback-on-failure': true}, '--rollback-on-failure'],
    [{wait: true}, '--wait'],
  ])('%j needs a target', async (flags, named) => {
    const message = `${named} requires a target.`;
    expect(missingTarget(await load(flags))).toMatchObject([{what: 'target', error: {code: 'ERR_USAGE', message}}]);
    expect(missingTarget(await load({...flags, ...live}))).toEqual([]);
  });

  test.each([
    ['health', 'check.url.0.url must be an http or https URL, or a path that begins with /'],
    [{url: '/', interva: 1}, 'check.url.0 has an unknown key: interva (did you mean interval?)'],
    [[{url: 'https://a:b@shop.example'}], 'check.url.0.url must not contain credentials'],
    [5, 'check.url.0 must be an object'],
  ])('%j in a configuration file is refused', async (url, message) => {
    await expect(configured({check: {url}})).rejects.toThrow(message);
  });
});
