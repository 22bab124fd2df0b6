import {describe, expect, test} from 'vitest';
import {apiBackend} from '../../src/backends/api/backend.js';
import {
  notConfigured,
  optionsOf,
  resolveBackend,
  secretsOf,
  unfitForSlugs,
} from '../../src/backends/resolve-backend.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import {BearerTokenStrategy} from '../../src/http/index.js';
import {silent} from './context-for.js';

const auth = new BearerTokenStrategy('token');

describe('the options of a backend', () => {
  test('are the settings themselves for a built-in one', async () => {
    const apiConnection = {origin: 'https://api.example', organizationId: 'o', auth};
    const settings = {
      apiConnection,
      legacyAuth: auth,
      origin: 'https://runtime.example',
      backendOptions: {region: 'eu'},
    };
    expect(await optionsOf(apiBackend, settings)).toEqual({connection: apiConnection});
    expect(await optionsOf(legacyBackend, settings)).toEqual({
      origin: 'https://runtime.example',
      auth,
    });
  });

  test('are as they were given when a plugin has no schema', async () => {
    const acme = {...legacyBackend, name: 'acme'};
    expect(await optionsOf(acme, {backendOptions: {region: 'eu'}})).toEqual({region: 'eu'});
    expect(await optionsOf(acme, {})).toEqual({});
  });

  test('contain no secrets without options, or without a list of them', () => {
    expect(secretsOf({secrets: ['token']}, {})).toEqual([]);
    expect(secretsOf({}, {backendOptions: {token: 'canary'}})).toEqual([]);
    expect(secretsOf({secrets: ['token']}, {backendOptions: {token: null}})).toEqual([]);
    expect(secretsOf({secrets: ['token']}, {backendOptions: {token: true}})).toEqual([]);
  });

  test('contain the secrets among them, and the variables of a backend', () => {
    const env = {ACME_KEY: 'canary-1', ACME_REGION: 'eu'};
    const backendOptions = {token: 'canary-2', bucket: 'b'};
    expect(secretsOf({secrets: ['token']}, {backendOptions}, env)).toEqual(['canary-2', 'canary-2']);
    expect(secretsOf({secretEnv: ['ACME_KEY']}, {backendOptions}, env)).toEqual(['canary-1', 'canary-1']);
  });
});

describe('what a backend misses', () => {
  test('is what it says, of its settings, the environment, the project and the target', async () => {
    const apiConnection = {origin: 'https://api.example', organizationId: 'o', auth};
    const surroundings = {
      configDirectory: '/',
      env: {},
      logger: silent,
      projectSlug: 'my shop',
      targetSlug: 'My target',
    };
    expect(await resolveBackend(apiBackend, {apiConnection}, surroundings)).toMatchObject({
      missing: [],
      unfit: [expect.stringContaining('"my shop"'), expect.stringContaining('"My target"')],
      problem: {code: 'ERR_OPTION_INVALID'},
    });
    const env = {MYCLI_RUNTIME_ORIGIN: 'https://runtime.example'};
    const place = {configDirectory: '/', env, logger: silent};
    const missing = ['legacyAuth (an API key)'];
    const problem = {code: 'ERR_CREDENTIALS_MISSING', details: {missing}};
    const legacy = await resolveBackend(legacyBackend, {}, place);
    expect(legacy).toMatchObject({missing, unfit: [], problem});
    expect(legacy.location()).toEqual({backend: 'legacy', origin: 'https://runtime.example'});
    expect(await resolveBackend(legacyBackend, {legacyAuth: auth}, place)).toMatchObject({problem: undefined});
    const settingNames = {
      origin: ['--origin'],
      legacyAuth: ['--api-key'],
      apiConnection: ['--api-origin', 'MYCLI_CLIENT_ID'],
    };
    const inWords = {...place, settingNames};
    expect(await resolveBackend(legacyBackend, {}, inWords)).toMatchObject({missing: ['--api-key']});
    expect(await resolveBackend(apiBackend, {}, inWords)).toMatchObject({missing: settingNames.apiConnection});
  });
});

test.each([
  [
    'api',
    'Runtime (OAuth)',
    /^Correct the slug, or use Runtime \(API key\): pass --runtime-backend legacy and --origin URL/,
  ],
  ['acme', 'acme', /^Correct the slug\.$/],
])('the error of slugs that %s cannot take says what they must be', (name, title, advice) => {
  const problems = ['a project slug of letters', 'a target slug of digits'];
  expect(unfitForSlugs({name}, problems)).toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: `The ${title} backend requires a project slug of letters, and a target slug of digits.`,
    suggestions: [expect.stringMatching(advice)],
    details: {backend: name, problems},
  });
});

describe('the error of a backend that is not configured', () => {
  const origin = 'https://runtime.example';
  const address = expect.stringContaining('--origin') as string;
  const key = expect.stringContaining('--api-key') as string;

  test.each([
    [{legacyAuth: auth}, {}, 'ERR_ORIGIN_MISSING', [address]],
    [{origin}, {}, 'ERR_CREDENTIALS_MISSING', [key]],
    [{}, {MYCLI_RUNTIME_ORIGIN: origin}, 'ERR_CREDENTIALS_MISSING', [key]],
    [{}, {}, 'ERR_CREDENTIALS_MISSING', [expect.stringContaining('auth:login --origin URL')]],
  ])('depends for legacy on what is set, whatever the caller calls it: %j, %j', (settings, env, code, suggestions) => {
    const missing = ['the origin of a key'];
    const error = notConfigured({name: 'legacy'}, missing, settings, env);
    expect(error).toMatchObject({code, exitCode: 3, suggestions, details: {backend: 'legacy', missing}});
    expect(error.message).toContain('missing the origin of a key.');
  });

  test.each([
    ['api', '--api-origin'],
    ['acme', '"backends.acme"'],
  ])('says for %s where its settings go', (name, place) => {
    expect(notConfigured({name}, ['origin'], {}, {})).toMatchObject({
      code: 'ERR_CREDENTIALS_MISSING',
      suggestions: [expect.stringContaining(place)],
    });
  });

  const login =
    'Add token=... to MYCLI_BACKEND_OPTION (key=value,key=value, or JSON), or run in a terminal: mycli auth:login --runtime-backend acme';
  const option = 'Pass --backend-option key=value, or set "backends.acme" in the configuration file.';
  test.each([
    [['token'], [login]],
    [['token (from your account)'], [login]],
    [['the token of your account'], [login]],
    [
      ['url', 'token'],
      [login, option],
    ],
    [['url'], [option]],
  ])('never advises a flag or a file for a secret: %j', (missing, suggestions) => {
    expect(notConfigured({name: 'acme', secrets: ['token', 'key']}, missing, {}, {})).toMatchObject({suggestions});
  });

  test('names all that is missing, and each secret and variable that is', () => {
    const acme = {name: 'acme', secrets: ['token', 'key'], secretEnv: ['ACME_ID', 'ACME_KEY', 'ACME_REGION']};
    const error = notConfigured(acme, ['token', 'key', 'ACME_ID', 'the ACME_KEY: of your account'], {}, {});
    expect(error.message).toBe(
      'The acme backend is not configured: missing token, key, ACME_ID, the ACME_KEY: of your account.',
    );
    expect(error.suggestions).toEqual([
      'Set ACME_ID and ACME_KEY, or run in a terminal: mycli auth:login --runtime-backend acme',
      login.replace('token=...', 'token=...,key=...'),
    ]);
    // Behind a colon or a full stop, a word is no name.
    expect(notConfigured(acme, ['url: a token'], {}, {})).toMatchObject({suggestions: [option]});
  });
});
