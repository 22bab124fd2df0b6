import {stripVTControlCharacters} from 'node:util';

/**
 * Makes foreign text safe for a terminal: removes escape sequences and control characters other than tab and line feed,
 * and characters that change the direction of text, which make a line look different from what it says.
 */
export function sanitize(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\t\n])[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, '');
}

/**
 * Makes JSON safe for a terminal: JSON escapes only some control characters, and none that change the direction of
 * text. The document stays the same, because these only occur in strings.
 */
export function escapeControls(json: string): string {
  return json.replaceAll(
    /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * A line that the runner of GitHub Actions shows as an annotation. It remains one command whatever the message, since
 * line breaks are escaped as the runner expects.
 */
export function annotation(kind: 'error' | 'warning', message: string): string {
  const data = withoutOldCommands(message).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `::${kind} title=mycli::${data}`;
}

/**
 * Text that the runner does not take for a command. It looks in every line of both streams: for `::name::` at the start
 * of a line and, historically, `##[name]` anywhere.
 */
export function withoutCommands(text: string): string {
  return withoutOldCommands(text).replaceAll(/^(\s*):(?=:)/gm, '$1: ');
}

/** The same for JSON without changing its meaning: none of its lines can start with a colon. */
export function withoutCommandsInJson(json: string): string {
  return json.replaceAll('##[', String.raw`##\u005b`);
}

/** Text as HTML in Markdown, on one line: an empty line would end the block of HTML. */
export function htmlInMarkdown(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

function withoutOldCommands(text: string): string {
  return text.replaceAll('##[', '## [');
}
