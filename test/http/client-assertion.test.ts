import {execFileSync} from 'node:child_process';
import {generateKeyPairSync, verify, X509Certificate} from 'node:crypto';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {OAuthClientCredentialsStrategy, type ClientKey} from '../../src/http/index.js';
import {startLocalRuntime} from '../../src/testing.js';
import {selfSigned} from './self-signed.js';
import {sendJson, startRecordingServer} from './with-server.js';

const passphrase = 'canary passphrase';

/** A key and its certificate, as people make them. */
function createCertificate(...options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'mycli-test-client-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-subj',
    '/CN=client',
    '-keyout',
    'key.pem',
    '-out',
    'cert.pem',
  ];
  execFileSync('openssl', [...request, ...options], {cwd: folder, stdio: 'pipe'});
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return {privateKey: read('key.pem'), certificate: read('cert.pem')};
}

function strategy(clientKey: ClientKey, tokenUrl = 'https://tokens.example/token') {
  return new OAuthClientCredentialsStrategy({tokenUrl, clientId: 'client-1', clientKey, scopes: ['a', 'b']});
}

function parsed(part = ''): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

test('a client key signs an assertion for each token, and no secret is sent', async () => {
  const server = await startRecordingServer((response, _, count) => {
    sendJson(response, 200, {access_token: `token-${count}`, expires_in: 60});
  });
  const {privateKey, certificate} = createCertificate('-passout', `pass:${passphrase}`);
  const oauth = strategy({privateKey, passphrase, certificate}, `${server.origin}/token`);
  const before = Math.floor(Date.now() / 1000);
  expect(await oauth.getAuthorizationHeader()).toBe('Bearer token-1');
  oauth.invalidate();
  expect(await oauth.getAuthorizationHeader()).toBe('Bearer token-2');

  const forms = server.requests.map(({body}) => Object.fromEntries(new URLSearchParams(body.toString())));
  const assertions = forms.map((form) => form['client_assertion'] ?? '');
  expect(new Set(assertions).size).toBe(2);
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
  expect(forms[0]).toEqual({
    grant_type: 'client_credentials',
    scope: 'a b',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertions[0],
  });
  const [header, claims, signature = ''] = String(assertions[0]).split('.');
  expect(parsed(header)).toEqual({alg: 'RS256', typ: 'JWT'});
  const {exp, ...who} = parsed(claims) as {exp: number};
  expect(who).toEqual({
    iss: 'client-1',
    sub: 'client-1',
    aud: `${server.origin}/token`,
    jti: expect.any(String) as string,
  });
  expect(exp - before).toBeGreaterThanOrEqual(60);
  const {publicKey} = new X509Certificate(certificate);
  const signed = Buffer.from(`${String(header)}.${String(claims)}`);
  expect(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
});

test('the local runtime accepts what the key of its client has signed, and nothing else', async () => {
  const {privateKey, certificate} = createCertificate('-nodes');
  const runtime = await startLocalRuntime({clientCertificate: certificate});
  onTestFinished(async () => runtime.close());
  const {tokenUrl, clientId} = runtime.credentials;
  const authorize = async (key: string) =>
    new OAuthClientCredentialsStrategy({tokenUrl, clientId, clientKey: {privateKey: key}}).getAuthorizationHeader();
  expect(await authorize(privateKey)).toMatch(/^Bearer /);
  const other = createCertificate('-nodes');
  await expect(authorize(other.privateKey)).rejects.toMatchObject({code: 'ERR_OAUTH', status: 401});
});

test('an assertion that the token endpoint repeats is masked, once and when it is asked again', async () => {
  const server = await startRecordingServer((response, {body}) => {
    const assertion = new URLSearchParams(body.toString()).get('client_assertion');
    sendJson(response, 400, {error: 'invalid_client', error_description: `You sent ${String(assertion)}`});
  });
  const {privateKey, certificate} = createCertificate('-nodes');
  const oauth = strategy({privateKey, certificate}, `${server.origin}/token`);
  for (let count = 0; count < 2; count += 1) {
    await expect(oauth.getAuthorizationHeader()).rejects.toThrow(/You sent \*\*\*\.$/);
  }
});

describe('a client key that cannot be used is refused before a request', () => {
  const encoding = {type: 'pkcs8', format: 'pem'} as const;
  const rsa = generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey;

  test.each<[string, () => ClientKey, string]>([
    ['no PEM', () => ({privateKey: 'canary'}), 'The client key is not a private key in PEM format.'],
    [
      'no passphrase',
      () => ({
        privateKey: rsa.export({...encoding, cipher: 'aes-256-cbc', passphrase}).toString(),
      }),
      'The client key needs a passphrase.',
    ],
    [
      'a wrong passphrase',
      () => ({
        privateKey: rsa.export({...encoding, cipher: 'aes-256-cbc', passphrase}).toString(),
        passphrase: 'canary',
      }),
      'The client key cannot be decrypted with this passphrase.',
    ],
    ['another kind of key', () => ({privateKey: selfSigned.key}), 'The client key is not an RSA key.'],
    [
      'no certificate',
      () => ({privateKey: rsa.export(encoding).toString(), certificate: 'canary'}),
      'The client certificate is not a certificate in PEM format.',
    ],
    [
      "another key's certificate",
      () => ({privateKey: rsa.export(encoding).toString(), certificate: selfSigned.cert}),
      'The client key does not belong to the client certificate.',
    ],
  ])('%s', (_, clientKey, message) => {
    expect(() => strategy(clientKey())).toThrow(expect.objectContaining({code: 'ERR_OPTION_INVALID', message}));
  });

  test('an expired certificate', () => {
    const clientKey = createCertificate('-nodes', '-days', '1');
    const now = () => Date.now() + 2 * 86_400_000;
    const client = {tokenUrl: 'https://tokens.example/token', clientId: 'client-1', clientKey, now};
    expect(() => new OAuthClientCredentialsStrategy(client)).toThrow(/^The client certificate expired on /);
  });
});
