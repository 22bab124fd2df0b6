import {chmod, chown, mkdir, readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime} from '../../../src/testing.js';
import {makeFolder} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';
import {runWarm} from '../warm-cli.js';

const canary = 'canary-old-key-5d20';

let root: string;
let runtime: LocalRuntime;
let host: string;
beforeEach(async () => {
  root = await makeFolder();
  ({runtime} = await startRuntime({credentials: {apiKey: canary, clientSecret: canary}}));
  ({host} = new URL(runtime.origin));
  await write({'project/build/index.html': '<p>Hi</p>'});
});

async function write(files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), {recursive: true});
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    await chmod(file, 0o600);
  }
}

async function mycli(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = '') {
  const folders = {HOME: root, XDG_CONFIG_HOME: join(root, 'config')};
  const ended = await runWarm(args, {cwd: join(root, 'project'), env: {...folders, ...env}, stdin});
  expect(ended.stdout + ended.stderr).not.toContain(canary);
  return ended;
}

async function configOf(args: readonly string[], env: Readonly<Record<string, string>>) {
  const {stdout, stderr} = await mycli(['init', '--json', ...args], env);
  return {...(JSON.parse(stdout) as {config: unknown; stored: unknown}), stderr};
}

const stored = async () => readFile(join(root, 'config/mycli/credentials.json'), 'utf8');

describe('init', () => {
  test('takes the project and the target with --yes, never a secret, and says so', async () => {
    await write({'.mobify': {api_key: canary}});
    const env = {MRT_PROJECT: 'shop', SFCC_MRT_TARGET: 'staging', MRT_API_KEY: canary};
    const {config, stored: kind, stderr} = await configOf(['--yes', '--origin', runtime.origin], env);
    expect(config).toMatchObject({projectSlug: 'shop', targetSlug: 'staging'});
    expect(kind).toBeNull();
    expect(stderr).toContain('  target   staging  (SFCC_MRT_TARGET)\n');
    expect(stderr).toContain(
      'Not imported: API key (MRT_API_KEY), ~/.mobify (API key for https://cloud.mobify.com). To import everything',
    );
  });

  test('takes everything with --import, the key of the file for the origin, and a push needs nothing more', async () => {
    await write({[`.mobify--${host}`]: {username: 'me', api_key: canary}, '.mobify': {api_key: 'of another origin'}});
    const {
      config,
      stored: kind,
      stderr,
    } = await configOf(['--import', '-p', 'shop'], {MRT_CLOUD_ORIGIN: runtime.origin});
    expect(config).toMatchObject({origin: runtime.origin, apiUser: 'me'});
    expect(kind).toBe('api-key');
    expect(stderr).toContain(`API key              ********  (~/.mobify--${host})`);
    expect(stderr).toContain('~/.mobify is for cloud.mobify.com, so it was not imported.');
    expect(await stored()).toContain(canary);
    expect(JSON.parse((await mycli(['push', '--json'])).stdout)).toMatchObject({bundleId: 1});
  });

  test.each([
    ['camelCase', {clientId: 'me', clientSecret: canary, shortCode: 'kv7', tenantId: 'abcd-001', mrtProject: 'shop'}],
    [
      'kebab-case, in the active instance',
      {
        configs: [
          {name: 'a', mrtProject: 'other'},
          {
            ...{name: 'b', active: true, 'client-id': 'me', 'client-secret': canary},
            ...{'short-code': 'kv7', 'tenant-id': 'f_ecom_abcd_001', 'mrt-project': 'shop'},
          },
        ],
      },
    ],
  ])('init: what dw.json has in %s becomes the connection of Api', async (_, dw) => {
    await write({'project/dw.json': dw});
    const {config} = await configOf(['--import', '--no-verify'], {});
    expect(config).toMatchObject({
      projectSlug: 'shop',
      runtimeBackend: 'api',
      api: {
        origin: 'https://kv7.api.commercecloud.salesforce.com',
        organizationId: 'f_ecom_abcd_001',
        tokenUrl: 'https://account.demandware.com/dwsso/oauth2/access_token',
        clientId: 'me',
        scopes: ['SALESFORCE_COMMERCE_API:abcd_001', 'sfcc.storefront.deployments.rw'],
      },
    });
    expect(await stored()).toContain(canary);
  });

  test.each([
    ['scapi', 'api'],
    ['mrt', 'legacy'],
  ])('MRT_BACKEND=%s is the backend %s', async (name, backend) => {
    const {config} = await configOf(['--import', '-p', 'shop', '--origin', runtime.origin, '--no-verify'], {
      ...{MRT_BACKEND: name, MRT_API_KEY: canary, SFCC_SHORTCODE: 'kv7', SFCC_TENANT_ID: 'abcd-001'},
      ...{SFCC_CLIENT_ID: 'me', SFCC_CLIENT_SECRET: canary},
    });
    expect(config).toMatchObject({runtimeBackend: backend});
  });

  test('shows conflicts, and warns of files that others can read or that cannot be used', async () => {
    await write({
      'project/dw.json': {mrtProject: 'dw', clientSecret: canary},
      'project/package.json': {b2c: {mrtProject: 'shop', shortCode: 'evil.example/'}},
      [`.mobify--${host}`]: canary,
    });
    await chmod(join(root, 'project/dw.json'), 0o644);
    const env = {MRT_PROJECT: 'shop', MRT_CLOUD_ORIGIN: runtime.origin, MRT_API_KEY: canary};
    const {stderr} = await configOf(['--import', '--runtime-backend', 'auto'], env);
    expect(stderr).toContain('Conflict: project dw (dw.json) differs from shop (MRT_PROJECT), which is used.');
    expect(stderr).toContain('Other users can read dw.json, which has the client secret. Run: chmod 600 ');
    expect(stderr).toContain(`~/.mobify--${host} was not imported: it is not JSON.`);
    expect(stderr).toContain('package.json is invalid. It was not imported.');
  });

  test('uses no earlier login in a project of another service', async () => {
    await mycli(['login', '--origin', runtime.origin], {}, canary);
    await write({'project/dw.json': {mrtOrigin: 'https://other.example', mrtProject: 'shop'}});
    const {code, stderr} = await mycli(['init', '--yes']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('No origin specified.')]);
    expect(stderr).toContain(
      `The last login, to ${runtime.origin}, is not used: dw.json is for https://other.example.`,
    );
  });

  test('keeps the scopes and the origin of what is taken over with OAuth, and login stores the other key', async () => {
    const {tokenUrl, clientId, organizationId} = runtime.credentials;
    const dw = {mrtProject: 'shop', mrtOrigin: runtime.origin, mrtApiKey: canary, clientId, clientSecret: canary};
    await write({'project/dw.json': dw});
    const connection = ['--api-origin', runtime.origin, '--token-url', tokenUrl, '--organization', organizationId];
    const env = {SFCC_OAUTH_SCOPES: 'one two', MYCLI_TRUSTED_ORIGINS: runtime.origin};
    const {config, stderr} = await configOf(['--import', ...connection], env);
    expect(config).toMatchObject({runtimeBackend: 'api', origin: runtime.origin, api: {scopes: ['one', 'two']}});
    expect(stderr).toContain('OAuth scopes  one two  (SFCC_OAUTH_SCOPES)\n');
    expect(await mycli(['login', '--import', '--runtime-backend', 'legacy'], env)).toMatchObject({code: 0});
    expect(JSON.parse(await stored())).toMatchObject({
      origins: {[runtime.origin]: {apiKey: {key: canary}, api: {clientId, scopes: ['one', 'two']}}},
    });
  });

  test('sends a key to no address that only the project names, nor to one that it is not for', async () => {
    await write({'project/dw.json': {mrtOrigin: runtime.origin, mrtProject: 'shop'}});
    const {code, stdout} = await mycli(['init', '--import', '--json'], {MRT_API_KEY: canary});
    expect([code, JSON.parse(stdout)]).toMatchObject([3, {error: {code: 'ERR_ORIGIN_UNTRUSTED'}}]);
    const env = {MRT_API_KEY: canary, MRT_CLOUD_ORIGIN: 'https://other.example'};
    const {stored: kind} = await configOf(['--import', '--origin', runtime.origin], env);
    expect(kind).toBeNull();
  });

  test.runIf(process.getuid?.() === 0)('reads no file of another user', async () => {
    await write({'project/dw.json': {mrtProject: 'theirs'}});
    await chown(join(root, 'project/dw.json'), 4711, 4711);
    const {config, stderr} = await configOf(['--yes', '--origin', runtime.origin], {});
    expect(config).toMatchObject({projectSlug: 'project'});
    expect(stderr).toContain('dw.json belongs to another user (4711), so it is not read.');
  });
});

test('login: --import stores the key of another client without a question', async () => {
  await write({'project/mycli.config.json': {projectSlug: 'shop', origin: runtime.origin}});
  const env = {MRT_API_KEY: canary, MYCLI_TRUSTED_ORIGINS: runtime.origin};
  expect(await mycli(['login', '--import'], env)).toMatchObject({code: 0});
  expect(await stored()).toContain(canary);
  const {code, stderr} = await mycli(['login', '--import'], {MYCLI_TRUSTED_ORIGINS: runtime.origin});
  expect([code, stderr]).toEqual([3, expect.stringContaining('No other client has stored the API key.')]);
});

test.each([
  [
    {MRT_API_KEY: canary, MRT_PROJECT: 'shop'},
    {},
    'Found MRT_API_KEY and MRT_PROJECT of another client. To use it, run: mycli init --import',
  ],
  [{}, {'.mobify': canary}, 'Found ~/.mobify of another client. To use it, run: mycli init --import'],
  [{}, {'.mobify': canary, 'project/mycli.config.json': {projectSlug: 'a'}}, 'login --import'],
])('errors about missing credentials, and doctor, name what another client has: %j', async (env, files, advice) => {
  await write(files);
  const {code, stderr} = await mycli(['push'], env);
  expect([code, stderr]).toEqual([3, expect.stringContaining(advice)]);
  expect((await mycli(['doctor'], env)).stdout).toContain(advice);
});

describe('the file of another client', () => {
  test('is an API key with its user, on the command line and on stdin', async () => {
    await write({'.mobify': {username: 'me', api_key: canary}});
    const args = ['--origin', runtime.origin];
    const list = await mycli(['bundle:list', '-p', 'shop', '--json', '--api-key', '@~/.mobify', ...args]);
    expect(list).toMatchObject({code: 0});
    const text = JSON.stringify({username: 'me', api_key: canary});
    expect(await mycli(['login', ...args], {}, text)).toMatchObject({code: 0});
    expect(JSON.parse(await stored())).toMatchObject({
      origins: {[runtime.origin]: {apiKey: {key: canary, user: 'me'}}},
    });
  });

  test.each([
    ['MYCLI_API_KEY', {name: 'a', api_key: canary}, 'Pass only the text of its field api_key.'],
    ['MYCLI_CLIENT_SECRET', [], 'Pass only the text of the field with the secret.'],
  ])('JSON is refused as the value of %s, and the field is named: %j', async (name, json, advice) => {
    const {code, stderr} = await mycli(['bundle:list', '-p', 'shop'], {[name]: JSON.stringify(json)});
    expect([code, stderr]).toEqual([3, expect.stringContaining(`The value of ${name} is JSON, not a secret.`)]);
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain(canary);
  });
});
