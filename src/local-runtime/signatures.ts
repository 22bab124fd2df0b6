import {createHash, createHmac, timingSafeEqual} from 'node:crypto';

/** Compares two secrets in constant time. */
export function secretsEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((secret) => createHash('sha256').update(secret).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** The signature of `value` under `key`. */
export function sign(value: string, key: string): string {
  return createHmac('sha256', key).update(value).digest('base64url');
}
