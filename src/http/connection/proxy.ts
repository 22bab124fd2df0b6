import {isIP, isIPv6} from 'node:net';
import {domainToASCII} from 'node:url';
import {createError} from '../../errors/index.js';
import {ipAddressesIn} from '../../text/address-range.js';
import {decoded} from '../../text/percent-encoding.js';
import {isLoopback} from '../origin.js';
import type {Environment} from '../../text/platform.js';

/** A proxy, and the variable that names it. */
export interface Proxy {
  readonly url: URL;
  readonly variable: string;
}

/** The proxy for a URL. Never for loopback addresses, since a local service's key would leave the machine. */
export function proxyFor(url: URL, env: Environment): Proxy | undefined {
  const name = variableSet(env, url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const value = env[name]?.trim() ?? '';
  if (value === '' || isLoopback(url.hostname)) return undefined;
  if (isExcluded(url, env[variableSet(env, 'NO_PROXY')] ?? '')) return undefined;
  const full = value.includes('://') ? value : `http://${value}`;
  const proxy = URL.canParse(full) ? new URL(full) : undefined;
  if (
    proxy === undefined ||
    !['http:', 'https:'].includes(proxy.protocol) ||
    [proxy.username, proxy.password].some((part) => decoded(part) === undefined)
  ) {
    // The value may contain a password.
    throw createError('ERR_OPTION_INVALID', `${name} is not the URL of an HTTP proxy.`, {
      suggestions: [`Set ${name} to http://HOST:PORT, or unset it.`],
    });
  }
  return {url: proxy, variable: name};
}

/** The name in lower case, if there is such a variable, else in capitals. */
function variableSet(env: Environment, name: string): string {
  return env[name.toLowerCase()]?.trim() ? name.toLowerCase() : name;
}

/** `NO_PROXY`: `*`, or host names with their subdomains, addresses and CIDR ranges, each with an optional port. */
function isExcluded(url: URL, noProxy: string): boolean {
  const host = canonicalHost(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = entry, wantedPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
      if (wantedPort !== undefined && wantedPort !== port) return false;
      return matchesHost(name, host);
    });
}

function matchesHost(pattern: string, host: string): boolean {
  if (pattern === '*') return true;
  if (isIP(host) !== 0 && !pattern.includes('/')) return canonicalHost(pattern) === host;
  if (isIP(host) !== 0)
    return ipAddressesIn(pattern.replace(/^\[|\]$/g, ''))?.check(host, isIPv6(host) ? 'ipv6' : 'ipv4') === true;
  const domain = canonicalHost(pattern.replace(/^\*?\./, ''));
  if (domain === '') return false;
  return host === domain || host.endsWith(`.${domain}`);
}

/** Normalizes a host: no brackets or trailing dot, shortest IPv6 form, other alphabets in ASCII. */
function canonicalHost(text: string): string {
  const host = text.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIPv6(host) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : domainToASCII(host);
}
