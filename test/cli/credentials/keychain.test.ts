import {mkdir, mkdtemp, readFile, realpath, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {findKeychain, storeInKeychain} from '../../../src/cli/credentials/keychain.js';
import {startLocalRuntime, type LocalRuntime} from '../../../src/testing.js';
import {runWarm} from '../warm-cli.js';
import {secretToolScript, securityScript, writeProgram} from './fake-keychain.js';

const canary = "canary key's-9d41";
const key = 'canary-api-key-20cc';

let root: string;
let bin: string;
let env: Record<string, string>;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'mycli-keychain-')));
  bin = join(root, 'bin');
  await mkdir(bin);
  env = {PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: root, DBUS_SESSION_BUS_ADDRESS: `unix:path=${root}/bus`};
});
afterEach(() => rm(root, {recursive: true}));

const program = (name: string, script: string) => writeProgram(bin, name, script);

const items = () => join(root, 'items');
const secretTool = () => secretToolScript(items());
const security = () => securityScript(items());

describe.each([
  ['secret-tool', 'linux', secretTool],
  ['security', 'darwin', security],
] as const)('the keychain of %s', (name, platform, script) => {
  test('keeps, replaces and removes a secret, which is in no argument and comes with no other variable', async () => {
    await program(name, script());
    const keychain = await findKeychain({env: {...env, MYCLI_API_KEY: canary}, platform});
    expect(await keychain?.read('legacy https://a.example')).toBeUndefined();
    await keychain?.write('legacy https://a.example', 'old');
    await keychain?.write('legacy https://a.example', canary);
    expect(await keychain?.read('legacy https://a.example')).toBe(canary);
    expect(await keychain?.read('api https://a.example')).toBeUndefined();
    await keychain?.remove('legacy https://a.example');
    expect(await keychain?.read('legacy https://a.example')).toBeUndefined();
    const log = await readFile(`${items()}.log`, 'utf8');
    for (const secret of [canary, Buffer.from(canary).toString('base64')]) expect(log).not.toContain(secret);
  });

  test('is not taken from the bins of a checkout', async () => {
    await mkdir(join(root, 'node_modules/.bin'), {recursive: true});
    bin = join(root, 'node_modules/.bin');
    await program(name, script());
    expect(await findKeychain({env: {...env, PATH: bin}, platform})).toBeUndefined();
  });

  test.each([
    ['fails', 'process.exit(1);'],
    ['does not answer', 'setInterval(() => undefined, 1000);'],
    ['forgets', "require('node:fs').readFileSync(0);"],
  ])('that %s is left for the file, with a warning, unless it was chosen', async (_how, broken) => {
    await program(name, broken);
    const warnings: string[] = [];
    const store = {env, platform, timeoutMs: 1500, warn: (message: string) => warnings.push(message)};
    expect(await storeInKeychain(store, 'legacy https://a.example', canary)).toBe(false);
    expect(warnings).toEqual([
      expect.stringMatching(/^The keychain cannot be used, so the secret is stored in a file/),
    ]);
    const chosen = {...store, env: {...env, MYCLI_CREDENTIAL_STORE: 'keychain'}};
    await expect(storeInKeychain(chosen, 'legacy https://a.example', canary)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
    });
  });
});

describe.runIf(process.platform === 'linux')('the binary', () => {
  let runtime: LocalRuntime;
  beforeEach(async () => {
    runtime = await startLocalRuntime({credentials: {apiKey: key}});
  });
  afterEach(() => runtime.close());

  async function mycli(args: readonly string[], more: Readonly<Record<string, string>> = {}, stdin = '') {
    const ended = await runWarm(args, {cwd: root, env: {...env, ...more}, stdin});
    expect(ended.stdout + ended.stderr).not.toContain(key);
    return ended;
  }

  const credentials = () => readFile(join(root, '.config/mycli/credentials.json'), 'utf8');
  const login = (more = {}) => mycli(['auth:login', '--origin', runtime.origin], more, key);
  const list = () => mycli(['bundle:list', '-p', 'shop', '--json']);

  test('stores the secret in the keychain, uses it, and removes it from both', async () => {
    await program('secret-tool', secretTool());
    expect((await login()).stdout).toContain('in the keychain.');
    expect(await credentials()).not.toContain(key);
    expect(JSON.parse((await list()).stdout)).toMatchObject({backend: 'legacy', bundles: []});
    expect((await mycli(['auth:status'])).stdout).toContain(`${runtime.origin}: api-key (in the keychain)`);
    expect((await mycli(['auth:logout', '--all'])).code).toBe(0);
    expect(JSON.parse(await readFile(items(), 'utf8'))).toEqual({});
  });

  test('stores it in the file when that was chosen, or there is no session bus', async () => {
    await program('secret-tool', secretTool());
    await login({MYCLI_CREDENTIAL_STORE: 'file'});
    expect(await credentials()).toContain(key);
    await login();
    expect(await credentials()).not.toContain(key);
    await login({DBUS_SESSION_BUS_ADDRESS: ''});
    expect(await credentials()).toContain(key);
    const wrong = await login({MYCLI_CREDENTIAL_STORE: 'safe'});
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain('MYCLI_CREDENTIAL_STORE must be auto, keychain or file.');
  });

  test('says so when the keychain has lost the secret', async () => {
    await program('secret-tool', secretTool());
    await login();
    await rm(items());
    const {stdout, stderr} = await list();
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_CREDENTIALS_MISSING'}});
    expect(stderr).toContain('cannot be read: it was not found. Run mycli login again.');
  });
});
