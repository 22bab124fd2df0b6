import {describe, expect, test} from 'vitest';
import {deployFallbackReason, notConfigured, selectBackend, uploadFallbackReason} from '../../src/backends/select.js';
import {createError, type ErrorCode} from '../../src/errors/index.js';

describe('choosing the backend', () => {
  test('auto takes Api when it is configured, and falls back to a configured legacy only', () => {
    expect(selectBackend({preference: 'auto', apiMissing: [], legacyMissing: []})).toMatchObject({
      backend: 'api',
      reason: expect.stringContaining('Api connection is configured') as string,
      fallback: 'legacy',
    });
    expect(selectBackend({preference: 'auto', apiMissing: [], legacyMissing: ['an API key']})).toMatchObject({
      backend: 'api',
      fallback: undefined,
    });
  });

  test('auto without an Api connection takes legacy, says what is missing, and never falls back', () => {
    const selection = selectBackend({preference: 'auto', apiMissing: ['--client-id'], legacyMissing: []});
    expect(selection).toEqual({backend: 'legacy', reason: 'the Api connection is incomplete: missing --client-id'});
  });

  test('auto with half an Api connection and nothing of legacy tells what Api misses, item by item', () => {
    const selection = selectBackend({preference: 'auto', apiMissing: ['--a', '--b'], legacyMissing: ['--origin']});
    expect(selection).toEqual({backend: 'legacy', reason: 'the Api connection is incomplete: missing --a, --b'});
  });

  test('auto says it simply when nothing at all is set for Api', () => {
    const selection = selectBackend({
      preference: 'auto',
      apiMissing: ['--a', '--b'],
      apiUnset: true,
      legacyMissing: [],
    });
    expect(selection).toEqual({backend: 'legacy', reason: 'no Api connection is configured'});
  });

  test.each(['api', 'legacy', 'acme'])('an explicit %s is that backend and never falls back', (preference) => {
    const selection = selectBackend({preference, apiMissing: [], legacyMissing: []});
    expect(selection).toMatchObject({backend: preference, reason: expect.stringContaining('set explicitly') as string});
    expect(selection.fallback).toBeUndefined();
  });
});

function answer(status: number): Error {
  const code: ErrorCode =
    status === 401
      ? 'ERR_UNAUTHORIZED'
      : status === 403
        ? 'ERR_FORBIDDEN'
        : status >= 500
          ? 'ERR_SERVER'
          : 'ERR_REJECTED';
  return createError(code, 'refused', {status});
}

describe('falling back after an upload', () => {
  test.each([400, 401, 403, 404, 405, 406, 415])('%i falls back, for nothing was carried out', (status) => {
    expect(uploadFallbackReason(answer(status))).toBe(`the Api backend rejected the upload (${String(status)})`);
  });

  test.each([402, 408, 409, 410, 413, 422, 429, 500, 502, 503, 504])('%i does not fall back', (status) => {
    expect(uploadFallbackReason(answer(status))).toBeUndefined();
  });

  test.each(['ERR_NETWORK', 'ERR_TIMEOUT', 'ERR_TLS', 'ERR_OUTCOME_UNKNOWN', 'ERR_RESPONSE_INVALID'] as const)(
    '%s does not fall back',
    (code) => {
      expect(uploadFallbackReason(createError(code, 'lost'))).toBeUndefined();
    },
  );

  test('invalid_scope of the token endpoint falls back, another refusal of it does not', () => {
    const refusal = (oauthError: string) => createError('ERR_OAUTH', 'refused', {status: 400, details: {oauthError}});
    expect(uploadFallbackReason(refusal('invalid_scope'))).toContain('invalid_scope');
    expect(uploadFallbackReason(refusal('invalid_client'))).toBeUndefined();
    expect(uploadFallbackReason(createError('ERR_OAUTH', 'refused', {status: 400}))).toBeUndefined();
  });

  test.each([
    ['the scope of nothing', ': the scope of nothing'],
    ['', ''],
    [{text: 'none'}, ''],
    [undefined, ''],
  ])('the reason quotes what the server said: %j', (serverMessage, quoted) => {
    const details = {serverMessage};
    const upload = createError('ERR_REJECTED', 'refused', {status: 404, details});
    expect(uploadFallbackReason(upload)).toBe(`the Api backend rejected the upload (404)${quoted}`);
    const deploy = createError('ERR_FORBIDDEN', 'refused', {status: 403, details});
    expect(deployFallbackReason(deploy)).toBe(`the Api backend rejected the deployment (403)${quoted}`);
  });

  test('a capability that the Api backend lacks falls back, a bug does not', () => {
    expect(uploadFallbackReason(createError('ERR_CAPABILITY_UNSUPPORTED', 'no'))).toBe('no');
    expect(uploadFallbackReason(new TypeError('bug'))).toBeUndefined();
    expect(uploadFallbackReason(Object.assign(new Error('of a library'), {status: 404}))).toBeUndefined();
  });
});

describe('falling back after a request to deploy', () => {
  test.each([401, 403])('%i falls back', (status) => {
    expect(deployFallbackReason(answer(status))).toBe(`the Api backend rejected the deployment (${String(status)})`);
  });

  test.each([400, 404, 405, 406, 409, 415, 422, 429, 500])('%i does not: ids never cross backends', (status) => {
    expect(deployFallbackReason(answer(status))).toBeUndefined();
  });

  test('invalid_scope falls back', () => {
    const error = createError('ERR_OAUTH', 'refused', {status: 400, details: {oauthError: 'invalid_scope'}});
    expect(deployFallbackReason(error)).toContain('invalid_scope');
  });

  test('another refusal of the token endpoint does not, nor does a bug', () => {
    const details = {oauthError: 'invalid_client'};
    expect(deployFallbackReason(createError('ERR_OAUTH', 'refused', {status: 401, details}))).toBeUndefined();
    const odd = createError('ERR_SERVER', 'refused', {status: 500, details: {oauthError: 'invalid_scope'}});
    expect(deployFallbackReason(odd)).toBeUndefined();
    expect(uploadFallbackReason(odd)).toBeUndefined();
    expect(deployFallbackReason(new TypeError('bug'))).toBeUndefined();
    expect(deployFallbackReason(Object.assign(new Error('bug'), {code: 'ERR_FORBIDDEN', status: 403}))).toBeUndefined();
  });
});

describe('a backend that is not configured', () => {
  const address = expect.stringContaining('--origin') as string;
  const key = expect.stringContaining('--api-key') as string;

  test.each([
    [['--origin'], 'ERR_ORIGIN_MISSING', [address]],
    [['origin (MYCLI_RUNTIME_ORIGIN)'], 'ERR_ORIGIN_MISSING', [address]],
    [['--api-key'], 'ERR_CREDENTIALS_MISSING', [key]],
    [['--original-key'], 'ERR_CREDENTIALS_MISSING', [key]],
    [['the key of the origin'], 'ERR_CREDENTIALS_MISSING', [key]],
    [['--origin', '--api-key'], 'ERR_CREDENTIALS_MISSING', [address, key]],
  ])('when legacy misses %j, the error is %s, with the way out of each', (missing, code, suggestions) => {
    const error = notConfigured('legacy', missing);
    expect(error).toMatchObject({code, exitCode: 3, suggestions, details: {backend: 'legacy', missing}});
    expect(error.message).toContain(missing.join(', '));
  });

  test.each([
    ['api', '--api-origin'],
    ['acme', '"backends.acme"'],
  ])('tells for %s where its settings go', (name, place) => {
    expect(notConfigured(name, ['origin'])).toMatchObject({
      code: 'ERR_CREDENTIALS_MISSING',
      suggestions: [expect.stringContaining(place)],
    });
  });
});
