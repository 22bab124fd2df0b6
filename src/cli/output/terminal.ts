import type {Environment} from '../../http/types.js';

interface MaybeTerminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Whether a stream can be redrawn: a terminal with escape sequences and a width, outside CI. */
export function isInteractive(stream: MaybeTerminal, env: Environment, isCI: boolean): boolean {
  return stream.isTTY === true && stream.columns !== 0 && !isCI && env['TERM'] !== 'dumb';
}

/** Whether to color a stream: by `NO_COLOR`, then `FORCE_COLOR`, then whether it is interactive. */
export function usesColor(stream: MaybeTerminal, env: Environment, isCI: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isInteractive(stream, env, isCI);
}

/** Whether a terminal can show more than ASCII: not the Linux console, nor one whose locale has another encoding. */
export function usesUnicode(env: Environment): boolean {
  // The first one set decides, as in the C library.
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return env['TERM'] !== 'linux' && (locale === '' || /utf-?8/i.test(locale));
}

/** Whether `DEBUG` includes mycli, by the rules of the debug package: `mycli*` and `*` do, `-mycli*` excludes it. */
export function isDebugging(env: Environment): boolean {
  const patterns = (env['DEBUG'] ?? '').split(/[\s,]+/).filter((pattern) => pattern !== '');
  const matches = (pattern: string) => matchesWildcards(pattern, 'mycli');
  if (patterns.some((pattern) => pattern.startsWith('-') && matches(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('-') && matches(pattern));
}

/** Without a regular expression, which could take forever with many wildcards. */
function matchesWildcards(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** How many characters fit on a line of a terminal; unlimited for anything else. */
export function terminalWidth(stream: object): number {
  if (!('isTTY' in stream) || stream.isTTY !== true || !('columns' in stream)) return Number.POSITIVE_INFINITY;
  return typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY;
}
