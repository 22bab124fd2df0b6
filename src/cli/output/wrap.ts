import {wrapAnsi} from 'fast-wrap-ansi';

/** Stands for a space that must not be broken at. */
const glue = '\u00A0';

/** A command line as a part of a sentence that is wrapped: users copy it. */
export function unbroken(command: string): string {
  return command.replaceAll(' ', glue);
}

/**
 * Wraps a sentence for a terminal between words, but not within a command. What is wider than the terminal stays whole
 * on a line of its own, which the terminal breaks, so that it can be copied.
 * @param width columns of the terminal
 * @param indent prefix of every line but the first
 */
export function wrapSentence(text: string, width: number, indent = ''): readonly string[] {
  const lines = text.split('\n').flatMap((line) => {
    // Users copy such a line to set a variable.
    if (!Number.isFinite(width) || /^ *export \w+=/.test(line)) return line;
    const glued = line.replaceAll(/\bmycli (?=\w)/g, `mycli${glue}`);
    const [lead = ''] = /^ */.exec(line) ?? [];
    const room = Math.max(1, width - Math.max(lead.length, indent.length));
    const [first = '', ...more] = wrapAnsi(glued.trimStart(), room).split('\n');
    return [lead + first, ...more.map((rest) => indent + rest)];
  });
  return lines.map((line) => line.replaceAll(glue, ' '));
}
