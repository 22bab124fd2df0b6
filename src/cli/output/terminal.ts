import {wrapAnsi} from 'fast-wrap-ansi';
import type {Environment} from '../../text/platform.js';
import {withoutEscapeSequences} from '../../text/escape-sequences.js';

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

/** Whether a terminal shows more than ASCII. The consoles of Linux and Windows lack the symbols. */
export function usesUnicode(env: Environment): boolean {
  if (env['OS'] === 'Windows_NT' && !env['WT_SESSION'] && !env['TERM_PROGRAM'] && !env['TERM']) return false;
  // The first one set decides, as in the C library.
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return env['TERM'] !== 'linux' && (locale === '' || /utf-?8/i.test(locale));
}

/** Whether `DEBUG` includes mycli, as the debug package writes it. */
export function isDebugging(env: Environment): boolean {
  return /(^|[\s,])(\*|mycli\*?)($|[\s,])/.test(env['DEBUG'] ?? '');
}

/** How many characters fit on a line of a terminal, 80 if it does not tell; unlimited for anything else. */
export function terminalWidth({isTTY, columns}: MaybeTerminal): number {
  return isTTY === true ? columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * Makes foreign text safe for a terminal: removes escape sequences, control characters other than tab and line feed,
 * and characters that change the direction of text.
 */
export function sanitize(text: string): string {
  return withoutEscapeSequences(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\t\n])[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, '');
}

/** Escapes what JSON leaves as it is: some control characters, and those that change the direction of text. */
export function escapeControls(json: string): string {
  return json.replaceAll(
    /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** An annotation of GitHub Actions, on one line whatever the message. */
export function annotation(kind: 'error' | 'warning', message: string): string {
  const data = withoutOldCommands(message).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `::${kind} title=mycli::${data}`;
}

/** Text without commands for the runner: `::name::` at the start of a line, and `##[name]` anywhere. */
export function withoutCommands(text: string): string {
  return withoutOldCommands(text).replaceAll(/^([^\S\n\r\u2028\u2029]*):(?=:)/gm, '$1: ');
}

/** The same for JSON without changing its meaning: none of its lines can start with a colon. */
export function withoutCommandsInJson(json: string): string {
  return json.replaceAll('##[', String.raw`##\u005b`);
}

/** Text as HTML in Markdown, on one line: an empty line would end the block of HTML. */
export function htmlInMarkdown(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

function withoutOldCommands(text: string): string {
  return text.replaceAll('##[', '## [');
}

/** Stands for a space that must not be broken at. */
const glue = '\u00A0';

/** A line to type, as a part of a sentence that is wrapped: users copy it. */
export function unbroken(line: string): string {
  return line.replaceAll(' ', glue);
}

/** The terminal itself breaks what is longer: the library takes more than twice as long for twice as much. */
export const longestWrapped = 5000;

/**
 * Wraps a sentence between words, but not within a command. What is too wide stays whole on a line of its own.
 * @param indent Prefix of every line but the first, unless that begins with more; on a narrow terminal, four spaces.
 */
export function wrapSentence(text: string, width: number, indent = ''): readonly string[] {
  const lines = text.split('\n').flatMap((line) => {
    if (!Number.isFinite(width) || line.length > longestWrapped) return line;
    // Warnings, and what checks and services advise, are plain text: a command goes on with flags, values, names.
    const glued = line.replaceAll(
      /\b(?:npx )?mycli \w\S*(?: [^\s-]\S*[-=/]\S+| -\S+(?:(?<![,.:;]) (?:'[^']*'|[^\s'-]\S*))?)*/g,
      unbroken,
    );
    const [spaces = ''] = /^ */.exec(line) ?? [];
    const [lead = '', before = ''] = [spaces, spaces.length > indent.length ? spaces : indent].map((one) =>
      one.length > 0.4 * width ? '    ' : one,
    );
    const [first = '', ...more] = wrapAnsi(glued.trimStart(), Math.max(1, width - lead.length)).split('\n');
    if (more.length === 0) return lead + first;
    const others = wrapAnsi(more.join(' '), Math.max(1, width - before.length)).split('\n');
    return [lead + first, ...others.map((rest) => before + rest)];
  });
  return lines.map((line) => line.replaceAll(glue, ' '));
}
