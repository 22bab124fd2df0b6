import {describe, expect, test} from 'vitest';
import {
  deployFallbackReason,
  failedTwice,
  fallbackWarning,
  firstChoice,
  uploadFallbackReason,
} from '../../src/backends/select.js';
import {createError, type ErrorCode} from '../../src/errors/index.js';
import {BearerTokenStrategy} from '../../src/http/auth/strategies.js';

test('auto: without an API connection, legacy serves, else Api; what is named serves always', () => {
  const apiConnection = {origin: 'https://api.example', organizationId: 'o', auth: new BearerTokenStrategy('token')};
  expect(firstChoice('auto', {})).toBe('legacy');
  expect(firstChoice('auto', {apiConnection})).toBe('api');
  expect(firstChoice('acme', {apiConnection})).toBe('acme');
  expect(firstChoice('api', {})).toBe('api');
});

function answer(status: number): Error {
  const codes: Readonly<Record<number, ErrorCode>> = {401: 'ERR_UNAUTHORIZED', 403: 'ERR_FORBIDDEN'};
  return createError(codes[status] ?? (status >= 500 ? 'ERR_SERVER' : 'ERR_REJECTED'), 'refused', {status});
}

describe('falling back after an upload', () => {
  test.each([400, 401, 403, 404, 405, 406, 415])('%i falls back, for nothing was carried out', (status) => {
    expect(uploadFallbackReason(answer(status))).toBe(
      `the Runtime (OAuth) backend rejected the upload (${String(status)})`,
    );
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
    expect(uploadFallbackReason(upload)).toBe(`the Runtime (OAuth) backend rejected the upload (404)${quoted}`);
    const deploy = createError('ERR_FORBIDDEN', 'refused', {status: 403, details});
    expect(deployFallbackReason(deploy)).toBe(`the Runtime (OAuth) backend rejected the deployment (403)${quoted}`);
  });

  test('a capability that the Api backend lacks falls back, a bug does not', () => {
    expect(uploadFallbackReason(createError('ERR_CAPABILITY_UNSUPPORTED', 'no'))).toBe('no');
    expect(uploadFallbackReason(new TypeError('bug'))).toBeUndefined();
    expect(uploadFallbackReason(Object.assign(new Error('of a library'), {status: 404}))).toBeUndefined();
  });
});

describe('falling back after a request to deploy', () => {
  test.each([401, 403])('%i falls back', (status) => {
    expect(deployFallbackReason(answer(status))).toBe(
      `the Runtime (OAuth) backend rejected the deployment (${String(status)})`,
    );
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

test("a firewall's page with a status of refusal is no answer of the service, so nothing falls back", () => {
  expect(uploadFallbackReason(createError('ERR_NETWORK', 'A page.', {status: 403}))).toBeUndefined();
  expect(uploadFallbackReason(createError('ERR_FORBIDDEN', 'No.', {status: 403}))).toContain('(403)');
});

test('a fallback that fails as well says why there was one, first', () => {
  expect(fallbackWarning('it was refused')).toBe('Fell back to the Runtime (API key) backend: it was refused.');
  const first = createError('ERR_FORBIDDEN', 'No.', {suggestions: ['Ask for a scope.']});
  const second = createError('ERR_SERVER', 'It is down.', {suggestions: ['Wait.']});
  expect(failedTwice(first, second)).toMatchObject({
    code: 'ERR_SERVER',
    message: 'No. The Runtime (API key) backend also failed: It is down.',
    suggestions: expect.arrayContaining(['Ask for a scope.', 'Wait.']) as string[],
  });
  const others = [createError('ERR_INTERRUPTED', 'Stopped.'), new Error('a bug')];
  for (const other of others) expect(failedTwice(first, other)).toBe(other);
  expect(failedTwice(new Error('a bug'), second)).toBe(second);
});
