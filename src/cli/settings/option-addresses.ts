import {OptionText} from '../../backends/plugins/option-text.js';

/**
 * The addresses in options: http(s) URLs, also of what URL parsers take for one and of hosts, whatever the option is
 * called. Of other schemes each `scheme://host:port`, and of what cannot be parsed the whole text, without credentials.
 * Rather too often than too seldom: a secret that is taken for one of another address is asked for again, otherwise it
 * would be sent there.
 * @param name of the option
 */
export function addressesIn(options: unknown, name = ''): readonly string[] {
  const value = options instanceof OptionText ? options.shown : options;
  if (typeof value === 'string') return addressesOf(value, name);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => addressesIn(member, Array.isArray(value) ? name : key));
}

/** What options are called whose value is a host, even if it looks like any other word. */
const hostOption = /host|server|domain|origin|endpoint|address|url|uri|gateway|proxy|dsn|connection|broker|socket/i;
/** Files whose extension is no top-level domain. */
const fileName = /\.(?:json|ya?ml|[cm]?js|tar|t?gz|pem|crt|toml|txt)$/i;
/** `scheme://host:port`, with several hosts, or with a path. What follows a `?` may name another host. */
const otherUrl = /^((?!https?:)(?:[a-z][\w+.-]*:)+\/\/)(?:[^\s@/?#\\]*@)?([\w.,:[\]-]+)(?:\/[\w./-]*)?$/i;
/** What a text has that some driver takes for an address: `tcp:host`, `user@host:path`, `host=name`. */
const addressLike = /:\S|@|(?:host|server|source|addr)\w{0,20}\s{0,20}=/i;
/** Two words that are no address, as of a user or a tag: `build:ci`. */
const pair = /^(?!(?:tcp|udp|tls|ssl|unix):)[a-z][\w-]*:[a-z][\w-]*$/i;
/** What a server is recognized by: the fingerprint of its certificate or host key, or that key. */
const pin = /^(?:(?:md5|sha\d+)[:-][\w+/=:]{32,}|(?:[\da-f]{2}:){15,}[\da-f]{2}|(?:ssh|ecdsa|sk)-\S+ AAAA.*)$/i;
const path = /^(?:[.~]|\/(?![/\\])|[a-z]:\\)/i;

function addressesOf(text: string, option: string): readonly string[] {
  // Without the characters that URL parsers ignore.
  const plain = text.replaceAll(/[\t\n\r]|^[\p{Cc} ]+|(?<![\p{Cc} ])[\p{Cc} ]+$/gu, '');
  if (plain === '' || pin.test(plain)) return [];
  const [, scheme = '', hosts = ''] = otherUrl.exec(plain) ?? [];
  if (hosts !== '') return hosts.split(',').map((host) => `${scheme}${host}`.toLowerCase());
  const isHostOption = hostOption.test(option);
  const isUrl = /^https?:/i.test(plain);
  const isRelative = /^[\\/]{2}/.test(plain);
  const whole = isUrl ? plain : `https:${isRelative ? '' : '//'}${plain}`;
  if (path.test(plain)) return isHostOption ? [plain] : [];
  if ((!isUrl && plain.includes('://')) || !URL.canParse(whole)) {
    return isHostOption || (addressLike.test(plain) && !pair.test(plain)) ? [withoutCredentials(plain)] : [];
  }
  const {hostname, origin, href} = new URL(whole);
  if (isUrl || isRelative) return [href];
  const isDotted = /^[^.].*\.|:/.test(hostname) && !fileName.test(hostname) && !/^\d+$/.test(plain);
  const hasPort = /^[^\\/?#]+:\d+(?:[\\/?#]|$)/.test(plain);
  return isDotted || hasPort || hostname === 'localhost' || isHostOption ? [`${origin}/`] : [];
}

function withoutCredentials(text: string): string {
  return text
    .replace(/^((?:[a-z][\w+.-]*:)+\/\/)?[^\s@/?#=\\]*@/i, '$1')
    .replaceAll(/((?:pass\w*|pwd|secret|token|key)\s*=\s*)[^&;\s]*/gi, '$1***');
}

/** What secrets are bound to: the origin of an http(s) URL, any other address as it is. */
export function addressOrigin(address: string): string {
  return /^https?:/i.test(address) && URL.canParse(address) ? new URL(address).origin : address;
}

export function originsIn(options: unknown): readonly string[] {
  return [...new Set(addressesIn(options).map(addressOrigin))];
}
