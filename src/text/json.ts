/** Whether a value is an object with keys, not null or an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The value of a key that users chose, which may be that of something every object has, such as `constructor`. */
export function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** More levels than any response has, but far fewer than recursive code such as `JSON.stringify` can handle. */
const maxDepth = 200;

/**
 * Parses untrusted JSON. A byte order mark before it is ignored, as RFC 8259 allows.
 * @throws SyntaxError if it is not JSON, or is nested so deeply that it could exhaust the stack.
 */
export function parseJson(text: string): unknown {
  if (isDeeperThan(maxDepth, text)) throw new SyntaxError(`nested more than ${maxDepth} levels deep`);
  return JSON.parse(text.replace(/^\uFEFF/, ''));
}

/** Parses untrusted JSON. Undefined if `parseJson` would refuse it. */
export function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A text as it is, and anything else as JSON. */
export function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value as JSON. Undefined if JSON cannot represent it. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const numberOrString = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON in which numbers that would print differently, such as `3.10`, are strings: what was typed is what is sent. */
export function withExactNumbers(json: string): string {
  return json.replaceAll(numberOrString, (token) => {
    const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(token);
    return isNumber && String(Number(token)) !== token ? `"${token}"` : token;
  });
}

/** Parses a settings file in JSON. In its SSR parameters, numbers that would print differently stay text. */
export function parseSettingsJson(text: string): unknown {
  return withParametersOf(parseJson(withExactNumbers(text)), parseJson(text));
}

function withParametersOf(exact: unknown, value: unknown): unknown {
  if (!isRecord(exact) || !isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    return [key, key === 'ssrParameters' ? exact[key] : withParametersOf(exact[key], item)] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Why JSON cannot represent a value: it contains a function, a symbol, a bigint, NaN or a cycle, or is nested too
 * deeply. Undefined keys are fine, since JSON omits them.
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

/** Whether a value is an object that can be written as JSON, not an instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  // Configuration files may be loaded with another Object, so look for a prototype that has none itself.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Runs before parsing, since a million nested arrays take a hundred times the memory of their text. */
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
