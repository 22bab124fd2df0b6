/** Encodings in which a file may lie beside itself, the best first, with the end of their names. */
export const encodedFiles = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Weight of what is sent as it is when the header does not speak of it: acceptable, and less welcome than all it names. */
const unnamedIdentity = 0.0005;

/**
 * The one of `available` that an `Accept-Encoding` header likes best, of equals the first; none when it likes none of them better
 * than what is sent as it is.
 */
export function chooseEncoding(header: string | undefined, available: readonly string[]): string | undefined {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').toLowerCase().split(',')) {
    const [, name, quality = '1'] = /^\s*(?:x-)?([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(item) ?? [];
    if (name !== undefined) weights.set(name, Number(quality));
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? weights.get('*') ?? unnamedIdentity;
  const [best] = available.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= identity ? best : undefined;
}
