import {generateKeyPairSync} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import {
  assertTrustedOrigin,
  incompleteApi,
  resolveConnection,
  settingNames,
  type Connection,
} from '../../../src/cli/settings/connection-options.js';
import {OptionText} from '../../../src/backends/plugins/option-text.js';
import {resolveSettings} from '../../../src/cli/settings/settings.js';

type Variables = Readonly<Record<string, string>>;

/** The environment, and the settings that it leads to. */
function read(variables: Variables, flags: Readonly<Record<string, unknown>> = {}) {
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`MYCLI_${name}`, value]));
  return {env, settings: resolveSettings({flags, env, cwd: '/'})};
}

async function resolve(
  variables: Variables,
  flags: Readonly<Record<string, unknown>> = {},
): Promise<{connection: Connection; warnings: readonly string[]}> {
  const warnings: string[] = [];
  const {env, settings} = read(variables, flags);
  const output = {warn: (text: string) => warnings.push(text), addSecrets: () => undefined};
  return {connection: resolveConnection({env, output}, settings), warnings};
}

const legacy = {RUNTIME_ORIGIN: 'runtime.example/', API_KEY: 'canary-key'};
const api = {
  API_ORIGIN: 'https://api.example/base/',
  ORGANIZATION: 'org',
  TOKEN_URL: 'https://login.example/token?realm=x',
  CLIENT_ID: 'id',
  CLIENT_SECRET: 'canary-secret',
};

describe('resolveConnection', () => {
  test('without anything says what is missing, by flag and variable', async () => {
    const {connection} = await resolve({});
    expect(connection).toMatchObject({preference: 'auto', legacyAuth: undefined, secrets: []});
    expect(connection.apiConnection).toBeUndefined();
    expect(connection).toMatchObject({requestTimeout: 300});
    expect(settingNames(read({}).settings)).toEqual({
      origin: ['--origin (MYCLI_RUNTIME_ORIGIN)'],
      legacyAuth: ['--api-key (MYCLI_API_KEY)'],
      apiConnection: [
        '--api-origin (MYCLI_API_ORIGIN)',
        '--organization (MYCLI_ORGANIZATION)',
        'MYCLI_TOKEN_URL',
        'MYCLI_CLIENT_ID',
        '--client-secret (MYCLI_CLIENT_SECRET)',
      ],
    });
  });

  test('an API key is a bearer token, with a user basic authentication', async () => {
    const {connection} = await resolve(legacy);
    expect(connection).toMatchObject({origin: 'https://runtime.example', secrets: ['canary-key']});
    expect(await connection.legacyAuth?.getAuthorizationHeader()).toBe('Bearer canary-key');
    const withUser = await resolve({...legacy, API_USER: 'ann'});
    const basic = Buffer.from('ann:canary-key').toString('base64');
    expect(await withUser.connection.legacyAuth?.getAuthorizationHeader()).toBe(`Basic ${basic}`);
  });

  test('client credentials or a ready-made token complete the connection to Api', async () => {
    const {connection} = await resolve(api);
    expect(connection.apiConnection).toMatchObject({origin: 'https://api.example/base', organizationId: 'org'});
    const {CLIENT_SECRET: _, ...client} = api;
    const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
    const withKey = await resolve({
      ...client,
      CLIENT_KEY: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
    });
    expect(withKey.connection.apiConnection).toBeDefined();
    const withToken = await resolve({API_ORIGIN: 'api.example', ORGANIZATION: 'org', API_TOKEN: 'canary-token'});
    expect(await withToken.connection.apiConnection?.auth.getAuthorizationHeader()).toBe('Bearer canary-token');
  });

  test('an incomplete connection is left out, and what it lacks is listed', async () => {
    const incomplete = {...api, CLIENT_SECRET: ''};
    const {connection} = await resolve(incomplete);
    expect(connection.apiConnection).toBeUndefined();
    expect(settingNames(read(incomplete).settings).apiConnection).toEqual(['--client-secret (MYCLI_CLIENT_SECRET)']);
  });

  test('timeouts, rate limits and the options of the chosen backend come along', async () => {
    const flags = {'runtime-backend': 'acme', 'backend-option': ['folder=x'], 'max-retries': '0'};
    expect((await resolve({CONNECT_TIMEOUT: '30', IDLE_TIMEOUT: '90'}, flags)).connection).toMatchObject({
      preference: 'acme',
      connectTimeout: 30,
      idleTimeout: 90,
      backendOptions: {folder: new OptionText('x')},
      rateLimit: {maxRetries: 0, baseDelayMs: 1000, maxDelayMs: 30_000, statusCodes: [429]},
    });
  });

  test('warns before credentials go to an http: origin, loopback excepted', async () => {
    const {warnings} = await resolve({...legacy, RUNTIME_ORIGIN: 'http://runtime.example'});
    expect(warnings).toEqual(['Credentials are sent unencrypted to http://runtime.example. Use https.']);
    expect((await resolve({...legacy, RUNTIME_ORIGIN: 'http://127.0.0.1:4000'})).warnings).toEqual([]);
    expect((await resolve({RUNTIME_ORIGIN: 'http://runtime.example'})).warnings).toEqual([]);
  });

  test.each([
    ['RUNTIME_ORIGIN', 'https://other.example'],
    ['API_ORIGIN', 'https://other.example'],
    ['TOKEN_URL', 'https://other.example/token'],
  ])('%s must be trusted when MYCLI_TRUSTED_ORIGINS is set', async (name, value) => {
    const trusted = {TRUSTED_ORIGINS: 'https://runtime.example https://api.example https://login.example'};
    await expect(resolve({...legacy, ...api, ...trusted})).resolves.toBeDefined();
    await expect(resolve({...legacy, ...api, ...trusted, [name]: value})).rejects.toMatchObject({
      code: 'ERR_ORIGIN_UNTRUSTED',
      suggestions: [expect.stringContaining(`MYCLI_${name}`)],
    });
  });

  test('an origin that gets no credentials need not be trusted', async () => {
    const trusted = {TRUSTED_ORIGINS: 'runtime.example', RUNTIME_BACKEND: 'legacy'};
    await expect(resolve({...legacy, ...api, ...trusted})).resolves.toBeDefined();
  });

  test.each(['ftp://x', 'https://user:canary@x', 'https://x?y', '/etc/x', 'https:///etc/x', "'https://x'", '"x'])(
    '%s is no origin',
    async (origin) => {
      const error: unknown = await resolve({RUNTIME_ORIGIN: origin}).catch((reason: unknown) => reason);
      expect(error).toMatchObject({code: 'ERR_OPTION_INVALID'});
      expect(String(error)).not.toContain('canary');
    },
  );
});

describe('incompleteApi', () => {
  const incomplete = (variables: Variables) => {
    const {env, settings} = read(variables);
    return incompleteApi(settings, env);
  };

  test.each<[Variables, string, readonly string[]]>([
    [
      {...api, CLIENT_SECRET: ''},
      'missing client secret (given: API origin, organization, token URL, client ID; set but empty: MYCLI_CLIENT_SECRET)',
      [
        'CI systems leave a variable empty if its secret is missing: set or unset MYCLI_CLIENT_SECRET.',
        'Pass --client-secret SECRET, or set MYCLI_CLIENT_SECRET.',
        'Or store credentials: mycli auth:login --api-origin https://api.example/base',
        'Pass --runtime-backend legacy to use Runtime (API key) instead.',
      ],
    ],
    [
      {RUNTIME_BACKEND: 'api', API_ORIGIN: 'api.example', API_TOKEN: 'x'},
      'missing organization (given: API origin, API token)',
      ['Pass --organization ID, or set MYCLI_ORGANIZATION or api.organizationId in mycli.config.'],
    ],
    [
      {SCOPE: ' '},
      'missing API origin, organization, token URL, client ID, client secret (set but empty: MYCLI_SCOPE)',
      [],
    ],
  ])('%j: names what is given and what is missing', (variables, message, suggestions) => {
    const error = incomplete(variables);
    expect(error?.message).toBe(`The API connection is incomplete: ${message}.`);
    if (suggestions.length > 0) expect(error?.suggestions).toEqual(suggestions);
  });

  test.each<Variables>([
    {},
    api,
    {...api, SCOPE: '', API_TOKEN: ''},
    {...api, CLIENT_SECRET: '', RUNTIME_BACKEND: 'legacy'},
  ])('%j: is fine', (variables) => {
    expect(incomplete(variables)).toBeUndefined();
  });
});

function check(url: string, list: string | undefined): void {
  assertTrustedOrigin(url, '--origin', {MYCLI_TRUSTED_ORIGINS: list});
}

describe('assertTrustedOrigin', () => {
  test.each([undefined, '', ' '])('trusts every origin when the list is %j', (list) => {
    expect(() => check('https://anywhere.example', list)).not.toThrow();
  });

  test.each([',', ' , '])('trusts no origin when the list is %j', (list) => {
    expect(() => check('https://anywhere.example', list)).toThrow(
      expect.objectContaining({code: 'ERR_ORIGIN_UNTRUSTED'}),
    );
  });

  test.each([
    ['https://a.example/base', 'https://a.example'],
    ['https://a.example', 'b.example, a.example'],
    ['https://a.example', 'https://A.EXAMPLE:443/'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000 https://a.example'],
  ])('trusts %s when the list is %s', (url, list) => {
    expect(() => check(url, list)).not.toThrow();
  });

  test.each([
    ['https://a.example.evil.example', 'https://a.example'],
    ['https://sub.a.example', 'https://a.example'],
    ['http://a.example', 'https://a.example'],
    ['https://a.example:8443', 'a.example'],
    ['https://a.example@evil.example', 'https://a.example'],
  ])('does not trust %s when the list is %s', (url, list) => {
    expect(() => check(url, list)).toThrow(expect.objectContaining({code: 'ERR_ORIGIN_UNTRUSTED'}));
  });

  test('a list with something else than origins is an error that names it', () => {
    expect(() => check('https://a.example', 'https://')).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: 'MYCLI_TRUSTED_ORIGINS is not a valid URL: "https://".',
      }),
    );
  });
});
