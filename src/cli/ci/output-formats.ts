import {randomUUID} from 'node:crypto';

/**
 * Outputs of a step as `$GITHUB_OUTPUT` takes them. The delimiter is made for each value: no text can end it and begin
 * another output.
 */
export function githubOutputs(entries: readonly (readonly [name: string, value: string])[]): string {
  return entries
    .map(([name, value]) => {
      const delimiter = `mycli-${randomUUID()}`;
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
    })
    .join('');
}

/** The name of an output in a dotenv file: `MYCLI_BUNDLE_ID`. */
export function dotenvName(name: string): string {
  return `MYCLI_${name.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Whether a value can stand in a dotenv file as it is. Readers disagree about quotes and escapes, and shells run what
 * they source, so only what means itself everywhere is written.
 */
export function fitsDotenv(value: string): boolean {
  return /^[\w.:@%+=,/-]+$/.test(value);
}

/** Lines of a dotenv file, for values that fit. */
export function dotenvLines(entries: readonly (readonly [name: string, value: string])[]): string {
  return entries.map(([name, value]) => `${dotenvName(name)}=${value}\n`).join('');
}

/**
 * A table for `$GITHUB_STEP_SUMMARY`, one row for each pair. It is HTML: no Markdown is read inside, and no text gets out
 * of its cell.
 */
export function summaryTable(title: string, rows: readonly (readonly [name: string, value: string])[]): string {
  const cells = rows.map(
    ([name, value]) => `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return `### ${title}\n\n<table>\n${cells.join('\n')}\n</table>\n\n`;
}

// An empty line would end the block of HTML.
function escapeHtml(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
