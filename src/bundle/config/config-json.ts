import type {BundleConfig} from '../types.js';

/** The configuration as JSON. Keys are sorted, so that equal configurations have equal bytes. */
export function configJson(config: BundleConfig): string {
  return `${JSON.stringify(config, sortedKeys, 2)}\n`;
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Where a value holds something that JSON cannot carry (a function, a symbol, a bigint, NaN, a circle), as a path such as
 * `a.b[0]`; nothing when it holds only what JSON can. Keys that are undefined are left out of JSON and are no problem.
 */
export function notJson(value: unknown, path: string, parents: readonly unknown[] = []): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (typeof value !== 'object' || parents.includes(value)) return path;
  const within = [...parents, value];
  if (Array.isArray(value))
    return firstOf(
      value.map((item, index) => [`${path}[${String(index)}]`, item]),
      within,
    );
  const prototype: unknown = Object.getPrototypeOf(value);
  // Configuration is executed by a loader that may have its own Object: a plain object has a prototype without one.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return path;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return firstOf(
    entries.map(([key, item]) => [`${path}.${key}`, item]),
    within,
  );
}

function firstOf(items: readonly (readonly [string, unknown])[], parents: readonly unknown[]): string | undefined {
  for (const [path, item] of items) {
    const found = notJson(item, path, parents);
    if (found !== undefined) return found;
  }
  return undefined;
}
