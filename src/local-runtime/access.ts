import {createHash, randomUUID, timingSafeEqual, X509Certificate} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import {sign as signToken, verify as verifyToken} from 'hono/jwt';
import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {accessHeader} from '../settings/target-settings.js';
import {HttpFailure} from './answer.js';
import type {Call, RuntimeContext} from './runtime-context.js';
import type {TargetRecord} from './store/store.js';
import {sitePath, type SiteName} from './sites/site-address.js';

/**
 * Refuses names that are not this server's (421), against DNS rebinding: a page cannot send another Host than its own.
 * The port may be any, because it can be forwarded from another one, out of a container for example.
 */
export function checkHost({origin, request, context}: Pick<Call, 'origin' | 'request' | 'context'>): void {
  const name = URL.canParse(origin) ? new URL(origin).hostname.replace(/^\[|\]$/g, '') : '';
  // No DNS name is involved if the host is the connection's own address. A dual-stack socket writes IPv4 this way.
  const localAddress = request.socket.localAddress?.replace(/^::ffff:/, '');
  const own = ['localhost', '127.0.0.1', '::1', localAddress, context.host, ...context.allowedHosts];
  if (name.endsWith('.localhost') || own.some((host) => host?.toLowerCase() === name)) return;
  throw new HttpFailure(
    421,
    `This server does not answer requests for the host "${name}", only for localhost and the host it listens on.`,
  );
}

/**
 * Refuses what pages of other origins make a browser send (403), deployed apps included: they could act on a runtime
 * that requires no credentials. Links to this server still work.
 */
export function checkOrigin({headers, method}: IncomingMessage): void {
  const {host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode} = headers;
  const isOwn = origin === undefined || origin === `http://${host}`;
  // Browsers send neither header with every request: Origin only with those that may change something or that a script
  // wants to read, Sec-Fetch-Site only to hosts that they consider secure, such as loopback.
  const isDirect = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwn && (isDirect || (mode === 'navigate' && (method === 'GET' || method === 'HEAD')))) return;
  throw new HttpFailure(403, 'This server does not accept requests from pages of other origins.');
}

/** Admits whoever has the API key as a bearer token, or as the password of any user. */
export function admitLegacy({context, request}: Call): string {
  const {scheme, value} = authorization(request);
  const [user, key] = scheme === 'basic' ? basicCredentials(value) : ['api-key', scheme === 'bearer' ? value : ''];
  if (context.auth && !secretsEqual(key, context.credentials.apiKey)) {
    const problem = scheme === '' ? 'The request has no API key.' : 'Unknown API key.';
    throw new HttpFailure(401, problem, {'www-authenticate': 'Bearer realm="local runtime"'});
  }
  return user;
}

/** Admits whoever has an access token of this runtime's token endpoint, for its only organization. */
export async function admitApi({context, request, params}: Call): Promise<string> {
  const {auth, credentials, scopes} = context;
  const {clientId, organizationId} = credentials;
  if (!auth) return clientId;
  const {scheme, value} = authorization(request);
  const claims = scheme === 'bearer' ? await readIssued(value, clientId, context) : undefined;
  if (!claims) {
    const problem = scheme === '' ? 'The request has no access token.' : 'Unknown or expired access token.';
    throw new HttpFailure(401, problem, {'www-authenticate': 'Bearer error="invalid_token"'});
  }
  const missing = scopes?.find((scope) => !claims.scope.split(' ').includes(scope));
  if (missing !== undefined) {
    throw new HttpFailure(403, `The access token does not have the scope "${missing}".`, {
      'www-authenticate': 'Bearer error="insufficient_scope"',
    });
  }
  const {organizationId: requested = organizationId} = params;
  if (requested === organizationId) return clientId;
  throw new HttpFailure(403, `The token is not for the organization "${requested}".`);
}

/** Admits visitors with the password of the runtime and an access header of the target, if there are any. */
export function admitVisitor({context: {protect}, request}: Call, access: TargetRecord['access'] = []): string {
  const {scheme, value} = authorization(request);
  const [user, password] = scheme === 'basic' ? basicCredentials(value) : ['browser', ''];
  const header = String(request.headers[accessHeader] ?? '');
  const isOpen = (wanted: string) => [password, header].some((one) => secretsEqual(one, wanted));
  const isAdmitted =
    (protect === undefined || isOpen(protect)) &&
    (access.length === 0 || access.some(({value: wanted}) => isOpen(wanted)));
  if (isAdmitted) return user;
  throw new HttpFailure(401, `This app needs a password, or the header ${accessHeader}.`, {
    'www-authenticate': 'Basic realm="app"',
  });
}

export function basicCredentials(value: string): readonly [user: string, password: string] {
  const [, user = '', password = ''] = /^([^:]*):?(.*)/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? [];
  return [user, password];
}

/** The scheme, in lower case, and the value of the Authorization header; both empty without one. */
export function authorization(request: IncomingMessage): {readonly scheme: string; readonly value: string} {
  const [scheme = '', value = ''] = (request.headers.authorization ?? '').split(/ +/);
  return {scheme: scheme.toLowerCase(), value};
}

/** Issues an access token: a JWT, which clients can decode, and which survives a restart of the runtime. */
export function issueToken(scope: string, context: RuntimeContext): Promise<string> {
  return issue({sub: context.credentials.clientId, scope, seconds: context.tokenSeconds}, context);
}

/** Whom tokens for logs are issued to. They are no access tokens. */
const logReader = 'log-reader';

export function issueLogToken(site: SiteName, context: RuntimeContext): Promise<string> {
  return issue({sub: logReader, scope: sitePath(site), seconds: 300}, context);
}

export async function admitsToLogs(token: string, site: SiteName, context: RuntimeContext): Promise<boolean> {
  return (await readIssued(token, logReader, context))?.scope === sitePath(site);
}

function issue(
  {sub, scope, seconds}: {readonly sub: string; readonly scope: string; readonly seconds: number},
  {credentials, now}: RuntimeContext,
): Promise<string> {
  const iat = Math.floor(now().getTime() / 1000);
  return signToken({sub, scope, iat, exp: iat + seconds, jti: randomUUID()}, credentials.clientSecret, 'HS256');
}

/** The claims of a token that was issued to `sub` and has not expired. */
function readIssued(token: string, sub: string, context: RuntimeContext) {
  return readToken(token, sub, context.credentials.clientSecret, {alg: 'HS256'}, context.now());
}

/** Whether the client has signed this assertion for this audience, and it has not expired (RFC 7523). */
export async function isAssertion(assertion: string, audience: string, context: RuntimeContext): Promise<boolean> {
  const {clientKey, credentials, now} = context;
  const {clientId} = credentials;
  if (clientKey === undefined) return false;
  const options = {alg: 'RS256', iss: clientId, aud: audience} as const;
  return (await readToken(assertion, clientId, clientKey, options, now())) !== undefined;
}

const claimsSchema = v.object({sub: v.string(), scope: v.optional(v.string(), ''), exp: v.number()});

async function readToken(
  token: string,
  sub: string,
  key: string,
  options: {readonly alg: 'HS256' | 'RS256'; readonly iss?: string; readonly aud?: string},
  now: Date,
) {
  // The library would compare times with the system's clock.
  const verified = verifyToken(token, key, {...options, exp: false, iat: false, nbf: false});
  const {success, output} = v.safeParse(claimsSchema, await verified.catch(() => undefined));
  return success && output.sub === sub && output.exp * 1000 > now.getTime() ? output : undefined;
}

/** The public key of a certificate, as PEM. @throws RuntimeCliError `ERR_OPTION_INVALID` if it is no certificate. */
export function publicKeyOf(certificate: string): string {
  try {
    return new X509Certificate(certificate).publicKey.export({type: 'spki', format: 'pem'}).toString();
  } catch (cause) {
    throw createError('ERR_OPTION_INVALID', 'The client certificate is not a certificate in PEM format.', {cause});
  }
}

/** Compares two secrets in constant time. */
export function secretsEqual(a: string, b: string): boolean {
  const digest = (secret: string) => createHash('sha256').update(secret).digest();
  return timingSafeEqual(digest(a), digest(b));
}
