import {createError} from '../errors/index.js';

/** The address of a service: `https://` (loopback: `http://`) unless it has a scheme, no trailing slash, no query. */
export function normalizeOrigin(option: string, value: string): string {
  const url = parseServiceUrl(option, value);
  if (url.search !== '' || url.hash !== '') throw invalid(option, 'has a query or a fragment');
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '');
}

/** The URL of a service, which may have a query. @param option names the setting in errors */
export function parseServiceUrl(option: string, value: string): URL {
  if (/^\s*["'`]/.test(value)) throw invalid(option, 'has quotation marks around it');
  const url = parseAddress(value);
  if (url === undefined) {
    const [, scheme] = /^\s*(https?:)(?!\/\/)/i.exec(value) ?? [];
    const why = scheme === undefined ? 'is not a valid URL' : `must begin with ${scheme}//`;
    throw invalid(option, `${why}: "${shownAddress(value)}"`);
  }
  if (url.username !== '' || url.password !== '') throw invalid(option, 'contains credentials');
  if (!['http:', 'https:'].includes(url.protocol))
    throw invalid(option, `must be an http or https URL, not ${url.protocol}//`);
  // got would take the path for that of a socket.
  if (url.hostname === 'unix') throw invalid(option, 'must not be a Unix socket');
  return url;
}

/** Whether credentials would cross a network unencrypted: `http:` and not loopback. */
export function isInsecureOrigin(origin: string): boolean {
  const {protocol, hostname} = new URL(origin);
  return protocol === 'http:' && !isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost\.?|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(
    hostname,
  );
}

/** An address to show, as it is used: a host can look like another. No credentials; no query if it is no valid URL. */
export function shownAddress(address: string): string {
  const url = parseAddress(address);
  if (url !== undefined && url.username === '' && url.password === '')
    return `${`${url.protocol}//${url.host}${url.pathname}`.replace(/(?<!\/)\/+$/, '')}${url.search}${url.hash}`;
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1***@').replace(/[?#].*/s, '?***');
}

function parseAddress(text: string): URL | undefined {
  const address = text.trim();
  // A path is no host, although the URL parser takes its first folder for one.
  if (/^(?:[a-z][a-z0-9+.-]*:\/\/)?[./]/i.test(address)) return undefined;
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(address);
  const full = hasScheme ? address : `https://${address}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url !== undefined && !hasScheme && isLoopback(url.hostname)) return new URL(`http://${address}`);
  // A scheme with mistyped slashes is not a host, and what follows is not a path.
  return url !== undefined && /^https?$|["'`]/.test(url.hostname) ? undefined : url;
}

function invalid(option: string, why: string): Error {
  return createError('ERR_OPTION_INVALID', `${option} ${why}.`, {
    suggestions: [`Set ${option} to https://HOST, with a port or a path if the service needs one.`],
  });
}
