/**
 * A line that the runner of GitHub Actions shows as an annotation. Whatever the message holds, it stays one command: line
 * breaks are escaped as the runner asks for.
 */
export function annotation(kind: 'error' | 'warning', message: string): string {
  const data = withoutOldCommands(message).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `::${kind} title=mycli::${data}`;
}

/**
 * Text that the runner takes for no command. It reads every line of both streams: `::name::` at the start of a line and,
 * of old, `##[name]` anywhere.
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
