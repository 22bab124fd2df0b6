import {sep} from 'node:path';

/**
 * Why a path cannot be the name of an archive entry, if so: the archive library would change it, or patterns, servers
 * and other systems would read it differently.
 */
export function entryNameProblem(path: string): string | undefined {
  if (hasControlCharacter(path)) return 'has a control character or line break in its name';
  if (path.includes('\\')) return 'has a backslash in its name, which archive tools read as a slash';
  return undefined;
}

/** Whether a string contains invisible characters: control characters, or line and paragraph separators. */
export function hasControlCharacter(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text);
}

/** Length in characters, not UTF-16 units. */
export function characterCount(text: string): number {
  return Array.from(text).length;
}

/** A path for messages, quoted if it contains invisible characters. */
export function showPath(path: string): string {
  return hasControlCharacter(path) ? JSON.stringify(path) : path;
}

/** The first paths of a list for messages, and how many more there are. */
export function listPaths(paths: readonly string[], most = 10): string {
  return listFirst(paths, ', ', showPath, most);
}

/** The first files of a list for messages, each with a reason if it has one: `server.js (imports express), db.js`. */
export function listReasons(files: readonly {readonly path: string; readonly reason?: string}[]): string {
  return listFirst(files, ', ', ({path, reason}) => showPath(path) + (reason === undefined ? '' : ` (${reason})`));
}

/** What the details of an error say about files: the first paths, and how many there are. */
export function fileDetails(paths: readonly string[]): {readonly files: readonly string[]; readonly count: number} {
  return {files: paths.slice(0, 100), count: paths.length};
}

export function listFirst<Item>(
  items: readonly Item[],
  separator: string,
  show: (item: Item) => string,
  most = 10,
): string {
  const more = items.length > most ? [`and ${items.length - most} more`] : [];
  return [...items.slice(0, most).map(show), ...more].join(separator);
}

/** Where a file of a build is, given its path in the bundle. Faster than `join`, which matters for 100,000 files. */
export function sourceOf(buildDirectory: string, path: string): string {
  return `${buildDirectory}${sep}${sep === '/' ? path : path.replaceAll('/', sep)}`;
}

/** Orders paths by character codes, the same on every platform and in every locale. */
export function comparePaths(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
