import {stripVTControlCharacters} from 'node:util';

/** Stands for a space that must not be broken at, unless nothing else helps. */
const glue = '\u00A0';

/** Stands for a space in quotes, which is never broken at. */
const quotedGlue = '\uE000';

/** A command line as a part of a sentence that is wrapped: users copy it. */
export function unbroken(command: string): string {
  return command.replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll(' ', quotedGlue)).replaceAll(' ', glue);
}

/**
 * Wraps a sentence for a terminal between words, but not within a command, which users copy. A command that is wider
 * than the terminal is continued with a backslash, so that it can still be copied. A path or an address stays whole, on
 * a line of its own, which is not indented if there is no room for that.
 * @param width columns of the terminal
 * @param indent prefix of every line but the first
 */
export function wrapSentence(text: string, width: number, indent = ''): readonly string[] {
  if (text.includes('\n')) return text.split('\n').flatMap((line) => wrapSentence(line, width, indent));
  // Users copy such a line to set a variable.
  const isAssignment = /^ *export \w+=/.test(text);
  if (isAssignment || atMostWidth(text) <= width) return [text.replaceAll(glue, ' ').replaceAll(quotedGlue, ' ')];
  const glued = text.replaceAll(/\bmycli (?=\w)/g, `mycli${glue}`);
  const lead = /^ */.exec(text)?.[0] ?? '';
  const lines = wrapWords(glued.trimStart(), width - indent.length, atMostWidth, width - lead.length);
  return lines
    .flatMap((line, index) => indented(line, index === 0 ? lead : indent, width))
    .map((line) => line.replaceAll(glue, ' ').replaceAll(quotedGlue, ' '));
}

/** A line with as much of its indent as fits. A command that is too wide even without becomes several. */
function indented(line: string, indent: string, width: number): readonly string[] {
  const left = width - atMostWidth(line);
  if (left >= 0 || !line.startsWith(`mycli${glue}`)) return [indent.slice(0, Math.max(0, left)) + line];
  const continuation = ' \\';
  const room = width - indent.length - continuation.length;
  // A flag stays with its value.
  const parts = wrapWords(line.replaceAll(`${glue}-`, ' -'), room - 2, atMostWidth, room);
  const last = parts.length - 1;
  return parts.map((part, at) => `${indent}${at === 0 ? '' : '  '}${part}${at === last ? '' : continuation}`);
}

/** The lines of a text, each at most `width` columns wide unless a single word is wider. */
export function wrapWords(text: string, width: number, measure = atMostWidth, first = width): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && measure(longer) > (lines.length === 0 ? first : width)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/**
 * The maximum number of columns that a text takes. Every command loads this file; only tables load what measures
 * exactly.
 */
function atMostWidth(text: string): number {
  const shown = stripVTControlCharacters(text);
  let width = shown.length;
  for (const character of shown)
    if (character >= '\u1100' && character !== quotedGlue && character.length === 1) width += 1;
  return width;
}
