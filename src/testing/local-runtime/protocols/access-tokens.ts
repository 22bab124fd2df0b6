import {createHash, createHmac, randomUUID, timingSafeEqual} from 'node:crypto';
import * as v from 'valibot';

const claimsSchema = v.object({scopes: v.array(v.string()), expiresAt: v.number(), id: v.string()});

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

/** Makes a token. It carries its claims, signed, so that it outlives a restart of the runtime. */
export function issueToken(scopes: readonly string[], expiresAt: Date, key: string): string {
  const claims = {scopes, expiresAt: expiresAt.getTime(), id: randomUUID()};
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${sign(payload, key)}`;
}

/** The claims of a token that was made with `key` and has not expired at `now`. */
export function readToken(token: string, key: string, now: Date): TokenClaims | undefined {
  const [payload = '', signature = ''] = token.split('.');
  if (!secretsEqual(signature, sign(payload, key))) return undefined;
  const claims = v.parse(claimsSchema, JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  return claims.expiresAt > now.getTime() ? claims : undefined;
}
