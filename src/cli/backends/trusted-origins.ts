import {createError} from '../../errors/index.js';
import {shownAddress} from '../../http/origin.js';
import type {Environment} from '../../http/types.js';

const variable = 'MYCLI_TRUSTED_ORIGINS';

/**
 * Refuses to send credentials to an origin that `MYCLI_TRUSTED_ORIGINS` (separated by commas or spaces) does not list:
 * a pull request's configuration file cannot send a CI system's keys away. Without the variable every origin is trusted.
 * @param name what named the origin: a flag, a variable or a file.
 * @throws RuntimeCliError `ERR_ORIGIN_UNTRUSTED`; `ERR_ORIGIN_INVALID` for a list that cannot be read.
 */
export function assertTrustedOrigin(url: string, name: string, env: Environment): void {
  const entries = (env[variable] ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.length === 0) return;
  const {origin} = new URL(url);
  if (entries.some((entry) => originOf(entry) === origin)) return;
  throw createError('ERR_ORIGIN_UNTRUSTED', `Credentials would go to ${origin}, which ${variable} does not list.`, {
    suggestions: [`The address comes from ${name}: correct it there, or add ${origin} to ${variable}.`],
    details: {origin},
  });
}

function originOf(entry: string): string {
  try {
    return new URL(/^[a-z]+:\/\//i.test(entry) ? entry : `https://${entry}`).origin;
  } catch {
    throw createError('ERR_ORIGIN_INVALID', `${variable} lists ${shownAddress(entry)}, which is not an origin.`, {
      suggestions: ['List origins such as https://runtime.example.com, separated by commas.'],
    });
  }
}
