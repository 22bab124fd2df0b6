import {inspect} from 'node:util';
import {describe, expect, test} from 'vitest';
import {
  ApiKeyStrategy,
  authorize,
  BearerTokenStrategy,
  createRequestBodies,
  OAuthClientCredentialsStrategy,
} from '../../src/http/index.js';
import {isRuntimeCliError} from '../../src/errors/index.js';
import {parseMultipart, reasonOf, rejection, testClient, testSource} from './test-client.js';
import {refuseFirst, sendJson, startRecordingServer, startServer, type TestServer} from './with-server.js';

const clientSecret = 'canary-secret-51b2';

function strategy(tokens: TestServer, options: {scopes?: string[]; now?: () => number} = {}) {
  return new OAuthClientCredentialsStrategy({
    tokenUrl: `${tokens.origin}/token?tenant=1`,
    clientId: 'client-1',
    clientSecret,
    ...options,
  });
}

/** A token endpoint: `token-1`, `token-2`, ... */
async function startTokenServer(expiresIn: unknown = 3600) {
  return startRecordingServer((response, _, count) => {
    sendJson(response, 200, {access_token: `token-${count}`, expires_in: expiresIn, token_type: 'Bearer'});
  });
}

describe('API keys and ready-made tokens', () => {
  test('a key is a bearer token, with a user it is Basic', async () => {
    expect(await new ApiKeyStrategy({apiKey: 'key-1'}).getAuthorizationHeader()).toBe('Bearer key-1');
    expect(await new ApiKeyStrategy({apiKey: 'kéy:1', user: 'me'}).getAuthorizationHeader()).toBe(
      `Basic ${Buffer.from('me:kéy:1').toString('base64')}`,
    );
    expect(await new BearerTokenStrategy('token-1').getAuthorizationHeader()).toBe('Bearer token-1');
  });

  test.each(['', 'a\nb', 'a b', 'kéy'])('%j cannot be a bearer token, and is not repeated in the error', (apiKey) => {
    expect(() => new ApiKeyStrategy({apiKey})).toThrow(
      expect.objectContaining({code: 'ERR_OPTION_INVALID', message: expect.not.stringMatching(/kéy|a b/) as string}),
    );
  });

  test('a user name cannot hold a colon', () => {
    expect(() => new ApiKeyStrategy({apiKey: 'key-1', user: 'a:b'})).toThrow(/colon/);
  });

  test('strategies show nothing when they are printed', async () => {
    const tokens = await startTokenServer();
    const oauth = strategy(tokens);
    await oauth.getAuthorizationHeader();
    const strategies = [new ApiKeyStrategy({apiKey: clientSecret}), new BearerTokenStrategy(clientSecret), oauth];
    for (const value of strategies) {
      const text = inspect(value, {depth: Infinity, showHidden: true}) + JSON.stringify(value);
      expect(text).not.toMatch(/canary|token-1|Basic/);
    }
  });
});

describe('authorize', () => {
  test('sends the header to its origin, whatever the path, and to no other', async () => {
    const [own, other] = [await startRecordingServer(refuseFirst(0)), await startRecordingServer(refuseFirst(0))];
    const {http} = await testClient();
    const authorized = authorize(http, new BearerTokenStrategy('token-1'), `${own.origin}/base/path`);
    await authorized.get(`${own.origin}/elsewhere`);
    await authorized.get(`${other.origin}/base/path`);
    expect(own.requests[0]?.headers.authorization).toBe('Bearer token-1');
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('a 401 to a key is not tried again', async () => {
    const server = await startRecordingServer(refuseFirst(Infinity, 401));
    const {http} = await testClient();
    const authorized = authorize(http, new ApiKeyStrategy({apiKey: 'key-1234'}), server.origin);
    expect(await rejection(authorized.get(server.origin))).toMatchObject({code: 'ERR_UNAUTHORIZED', exitCode: 4});
    expect(server.requests).toHaveLength(1);
  });

  test('after a success, a 401 renews the token once and sends the whole body again', async () => {
    const tokens = await startTokenServer();
    const api = await startRecordingServer((response, {headers}, count) => {
      sendJson(response, count === 1 || headers.authorization === 'Bearer token-2' ? 201 : 401, {});
    });
    const {http} = await testClient();
    const authorized = authorize(http, strategy(tokens), api.origin);
    const source = testSource(100_000);
    const file = {name: 'bundle', filename: 'b', contentType: 'application/octet-stream', source};
    const upload = () => authorized.post(api.origin, createRequestBodies().multipart({file, fields: {message: 'm'}}));
    await upload();
    await upload();
    expect(api.requests.map(({headers}) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
    ]);
    for (const request of api.requests) {
      expect((await parseMultipart(request)).files[0]?.bytes.equals(source.bytes)).toBe(true);
    }
  });

  test('a renewed token that is refused as well is reported, not renewed again', async () => {
    const tokens = await startTokenServer();
    const api = await startRecordingServer((response, _, count) => sendJson(response, count === 1 ? 200 : 401, {}));
    const {http} = await testClient();
    const authorized = authorize(http, strategy(tokens), api.origin);
    await authorized.get(api.origin);
    expect(await rejection(authorized.get(api.origin))).toMatchObject({code: 'ERR_UNAUTHORIZED'});
    expect(tokens.requests).toHaveLength(2);
    expect(api.requests).toHaveLength(3);
  });

  test('a token that was never accepted is not renewed, and not kept either', async () => {
    const tokens = await startTokenServer();
    const api = await startRecordingServer((response, _, count) => sendJson(response, count === 1 ? 401 : 200, {}));
    const {http} = await testClient();
    const auth = strategy(tokens);
    expect(await rejection(authorize(http, auth, api.origin).get(api.origin))).toMatchObject({status: 401});
    expect([tokens.requests.length, api.requests.length]).toEqual([1, 1]);
    await authorize(http, auth, api.origin).get(api.origin);
    expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer token-2');
  });

  test('a token that another client left in the strategy is renewed', async () => {
    const tokens = await startTokenServer();
    const auth = strategy(tokens);
    await auth.getAuthorizationHeader();
    const api = await startRecordingServer((response, {headers}) => {
      sendJson(response, headers.authorization === 'Bearer token-2' ? 200 : 401, {});
    });
    const {http} = await testClient();
    await authorize(http, auth, api.origin).get(api.origin);
    expect(api.requests).toHaveLength(2);
  });

  test('401, renewal and 429 in one call keep to their own counts', async () => {
    const tokens = await startTokenServer();
    const statuses = [200, 401, 429, 429, 429, 200];
    const api = await startRecordingServer((response, _, count) => sendJson(response, statuses[count - 1] ?? 500, {}));
    const {http} = await testClient();
    const authorized = authorize(http, strategy(tokens), api.origin);
    await authorized.get(api.origin);
    await authorized.get(api.origin);
    expect(api.requests).toHaveLength(6);
  });
});

describe('OAuth client credentials', () => {
  test('asks as RFC 6749 has it, with the client of the request', async () => {
    const tokens = await startTokenServer();
    const {http} = await testClient();
    await strategy(tokens, {scopes: ['a.b', 'c']}).getAuthorizationHeader({http});
    const [request] = tokens.requests;
    expect(request).toMatchObject({method: 'POST', url: '/token?tenant=1'});
    expect(request?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from(`client-1:${clientSecret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'mycli/1.2.3 test',
    });
    expect([...new URLSearchParams(String(request?.body))]).toEqual([
      ['grant_type', 'client_credentials'],
      ['scope', 'a.b c'],
    ]);
  });

  test('keeps a token until shortly before it expires', async () => {
    const tokens = await startTokenServer(3600);
    let time = 1000;
    const auth = strategy(tokens, {now: () => time});
    expect(await auth.getAuthorizationHeader()).toBe('Bearer token-1');
    time += 3500 * 1000;
    expect(await auth.getAuthorizationHeader()).toBe('Bearer token-1');
    time += 50 * 1000;
    expect(await auth.getAuthorizationHeader()).toBe('Bearer token-2');
  });

  test.each([
    [undefined, 1],
    ['3600', 1],
    [0, 2],
  ])('with expires_in %j two calls need %d requests', async (expiresIn, requests) => {
    const tokens = await startTokenServer(expiresIn);
    const auth = strategy(tokens);
    await auth.getAuthorizationHeader();
    await auth.getAuthorizationHeader();
    expect(tokens.requests).toHaveLength(requests);
  });

  test('calls at the same time share one request', async () => {
    const tokens = await startTokenServer();
    const auth = strategy(tokens);
    const headers = await Promise.all(Array.from({length: 5}, async () => auth.getAuthorizationHeader()));
    expect(headers).toEqual(Array(5).fill('Bearer token-1'));
    expect(tokens.requests).toHaveLength(1);
  });

  test('an aborted call does not take the others with it', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    let requests = 0;
    const tokens = await startServer((_, response) => {
      requests += 1;
      if (requests === 1) controller.abort(reason);
      else sendJson(response, 200, {access_token: 'token-2', expires_in: 3600});
    });
    const auth = strategy(tokens);
    const {http} = await testClient();
    const first = reasonOf(auth.getAuthorizationHeader({http, signal: controller.signal}));
    const second = auth.getAuthorizationHeader({http});
    expect(await first).toBe(reason);
    expect(await second).toBe('Bearer token-2');
  });

  test.each([
    [400, {error: 'invalid_scope', error_description: `scope of ${clientSecret}`}, 'invalid_scope'],
    [401, {error: 'invalid_client'}, 'invalid_client'],
    [403, 'forbidden', undefined],
  ])('a refusal with %d is ERR_OAUTH with the code of the endpoint', async (status, answer, oauthError) => {
    const tokens = await startRecordingServer((response) => sendJson(response, status, answer));
    const {http, log} = await testClient();
    const api = await startRecordingServer(refuseFirst(0));
    const error = await rejection(authorize(http, strategy(tokens), api.origin).post(api.origin, {json: {}}));
    expect(error).toMatchObject({code: 'ERR_OAUTH', exitCode: 4, status, method: 'POST', path: '/token'});
    expect(error.details?.['oauthError']).toBe(oauthError);
    expect(api.requests).toHaveLength(0);
    const text = [inspect(error, {depth: Infinity, showHidden: true}), JSON.stringify(error), ...log].join('\n');
    expect(text).not.toContain(clientSecret);
    expect(text).not.toContain(Buffer.from(`client-1:${clientSecret}`).toString('base64'));
  });

  test('a rate limit is waited for, a failing endpoint asked again', async () => {
    const statuses = [429, 503, 200];
    const tokens = await startRecordingServer((response, _, count) => {
      sendJson(response, statuses[count - 1] ?? 500, {access_token: 'token-9'});
    });
    const {http} = await testClient();
    expect(await strategy(tokens).getAuthorizationHeader({http})).toBe('Bearer token-9');
  });

  test('a lost connection to the endpoint is a network error, not an unknown outcome', async () => {
    const tokens = await startServer((request) => request.socket.destroy());
    const {http} = await testClient();
    const error = await reasonOf(strategy(tokens).getAuthorizationHeader({http}));
    expect(error).toMatchObject({code: 'ERR_NETWORK'});
    expect(isRuntimeCliError(error)).toBe(true);
  });

  test.each([
    ['no token', '{}'],
    ['no JSON', '<html>'],
    ['a token that no header can carry', '{"access_token":"a\\nb"}'],
  ])('an answer with %s is an error', async (_, body) => {
    const tokens = await startRecordingServer((response) => response.end(body));
    const {http} = await testClient();
    await rejection(strategy(tokens).getAuthorizationHeader({http}));
    expect(tokens.requests).toHaveLength(1);
  });

  test('a token URL with credentials is refused, and they are not repeated', () => {
    const options = {tokenUrl: 'https://me:canary-pass@x.test/token', clientId: 'c', clientSecret};
    expect(() => new OAuthClientCredentialsStrategy(options)).toThrow(
      expect.objectContaining({code: 'ERR_ORIGIN_INVALID', message: expect.not.stringContaining('canary') as string}),
    );
  });
});
