import {getEventListeners} from 'node:events';
import type {ServerResponse} from 'node:http';
import {inspect} from 'node:util';
import {describe, expect, test} from 'vitest';
import {CredentialsError} from '../../src/errors/index.js';
import {
  ApiKeyStrategy,
  authorize,
  BearerTokenStrategy,
  createRequestBodies,
  OAuthClientCredentialsStrategy,
  type AuthStrategy,
} from '../../src/http/index.js';
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

  test.each([
    ['token', () => new BearerTokenStrategy({token: 'canary'} as never)],
    ['API key', () => new ApiKeyStrategy({apiKey: undefined} as never)],
    ['API key', () => new ApiKeyStrategy({apiKey: 5, user: 'me'} as never)],
    ['client ID', () => new OAuthClientCredentialsStrategy({tokenUrl: 'https://tokens.example'} as never)],
  ])('a %s that is no string is refused', (what, make) => {
    expect(make).toThrow(
      expect.objectContaining({code: 'ERR_OPTION_INVALID', message: `The ${what} must be a string.`}),
    );
  });

  test.each([
    ['a:b', /colon/],
    ['a\n', /control character/],
  ])('a user name cannot be %j', (user, message) => {
    expect(() => new ApiKeyStrategy({apiKey: 'key-1', user})).toThrow(message);
  });

  test.each([
    [{clientId: 'a\n'}, 'A client ID cannot contain control characters.'],
    [{clientSecret: ''}, 'The client secret is empty.'],
  ])('client credentials %j are refused by their own names', (wrong, message) => {
    const right = {tokenUrl: 'https://tokens.example', clientId: 'id-1', clientSecret: 'canary'};
    expect(() => new OAuthClientCredentialsStrategy({...right, ...wrong})).toThrow(
      expect.objectContaining({code: 'ERR_OPTION_INVALID', message}),
    );
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

  test.each<unknown>(['Bearer canary\r\nX-Evil: 1', 'Bearer canary\u2028', '', 5, undefined])(
    'a strategy that gives %j for a header is refused before anything is sent',
    async (header) => {
      const server = await startRecordingServer(refuseFirst(0));
      const {http} = await testClient();
      const auth: AuthStrategy = {getAuthorizationHeader: async () => header as string};
      const error = await rejection(authorize(http, auth, server.origin).get(server.origin));
      expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', exitCode: 3});
      expect(inspect(error, {depth: Infinity, showHidden: true})).not.toContain('canary');
      expect(server.requests).toHaveLength(0);
    },
  );

  test.each([
    ['rejects', async () => Promise.reject(new Error('the vault is sealed'))],
    [
      'throws',
      () => {
        throw new Error('the vault is sealed');
      },
    ],
  ])('a strategy that %s is a failure of the credentials', async (_, getAuthorizationHeader) => {
    const server = await startRecordingServer(refuseFirst(0));
    const {http} = await testClient();
    const error = await rejection(authorize(http, {getAuthorizationHeader}, server.origin).get(server.origin));
    expect(error).toBeInstanceOf(CredentialsError);
    expect(error).toMatchObject({
      code: 'ERR_OAUTH',
      message: 'The AuthStrategy failed: the vault is sealed.',
      cause: new Error('the vault is sealed'),
    });
    expect(server.requests).toHaveLength(0);
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

  test.each([
    ['that keeps its token', () => 'Bearer token-1'],
    ['that makes a new one each time', (count: number) => `Bearer token-${count}`],
  ])('a custom strategy %s: a first 401 renews nothing and sends no second body', async (_, headerOf) => {
    const api = await startRecordingServer((response, _request, count) =>
      sendJson(response, count === 2 ? 200 : 401, {}),
    );
    let [asked, forgotten] = [0, 0];
    const auth: AuthStrategy = {
      getAuthorizationHeader: async () => headerOf((asked += 1)),
      invalidate: () => void (forgotten += 1),
    };
    const authorized = authorize((await testClient()).http, auth, api.origin);
    const upload = async () => authorized.post(api.origin, createRequestBodies().file(testSource(10)));
    expect(await rejection(upload())).toMatchObject({code: 'ERR_UNAUTHORIZED'});
    expect([api.requests.length, asked, forgotten]).toEqual([1, 1, 1]);
    await upload();
    expect(await rejection(upload())).toMatchObject({code: 'ERR_UNAUTHORIZED'});
    expect([api.requests.length, asked, forgotten]).toEqual([4, 4, 3]);
  });

  test('calls that are refused with an old token do not throw away the new one', async () => {
    const tokens = await startTokenServer();
    const held: ServerResponse[] = [];
    const api = await startRecordingServer((response, {headers}, count) => {
      if (count === 1 || headers.authorization === 'Bearer token-2') sendJson(response, 200, {});
      else if (held.push(response) === 2) for (const waiting of held) sendJson(waiting, 401, {});
    });
    const authorized = authorize((await testClient()).http, strategy(tokens), api.origin);
    await authorized.get(api.origin);
    await Promise.all([authorized.get(api.origin), authorized.get(api.origin)]);
    expect(tokens.requests).toHaveLength(2);
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
      'user-agent': 'test/1.2.3',
    });
    expect([...new URLSearchParams(String(request?.body))]).toEqual([
      ['grant_type', 'client_credentials'],
      ['scope', 'a.b c'],
    ]);
  });

  test.each([
    ['a+b%c d/é', 'a%2Bb%25c+d%2F%C3%A9'],
    ['100%', '100%25'],
    ['0123abcdEF_.-*', '0123abcdEF_.-*'],
  ])('the client ID and the secret %j are form-encoded as %j, and neither form shows', async (given, encoded) => {
    const tokens = await startRecordingServer((response) => sendJson(response, 401, {message: `${given} ${encoded}`}));
    const {http} = await testClient();
    const options = {tokenUrl: tokens.origin, clientId: `id:${given}`, clientSecret: given};
    const error = await rejection(new OAuthClientCredentialsStrategy(options).getAuthorizationHeader({http}));
    const [, credentials = ''] = tokens.requests[0]?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(credentials, 'base64').toString()).toBe(`id%3A${encoded}:${encoded}`);
    expect(error.details?.['serverMessage']).toBe('*** ***');
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

  test('calls at the same time, each with its own signal, share one token request', async () => {
    const tokens = await startTokenServer();
    const oauth = strategy(tokens);
    const calls = Array.from({length: 20}, async () =>
      oauth.getAuthorizationHeader({http: (await testClient()).http, signal: new AbortController().signal}),
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['Bearer token-1']));
    expect(tokens.requests).toHaveLength(1);
  });

  test('a signal keeps no listener of the tokens that were fetched with it', async () => {
    const auth = strategy(await startTokenServer(-1));
    const {signal} = new AbortController();
    const {http} = await testClient();
    for (let calls = 0; calls < 3; calls += 1) await auth.getAuthorizationHeader({http, signal});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
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

  test.each([
    [403, {'content-type': 'text/html'}, '<html>Blocked</html>'],
    [401, {'cf-mitigated': 'challenge'}, ''],
  ])('a page of a firewall (%d) is no refusal of the client', async (status, headers, body) => {
    const tokens = await startRecordingServer((response) => response.writeHead(status, headers).end(body));
    const {http} = await testClient();
    const error = await rejection(strategy(tokens).getAuthorizationHeader({http}));
    expect(error).toMatchObject({code: 'ERR_NETWORK', exitCode: 6, status, path: '/token'});
    expect([error.message, ...error.suggestions].join()).not.toMatch(/client|secret/);
  });

  test.each([
    ['no token', '{}'],
    ['no JSON', '<html>'],
    ['a token that is not text', '{"access_token":["a"]}'],
    ['a token of more than 64 KiB', `{"access_token":"${'canary'.repeat(11_000)}"}`],
    ['a token that no header can carry', '{"access_token":"canary\\r\\nX-Evil: 1"}'],
    ['a token in another alphabet', '{"access_token":"canary\\u202e"}'],
    ['a token of 10 MB', JSON.stringify({access_token: 'canary'.repeat(1_700_000)})],
  ])('an answer with %s is an error of the answer', async (_, body) => {
    const tokens = await startRecordingServer((response) => response.end(body));
    const {http, log} = await testClient();
    const error = await rejection(strategy(tokens).getAuthorizationHeader({http}));
    expect(error).toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
    expect(inspect(error, {depth: Infinity, showHidden: true}) + log.join()).not.toContain('canary');
    expect(tokens.requests).toHaveLength(1);
  });

  test.each([
    ['3600', 1],
    ['3600s', 1],
    ['soon', 1],
    ['{"toString":1,"valueOf":1}', 1],
    ['1e400', 1],
    ['-5', 2],
  ])('with expires_in %s two calls need %d requests', async (expiresIn, requests) => {
    const value = /^[\d{[t-]/.test(expiresIn) && !expiresIn.endsWith('s') ? expiresIn : JSON.stringify(expiresIn);
    const tokens = await startRecordingServer((response) => response.end(`{"access_token":"a","expires_in":${value}}`));
    const auth = strategy(tokens);
    await auth.getAuthorizationHeader();
    expect(await auth.getAuthorizationHeader()).toBe('Bearer a');
    expect(tokens.requests).toHaveLength(requests);
  });

  test('a token URL with credentials is refused, and they are not repeated', () => {
    const options = {tokenUrl: 'https://me:canary-pass@x.test/token', clientId: 'c', clientSecret};
    expect(() => new OAuthClientCredentialsStrategy(options)).toThrow(
      expect.objectContaining({code: 'ERR_OPTION_INVALID', message: expect.not.stringContaining('canary') as string}),
    );
  });
});
