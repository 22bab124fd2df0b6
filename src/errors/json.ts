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

/**
 * Why JSON cannot carry a value: it holds a function, a symbol, a bigint, NaN or a circle, or is nested too deeply.
 * Keys that are undefined are left out of JSON and are no problem.
 */
export function jsonProblem(value: unknown, path = '', parents: readonly unknown[] = []): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) {
    return undefined;
  }
  const isList = Array.isArray(value);
  if ((!isList && !isPlainObject(value)) || parents.includes(value)) {
    return `contains a value that JSON cannot represent${path && `, at ${path}`}`;
  }
  if (parents.length === maxDepth) return `is nested more than ${maxDepth} levels deep`;
  for (const [key, item] of Object.entries<unknown>(value)) {
    if (item === undefined && !isList) continue;
    const name = path === '' ? key : `${path}.${key}`;
    const problem = jsonProblem(item, isList ? `${path}[${key}]` : name, [...parents, value]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  // Configuration is executed by a loader that may have its own Object: a plain object has a prototype without one.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
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
