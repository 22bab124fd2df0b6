import {OptionText} from '../../backends/plugins/option-text.js';

/**
 * The addresses in options, as http(s) URLs: what URL parsers take for one, whatever the option is called, and hosts.
 * Rather too often than too seldom: a secret that is taken for one of another address is asked for again, otherwise it
 * would be sent there.
 * @param name of the option
 */
export function urlsIn(options: unknown, name = ''): readonly string[] {
  const value = options instanceof OptionText ? options.shown : options;
  if (typeof value === 'string') return [urlIn(value, name) ?? []].flat();
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => urlsIn(member, Array.isArray(value) ? name : key));
}

/** What options are called whose value is a host, even if it looks like any other word. */
const hostOption = /host|server|domain|origin|endpoint|address|url|uri|gateway|proxy/i;
/** Files whose extension is no top-level domain. */
const fileName = /\.(?:json|ya?ml|[cm]?js|tar|t?gz|pem|crt|toml|txt)$/i;

function urlIn(text: string, option: string): string | undefined {
  // Without the characters that URL parsers ignore.
  const plain = text.replaceAll(/[\t\n\r]|^[\p{Cc} ]+|(?<![\p{Cc} ])[\p{Cc} ]+$/gu, '');
  const isUrl = /^https?:/i.test(plain);
  const isRelative = /^[\\/]{2}/.test(plain);
  const whole = isUrl ? plain : `https:${isRelative ? '' : '//'}${plain}`;
  if (plain === '' || !URL.canParse(whole)) return undefined;
  const {hostname, origin, href} = new URL(whole);
  if (isUrl || isRelative) return href;
  const isDotted = /^[^.].*\.|:/.test(hostname) && !fileName.test(hostname) && !/^\d+$/.test(plain);
  const hasPort = /^[^\\/?#]+:\d+(?:[\\/?#]|$)/.test(plain);
  return isDotted || hasPort || hostname === 'localhost' || hostOption.test(option) ? `${origin}/` : undefined;
}

export function originsIn(options: unknown): readonly string[] {
  return [...new Set(urlsIn(options).map((url) => new URL(url).origin))];
}
