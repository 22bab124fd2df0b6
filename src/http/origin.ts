import {createError} from '../errors/index.js';
import {createRedactor} from './redact.js';

/**
 * The address of a service as requests use it: `https://` when it has no scheme, no slash at the end, the path kept.
 * @param option - Names the setting in errors.
 * @throws RuntimeCliError `ERR_ORIGIN_INVALID` when it is no http(s) URL or holds credentials, a query or a fragment.
 */
export function normalizeOrigin(option: string, value: string): string {
  const url = parseServiceUrl(option, value);
  if (url.search !== '' || url.hash !== '') throw invalid(option, 'has a query or a fragment');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/**
 * The URL of a service, which may have a query.
 * @throws RuntimeCliError `ERR_ORIGIN_INVALID` when it is no http(s) URL or holds credentials.
 */
export function parseServiceUrl(option: string, value: string): URL {
  const text = value.trim();
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined) throw invalid(option, `is not a URL: "${createRedactor([])(full)}"`);
  if (url.username !== '' || url.password !== '') throw invalid(option, 'holds credentials');
  if (!['http:', 'https:'].includes(url.protocol)) throw invalid(option, `has the scheme ${url.protocol}//`);
  return url;
}

/** Whether credentials would cross a network unencrypted: `http:`, and not this machine. */
export function isInsecureOrigin(origin: string): boolean {
  const {protocol, hostname} = new URL(origin);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** Whether the host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost\.?|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(hostname);
}

function invalid(option: string, why: string): Error {
  return createError('ERR_ORIGIN_INVALID', `${option} ${why}`, {
    suggestions: [`Give ${option} as https://HOST, with a port or a path when the service needs one.`],
  });
}
