/** A command to copy, as it stands in a sentence: `mycli`, its name, its flags and their values. */
const command =
  /\bmycli [\w:-]+(?: (?:--?[\w-]+(?:[= ](?:'[^']*'|[\w@%+:,./-]*[\w/]))?|[A-Z]{2,}|\d+|[\w.,@/-]+(?= --?\w)))*/g;

/** Stands for a space that is not to be broken at. */
const glue = '\u00A0';

/**
 * The lines of a sentence on a terminal: broken between words, and never within a command, which is there to be copied.
 * What is wider than a line alone stays whole: the terminal breaks it, and gives it back in one piece.
 * @param width columns of the terminal
 * @param indent what every line but the first begins with
 */
export function wrapSentence(text: string, width: number, indent = ''): readonly string[] {
  if (text.includes('\n')) return text.split('\n').flatMap((line) => wrapSentence(line, width, indent));
  if (atMostWidth(text) <= width) return [text];
  const glued = text.replaceAll(command, (found) => found.replaceAll(' ', glue));
  const lead = /^ */.exec(text)?.[0] ?? '';
  const lines = wrapWords(glued.trimStart(), width - Math.max(lead.length, indent.length));
  return lines.map((line, index) => (index === 0 ? lead : indent) + line.replaceAll(glue, ' '));
}

/** The lines of a text, each at most `width` columns wide unless a single word is wider. */
export function wrapWords(text: string, width: number, measure = atMostWidth): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && measure(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** How many columns a text takes at most. Every command loads this file, and only tables what measures exactly. */
function atMostWidth(text: string): number {
  let width = text.length;
  for (const character of text) if (character >= '\u1100' && character.length === 1) width += 1;
  return width;
}
