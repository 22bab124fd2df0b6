/** The words that a shell makes of a line that mycli tells people to paste. */
export function shellWords(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replaceAll(/'([^']*)'|\\(.)/g, '$1$2'));
}
