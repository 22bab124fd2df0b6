/**
 * The text that a percent-encoded one stands for; undefined if it is malformed. Use the value: bundlers drop a call of
 * `decodeURIComponent` whose value is unused, although it may throw.
 */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
