import {describe, expect, test} from 'vitest';
import {build, v2Archive} from './archives.js';
import {send, v2Form} from './client.js';
import {startRuntime} from './with-runtime.js';

describe('the Api backend', () => {
  test('returns empty lists for anything unused, and no such deployment', async () => {
    const {client} = await startRuntime();
    expect((await client.api('new/bundles')).json).toMatchObject({total: 0, data: []});
    expect((await client.api('new/environments/new/deployments')).json).toMatchObject({total: 0, data: []});
    expect((await client.api('new/environments/new/deployments/none')).status).toBe(404);
  });

  test('supports neither deletion nor download', async () => {
    const {client} = await startRuntime();
    await client.api('shop/bundles', {method: 'POST', body: v2Form(await v2Archive())});
    expect((await client.api('shop/bundles/1', {method: 'DELETE'})).status).toBe(404);
    expect((await client.api('shop/bundles/1/download')).status).toBe(404);
  });

  test('answers errors as problem+json', async () => {
    const {client} = await startRuntime();
    const reply = await client.api('shop/environments/production/deployments', client.json({bundleId: 7}));
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(reply.json).toEqual({title: 'Not Found', type: 'about:blank', detail: expect.stringContaining('bundle 7')});
  });

  test.each(['Shop', '-shop', 'shop-', 'sh_op'])('refuses the storefront ID %s', async (id) => {
    const {client} = await startRuntime();
    expect((await client.api(`${id}/bundles`)).status).toBe(400);
    expect((await client.api('shop/environments/b_c/deployments')).status).toBe(400);
    expect((await client.api('api/bundles')).status).toBe(200);
  });

  test('serves only its own organization', async () => {
    const {client, runtime} = await startRuntime({credentials: {organizationId: 'mine'}});
    const {json} = await client.token();
    const headers = {authorization: `Bearer ${json.access_token}`};
    const ask = (organization: string) =>
      send(`${runtime.origin}/storefront/deployments/v1/organizations/${organization}/storefronts/shop/bundles`, {
        headers,
      });
    expect((await ask('mine')).status).toBe(200);
    expect((await ask('other')).status).toBe(403);
    expect((await ask('x'.repeat(33))).status).toBe(400);
  });
});

describe('the token endpoint', () => {
  test('grants a token that expires', async () => {
    let now = new Date('2030-01-01T00:00:00Z');
    const {client} = await startRuntime({tokenSeconds: 60, now: () => now});
    const granted = await client.token();
    expect(granted.json).toMatchObject({token_type: 'Bearer', expires_in: 60, scope: 'bundles'});
    expect(granted.headers.get('cache-control')).toBe('no-store');
    const headers = {authorization: `Bearer ${granted.json.access_token}`};
    expect((await send(`${client.apiBase}/shop/bundles`, {headers})).status).toBe(200);
    now = new Date('2030-01-01T00:01:00Z');
    const expired = await send(`${client.apiBase}/shop/bundles`, {headers});
    expect(expired.status).toBe(401);
    expect(expired.headers.get('www-authenticate')).toContain('invalid_token');
  });

  test('grants JWTs, which clients decode', async () => {
    const {client, runtime} = await startRuntime({tokenSeconds: 60, now: () => new Date('2030-01-01T00:00:00Z')});
    const {json} = await client.token('grant_type=client_credentials&scope=read+write');
    const parts = (json.access_token as string).split('.');
    expect(parts).toHaveLength(3);
    const [header, claims] = parts
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown);
    expect(header).toEqual({alg: 'HS256', typ: 'JWT'});
    const issued = Date.parse('2030-01-01T00:00:00Z') / 1000;
    expect(claims).toEqual({
      sub: runtime.credentials.clientId,
      scope: 'read write',
      iat: issued,
      exp: issued + 60,
      jti: expect.any(String),
    });
  });

  test('refuses wrong client credentials', async () => {
    const {client, runtime} = await startRuntime();
    for (const reply of [
      await client.token(undefined, 'someone'),
      await client.token(undefined, undefined, 'wrong'),
      await send(runtime.credentials.tokenUrl, {method: 'POST', body: new URLSearchParams()}),
    ]) {
      expect(reply.status).toBe(401);
      expect(reply.json.error).toBe('invalid_client');
      expect(reply.headers.get('www-authenticate')).toContain('Basic');
    }
  });

  test.each([
    ['a+b%c', 'a%2Bb%25c', 'a+b%c'],
    ['a+b', 'a%2Bb', 'a+b'],
    ['a b:c', 'a+b%3Ac', 'a+b%3Ac%'],
    ['100%', '100%25', '100%'],
  ])('the client ID and the secret %j are accepted as %j, not as %j', async (secret, encoded, other) => {
    const {client} = await startRuntime({credentials: {clientId: secret, clientSecret: secret}});
    expect((await client.token(undefined, encoded, encoded)).status).toBe(200);
    expect((await client.token(undefined, encodeURIComponent(secret), encodeURIComponent(secret))).status).toBe(200);
    expect((await client.token(undefined, encoded, other)).status).toBe(401);
    expect((await client.token(undefined, other, encoded)).status).toBe(401);
  });

  test('supports one grant type and one content type', async () => {
    const {client, runtime} = await startRuntime();
    expect((await client.token('grant_type=password')).json.error).toBe('unsupported_grant_type');
    expect((await send(runtime.credentials.tokenUrl, client.json({}))).status).toBe(415);
    expect((await send(runtime.credentials.tokenUrl)).status).toBe(405);
  });

  test('grants its configured scopes, and requires all of them', async () => {
    const {client} = await startRuntime({scopes: ['read', 'write']});
    const unknown = await client.token('grant_type=client_credentials&scope=read+admin');
    expect([unknown.status, unknown.json.error]).toEqual([400, 'invalid_scope']);
    const statuses = [];
    for (const scope of ['', '&scope=read', '&scope=read+write']) {
      const {json} = await client.token(`grant_type=client_credentials${scope}`);
      const headers = {authorization: `Bearer ${json.access_token}`};
      statuses.push((await send(`${client.apiBase}/shop/bundles`, {headers})).status);
    }
    expect(statuses).toEqual([200, 403, 200]);
  });

  test('its tokens cannot be changed, and nothing else is one', async () => {
    const {client} = await startRuntime({tokenSeconds: 0});
    const {json} = await client.token();
    const [header = '', payload = '', signature = ''] = json.access_token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const longer = encode({...claims, exp: Date.now() / 1000 + 1e6});
    const unsigned = encode({alg: 'none', typ: 'JWT'});
    const tokens = [`${header}.${longer}.${signature}`, `${unsigned}.${longer}.`, `${header}.${longer}`];
    const values = [...tokens, `${header}.${longer}.`, 'x.y', 'x'].map((token) => `Bearer ${token}`);
    expect((await send(`${client.apiBase}/shop/bundles`)).status).toBe(401);
    for (const authorization of [...values, 'Basic eDp5']) {
      const headers = {authorization};
      expect((await send(`${client.apiBase}/shop/bundles`, {headers})).status).toBe(401);
    }
  });

  test('the API key is not an access token, nor vice versa', async () => {
    const {client, runtime} = await startRuntime();
    const {json} = await client.token();
    const key = {authorization: `Bearer ${runtime.credentials.apiKey}`};
    const token = {authorization: `Bearer ${json.access_token}`};
    expect((await send(`${client.apiBase}/shop/bundles`, {headers: key})).status).toBe(401);
    expect((await send(`${runtime.origin}/api/projects/shop/bundles/`, {headers: token})).status).toBe(401);
  });
});

test('both backends share bundles and targets', async () => {
  const {client} = await startRuntime();
  await client.pushV2(await v2Archive(build), {message: 'shared'});
  expect((await client.api('shop/bundles')).json.data).toMatchObject([{bundleId: 1, description: 'shared'}]);
});
