/** A command to copy in a sentence: `mycli`, its name, its flags and their values. */
const command =
  /\bmycli [\w:-]+(?: (?:--?[\w-]+(?:[= ](?:'[^']*'|[\w@%+:,./-]*[\w/]))?|[A-Z]{2,}|\d+|[\w.,@/-]+(?= --?\w)))*/g;

/** Stands for a space that must not be broken at. */
const glue = '\u00A0';

/**
 * Wraps a sentence for a terminal between words, but never within a command, which users copy. Anything wider than a
 * line stays whole: the terminal wraps it, and copies it in one piece.
 * @param width columns of the terminal
 * @param indent prefix of every line but the first
 */
export function wrapSentence(text: string, width: number, indent = ''): readonly string[] {
  if (text.includes('\n')) return text.split('\n').flatMap((line) => wrapSentence(line, width, indent));
  if (atMostWidth(text) <= width) return [text];
  const glued = text.replaceAll(command, (found) => found.replaceAll(' ', glue));
  const lead = /^ */.exec(text)?.[0] ?? '';
  const lines = wrapWords(glued.trimStart(), width - indent.length, atMostWidth, width - lead.length);
  return lines.map((line, index) => (index === 0 ? lead : indent) + line.replaceAll(glue, ' '));
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
  let width = text.length;
  for (const character of text) if (character >= '\u1100' && character.length === 1) width += 1;
  return width;
}
