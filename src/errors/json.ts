/** Whether a value is an object with keys: neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** More levels than any answer has; far fewer than what walks through values, `JSON.stringify` for one, can descend. */
const maxDepth = 200;

/**
 * The value of a JSON text of somebody else.
 * @throws SyntaxError when it is not JSON, or nested so deeply that handling it would exhaust the stack.
 */
export function parseJson(text: string): unknown {
  if (isDeeperThan(maxDepth, text)) throw new SyntaxError(`nested more than ${maxDepth} levels deep`);
  return JSON.parse(text);
}

/** Looks before anything is made of the text: a million nested arrays take a hundred times its memory. */
function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') at += 1;
    else if (!isQuoted && (character === '[' || character === '{')) depth += 1;
    else if (!isQuoted && (character === ']' || character === '}')) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
