import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {inspect} from 'node:util';
import {beforeEach, describe, expect, test} from 'vitest';
import {OptionText} from '../../../src/backends/plugins/option-text.js';
import type {BackendRegistration} from '../../../src/backends/registry.js';
import type {CommandContext} from '../../../src/cli/command/command-context.js';
import {updateCredentials} from '../../../src/cli/settings/credential-file.js';
import {readPluginSettings} from '../../../src/cli/settings/plugin-settings.js';
import {readSecrets} from '../../../src/cli/settings/load-settings.js';
import {resolveSettings, type Setting} from '../../../src/cli/settings/settings.js';
import {Secret} from '../../../src/cli/settings/text.js';
import {makeFolder} from '../../folder.js';
import {collectOutput} from '../collect-output.js';

let cwd: string;
let warnings: string[];

beforeEach(async () => {
  cwd = await makeFolder();
  warnings = [];
});

const flag = (name: string, value: string): Setting<Secret> => ({
  value: new Secret(value),
  source: {kind: 'flag', name: `--${name}`},
});
const variable = (name: string, value: string): Setting<Secret> => ({
  value: new Secret(value),
  source: {kind: 'environment', name},
});

function read(named: Parameters<typeof readSecrets>[0], stdin = '') {
  const {signal} = new AbortController();
  const output = Object.assign(collectOutput().output, {warn: (message: string) => void warnings.push(message)});
  return readSecrets(named, {cwd, stdin: Readable.from([stdin]), output, signal});
}

describe('readSecrets', () => {
  test('literals are accepted with a single warning', async () => {
    const secrets = await read({
      apiKey: flag('api-key', ' canary-1 '),
      clientSecret: flag('client-secret', 'canary-2'),
    });
    expect(secrets.apiKey?.value.reveal()).toBe('canary-1');
    expect(secrets.clientSecret?.value.reveal()).toBe('canary-2');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/--api-key, --client-secret.*MYCLI_API_KEY, MYCLI_CLIENT_SECRET/);
    expect(warnings[0]).not.toContain('canary');
  });

  test('@FILE reads a file below the working directory, without the space around the secret', async () => {
    await writeFile(join(cwd, 'key'), '\n  canary-1\n');
    expect((await read({apiKey: flag('api-key', '@key')})).apiKey?.value.reveal()).toBe('canary-1');
    expect(warnings).toEqual([]);
  });

  test('a key in PEM format keeps its lines', async () => {
    const pem = '-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----';
    await writeFile(join(cwd, 'key.pem'), `${pem}\n`);
    expect((await read({clientKey: flag('client-key', '@key.pem')})).clientKey?.value.reveal()).toBe(pem);
  });

  test('- reads stdin', async () => {
    expect((await read({apiKey: flag('api-key', '-')}, 'canary-1\n')).apiKey?.value.reveal()).toBe('canary-1');
  });

  test('only one secret may come from stdin', async () => {
    await expect(read({apiKey: flag('api-key', '-'), clientSecret: flag('client-secret', '-')})).rejects.toMatchObject({
      code: 'ERR_USAGE',
      message: '--api-key and --client-secret cannot all be read from stdin.',
    });
  });

  test.each(['@canary', '-', 'canary'])('%s in the environment is the secret itself', async (value) => {
    const secrets = await read({apiKey: variable('MYCLI_API_KEY', value)}, 'stdin');
    expect(secrets.apiKey?.value.reveal()).toBe(value);
    expect(secrets.apiKey?.source.name).toBe('MYCLI_API_KEY');
    expect(warnings).toEqual([]);
  });

  test.each([
    ['an empty literal', flag('api-key', '  '), 'The value of --api-key is empty.'],
    ['an empty stdin', flag('api-key', '-'), 'The value of --api-key is empty.'],
    ['several lines', variable('MYCLI_API_KEY', 'canary\ncanary'), 'The value of MYCLI_API_KEY contains a line break'],
    ['a missing file', flag('api-key', '@absent'), 'The file for --api-key cannot be read: no such file or directory.'],
  ])('%s is an error that does not repeat the secret', async (_what, setting, message) => {
    const error: unknown = await read({apiKey: setting}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) as string});
    expect(inspect(error)).not.toContain('canary');
  });
});

test('a secret prints as a mask, wherever it is printed', async () => {
  const {apiKey} = await read({apiKey: variable('MYCLI_API_KEY', 'canary-1')});
  for (const shown of [JSON.stringify(apiKey), inspect(apiKey), String(apiKey?.value)]) {
    expect(shown).not.toContain('canary-1');
    expect(shown).toContain('********');
  }
});

describe('readPluginSettings', () => {
  async function readOptions(options: readonly string[], {stdin = '', flags = {}, wanted = 'acme', env = {}} = {}) {
    const given = {'runtime-backend': wanted, 'backend-option': options, ...flags};
    const settings = resolveSettings({
      flags: given,
      env: {MYCLI_BACKEND_OPTION: 'pin=@literal,region=eu'},
      cwd,
      file: {
        path: '/project/mycli.config.json',
        directory: '/project',
        settings: {backendOptions: {acme: {keep: '@kept'}}},
        targets: new Map(),
      },
    });
    const masked: string[] = [];
    const output = {
      warn: (message: string) => void warnings.push(message),
      addSecrets: (values: readonly string[]) => void masked.push(...values),
    };
    const backend = {name: 'acme', secrets: ['token', 'key', 'pin'], secretEnv: ['ACME_KEY']};
    const registration = {name: 'acme', plugin: 'mycli-plugin-acme', backend} as unknown as BackendRegistration;
    const credentialFile = {directory: cwd, warn: output.warn};
    const context = {cwd, env, stdin: Readable.from([stdin]), output, flags: given, credentialFile};
    const reading = await readPluginSettings(registration, context as unknown as CommandContext, settings);
    return {...reading, read: reading.options, masked};
  }

  const text = (value: string) => new OptionText(value);
  const rest = {pin: text('@literal'), region: text('eu'), keep: '@kept'};

  test('reads secret options from a file and from stdin, and masks them', async () => {
    const key = '-----BEGIN KEY-----\nabc\n-----END KEY-----';
    await writeFile(join(cwd, 'key.pem'), `${key}\n`);
    const {read, masked} = await readOptions(['token=-', 'key=@key.pem'], {stdin: ' canary-1\n'});
    expect(read).toEqual({...rest, token: text('canary-1'), key: text(key)});
    expect(masked).toEqual(['canary-1', key]);
    expect(warnings).toEqual([]);
  });

  test('leaves other options alone, those of the environment and the file, and those of another backend', async () => {
    expect((await readOptions(['scope=@acme', 'input=-'])).read).toEqual({
      ...rest,
      scope: text('@acme'),
      input: text('-'),
    });
    expect((await readOptions(['token=@absent'], {wanted: 'other'})).read).toEqual({keep: '@kept'});
  });

  test('sets no stored variable, so that each reading says that it is stored', async () => {
    const acme = {options: ['ACME_KEY'], values: {ACME_KEY: 'canary-3'}, origins: []};
    await updateCredentials({directory: cwd, warn: () => undefined}, () => ({origins: {}, backends: {acme}}));
    const env: Record<string, string> = {};
    const readings = [await readOptions([], {env}), await readOptions([], {env})];
    for (const {variables, source, masked} of readings) {
      expect(variables).toEqual({ACME_KEY: 'canary-3'});
      expect(source?.kind).toBe('stored');
      expect(masked).toEqual(['canary-3']);
    }
    expect(env).toEqual({});
  });

  test('warns of literals', async () => {
    await readOptions(['token=canary-1', 'region=us']);
    expect(warnings).toEqual([expect.stringMatching(/value of --backend-option token in .* MYCLI_BACKEND_OPTION/)]);
    expect(warnings.join()).not.toContain('canary-1');
  });

  test.each([
    [['token=@absent.txt'], {}, 'ERR_OPTION_INVALID', /^The file for --backend-option token cannot be read: /],
    [['token=-'], {}, 'ERR_OPTION_INVALID', /^The value of --backend-option token is empty\.$/],
    [['token=-', 'key=-'], {}, 'ERR_USAGE', /^--backend-option token and --backend-option key cannot all be read/],
    [['token=-'], {'api-key': '-'}, 'ERR_USAGE', /^--api-key and --backend-option token cannot all be read/],
  ])('refuses %j with %j', async (options, flags, code, message) => {
    await expect(readOptions(options, {flags})).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });
});
