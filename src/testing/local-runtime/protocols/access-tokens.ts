import {createHash, createHmac, randomUUID, timingSafeEqual} from 'node:crypto';
import * as v from 'valibot';

const claimsSchema = v.object({sub: v.string(), scope: v.string(), iat: v.number(), exp: v.number(), jti: v.string()});

/** What a token is good for. */
export type TokenClaims = Readonly<v.InferOutput<typeof claimsSchema>>;

/** Whether two secrets are the same, in a time that does not depend on where they differ. */
export function secretsEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((secret) => createHash('sha256').update(secret).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** The signature of `value` under `key`. */
export function sign(value: string, key: string): string {
  return createHmac('sha256', key).update(value).digest('base64url');
}

/** The first part of every token. */
const header = encode({alg: 'HS256', typ: 'JWT'});

/** Makes a token: a JWT, which clients decode and which outlives a restart of the runtime. */
export function issueToken(
  {
    sub,
    scopes,
    issuedAt,
    seconds,
  }: {
    readonly sub: string;
    readonly scopes: readonly string[];
    readonly issuedAt: Date;
    readonly seconds: number;
  },
  key: string,
): string {
  const iat = Math.floor(issuedAt.getTime() / 1000);
  const claims: TokenClaims = {sub, scope: scopes.join(' '), iat, exp: iat + seconds, jti: randomUUID()};
  const content = `${header}.${encode(claims)}`;
  return `${content}.${sign(content, key)}`;
}

/** The claims of a token that was made with `key` and has not expired at `now`. */
export function readToken(token: string, key: string, now: Date): TokenClaims | undefined {
  const signed = token.slice(0, token.lastIndexOf('.'));
  const [first, payload = ''] = signed.split('.');
  // The presigned URLs of this key are no tokens: what is signed begins with the header.
  if (first !== header || !secretsEqual(token.slice(signed.length + 1), sign(signed, key))) return undefined;
  const claims = v.parse(claimsSchema, JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  return claims.exp * 1000 > now.getTime() ? claims : undefined;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
