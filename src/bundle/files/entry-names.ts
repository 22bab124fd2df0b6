/**
 * Why a path cannot name an entry of an archive, if so. What is refused is what the archive library would alter, or
 * what patterns, servers and other systems would read differently.
 */
export function entryNameProblem(path: string): string | undefined {
  if (hasControlCharacter(path)) return 'has a control character or line break in its name';
  if (path.includes('\\')) return 'has a backslash in its name, which archive tools read as a slash';
  return undefined;
}

/** Whether a text has characters that are not to be seen: control characters, line and paragraph separators. */
export function hasControlCharacter(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text);
}

/** Length in characters, not in UTF-16 units. */
export function characterCount(text: string): number {
  return Array.from(text).length;
}

/** A path as it is printed: quoted when it has characters that would not show. */
export function showPath(path: string): string {
  return hasControlCharacter(path) ? JSON.stringify(path) : path;
}

/** The first paths of a list, as they are printed, and how many more there are. */
export function listPaths(paths: readonly string[], most = 10): string {
  return listFirst(paths, ', ', showPath, most);
}

/** The first items of a list, and how many more there are: `a, b, and 3 more`. */
export function listFirst<Item>(
  items: readonly Item[],
  separator: string,
  show: (item: Item) => string,
  most = 10,
): string {
  const more = items.length > most ? [`and ${items.length - most} more`] : [];
  return [...items.slice(0, most).map(show), ...more].join(separator);
}

/** Orders paths by their characters, the same on every platform and in every locale. */
export function comparePaths(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
