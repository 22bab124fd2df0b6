/** Decodes percent-encoded text; undefined if it is malformed. Bundlers drop a call whose value is unused. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
