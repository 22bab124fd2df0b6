/** The most characters of a crash that are shown, and of a line of it. */
const longestText = 2000;
const longestLine = 200;

/**
 * Explains a crash by what was printed last, the error first: before it, Node prints the line of source that threw,
 * which can be a whole minified program.
 */
export function crashLines(printed: readonly string[]): readonly string[] {
  const error = Math.max(
    0,
    printed.findLastIndex((line) => /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b/.test(line)),
  );
  let left = longestText;
  return [...printed.slice(error), ...printed.slice(0, error)].flatMap((line) => {
    const shown = line.length > longestLine ? `${line.slice(0, longestLine - 1)}…` : line;
    left -= shown.length + 1;
    return left < 0 ? [] : [shown];
  });
}
