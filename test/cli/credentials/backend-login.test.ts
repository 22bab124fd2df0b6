import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {OptionText} from '../../../src/backends/option-text.js';
import {originsIn, storedOptions} from '../../../src/cli/credentials/backend-login.js';
import {updateCredentials, type CredentialFile} from '../../../src/cli/credentials/credential-file.js';
import {binary, runCli} from '../spawn-cli.js';
import {createPluginBench} from '../with-plugins.js';

describe('the origins that options name', () => {
  test.each([
    [{url: 'https://acme.example/api', region: 'eu'}, ['https://acme.example']],
    [
      {url: new OptionText('http://127.0.0.1:80/'), deep: [{to: 'HTTPS://b.example:8443'}]},
      ['http://127.0.0.1', 'https://b.example:8443'],
    ],
    [{hooks: new OptionText('["https://c.example/a", "https://c.example/b"]')}, ['https://c.example']],
    [{text: 'see https://d.example', broken: 'https://', none: null, size: 7}, []],
  ])('%j', (options, origins) => {
    expect(originsIn(options)).toEqual(origins);
  });
});

describe('the stored secrets of a backend', () => {
  let warnings: string[];
  let file: CredentialFile;

  beforeEach(async () => {
    warnings = [];
    const directory = await mkdtemp(join(tmpdir(), 'mycli-backend-login-'));
    const warn = (message: string) => void warnings.push(message);
    file = {directory, env: {}, platform: process.platform, pid: process.pid, hasModes: true, warn};
    const acme = {options: ['id', 'token'], values: {id: 'i', token: 'canary'}, origins: ['https://acme.example']};
    await updateCredentials(file, (stored) => ({...stored, backends: {acme}}));
  });
  afterEach(() => rm(file.directory, {recursive: true}));

  test.each([
    [{}, {id: 'i', token: 'canary'}],
    [{url: 'https://acme.example/other'}, {id: 'i', token: 'canary'}],
    [{id: 'another'}, undefined],
  ])('are used as a whole or not at all: %j', async (given, expected) => {
    expect(await storedOptions('acme', given, file)).toEqual(expected);
    expect(await storedOptions('other', given, file)).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test('go to no other address than at the login', async () => {
    expect(
      await storedOptions('acme', {url: 'https://acme.example', hook: 'https://b.example/x'}, file),
    ).toBeUndefined();
    expect(warnings).toEqual([
      'The secrets stored for the acme backend are not used, because they were not stored for https://b.example. ' +
        'To store them for it, run: mycli auth:login --runtime-backend acme',
    ]);
  });
});

test('a login to a plugin stores its secret options, which its commands use until the logout', async () => {
  await using bench = await createPluginBench('acme');
  const env = {
    ...bench.env,
    MYCLI_CREDENTIAL_STORE: 'file',
    MYCLI_RUNTIME_BACKEND: 'acme',
    XDG_CONFIG_HOME: bench.root,
  };
  const token = 'canary-login-5d';
  const run = async (args: readonly string[], stdin = '') => {
    const ended = await runCli(binary, args, {cwd: bench.project, env, stdin});
    expect(ended.stdout + ended.stderr).not.toContain(token);
    return ended;
  };
  const memory = ['--backend-option', 'memory=m'];
  const advice = await run(['bundle:push', ...memory]);
  expect(advice.stderr).toContain('Set MYCLI_BACKEND_OPTION to token=..., or run: mycli login\n');

  const login = await run(['auth:login', '--json'], `${token}\n`);
  const file = join(bench.root, 'mycli', 'credentials.json');
  expect(JSON.parse(login.stdout)).toEqual({
    schemaVersion: 1,
    backend: 'acme',
    options: ['token'],
    file,
    keychain: false,
    kind: 'options',
    verified: false,
  });
  expect(await readFile(file, 'utf8')).toContain(token);
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);

  const pushed = await run(['bundle:push', ...memory]);
  expect(pushed).toMatchObject({code: 0, stderr: expect.stringContaining('uploading with ***') as string});
  const status = await run(['auth:status', '--json']);
  expect(JSON.parse(status.stdout)).toMatchObject({
    plugins: [{backend: 'acme', options: ['token'], origins: [], keychain: false}],
  });
  const logout = await run(['auth:logout', '--runtime-backend', 'acme', '--json']);
  expect(JSON.parse(logout.stdout)).toMatchObject({removed: ['acme']});
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('a login to an address that only a configuration file names is refused without a terminal', async () => {
  await using bench = await createPluginBench('acme');
  const backends = {acme: {memory: 'https://stranger.example/m'}};
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify({runtimeBackend: 'acme', backends}));
  const {code, stdout} = await bench.mycli(['auth:login', '--json']);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'ERR_ORIGIN_UNTRUSTED',
      message:
        'The secrets of the acme backend would go to https://stranger.example, set only in the configuration file.',
      suggestions: ['If that is right, pass --backend-option memory=URL.'],
    },
  });
});
