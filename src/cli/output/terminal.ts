import type {Environment} from '../../http/types.js';

/** A stream that may be a terminal. Some terminals, such as those of containers, have a width of 0. */
export interface MaybeTerminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Whether a stream is a terminal with escape sequences, outside CI. */
export function isInteractive(stream: MaybeTerminal, env: Environment, isCI: boolean): boolean {
  return stream.isTTY === true && !isCI && env['TERM'] !== 'dumb';
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

/** Whether `DEBUG` includes mycli, as the debug package writes it: `mycli*` and `*` do, `-mycli*` excludes it. */
export function isDebugging(env: Environment): boolean {
  const patterns = (env['DEBUG'] ?? '').split(/[\s,]+/);
  const includes = (prefix: string) => ['*', 'mycli', 'mycli*'].some((name) => patterns.includes(prefix + name));
  return includes('') && !includes('-');
}

/** How many characters fit on a line of a terminal, 80 if it does not tell; unlimited for anything else. */
export function terminalWidth({isTTY, columns}: MaybeTerminal): number {
  return isTTY === true ? columns || 80 : Number.POSITIVE_INFINITY;
}
