import {stripVTControlCharacters} from 'node:util';

/**
 * Text from elsewhere, safe for a terminal: without escape sequences and control characters, other than tab and line
 * feed. Characters that change the direction of text go too: they make a line read differently from what it says.
 */
export function sanitize(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\t\n])[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, '');
}

/**
 * JSON that a terminal shows as it is: JSON escapes only some of the control characters, and none that change the
 * direction of text. It stays the same document, for they stand in strings only.
 */
export function escapeControls(json: string): string {
  return json.replaceAll(
    /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * A line that the runner of GitHub Actions shows as an annotation. Whatever the message holds, it stays one command:
 * line breaks are escaped as the runner asks for.
 */
export function annotation(kind: 'error' | 'warning', message: string): string {
  const data = withoutOldCommands(message).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `::${kind} title=mycli::${data}`;
}

/**
 * Text that the runner takes for no command. It reads every line of both streams: `::name::` at the start of a line
 * and, of old, `##[name]` anywhere.
 */
export function withoutCommands(text: string): string {
  return withoutOldCommands(text).replaceAll(/^(\s*):(?=:)/gm, '$1: ');
}

/** The same for JSON, which stays what it is: none of its lines can start with a colon. */
export function withoutCommandsInJson(json: string): string {
  return json.replaceAll('##[', String.raw`##\u005b`);
}

function withoutOldCommands(text: string): string {
  return text.replaceAll('##[', '## [');
}
