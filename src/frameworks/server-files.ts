import {shellLine} from '../text/suggest.js';
import type {Framework} from './framework.js';

/** A file that only a server has a use for. */
export interface ServerScript {
  readonly path: string;
  /** Why, unless its place says it: `imports express`. */
  readonly reason?: string;
  /** Whether only what imports it says so. */
  readonly isImported?: boolean;
}

/** The two lists of a build of a framework: what the row says is public, all else being its server's. */
export function listsOf(
  {public: folders = [], lists}: Framework,
  paths: readonly string[],
): NonNullable<Framework['lists']> {
  if (lists !== undefined) return lists;
  const shared = folders
    // No wildcard matches a dot: other dot files of a site are nobody's business.
    .flatMap((folder) => [folder, `${folder}/.well-known`])
    .filter((folder) => paths.some((path) => path.startsWith(`${folder}/`)))
    .map((folder) => `${folder}/**`);
  return {
    ssrOnly: [...everythingIn('', dotNames(paths)), ...shared.map((pattern) => `!${pattern}`)],
    ssrShared: shared,
  };
}

/** Folders with a server's code. Their pages are no server. */
const serverFolder = /^(?:server|functions|api|ssr|_worker\.js)$/;
/** Folders of what browsers load, where a bundler may name a folder after a page of that name. */
const assetFolder = /^(?:_.+|assets|browser|chunks|client|js|node_modules|public|static)$/;
/** Functions of a server that Expo builds, below a folder that looks like one of what browsers load. */
const hiddenFunctions = /(?:^|\/)_[^/]+\/functions\//;
const script = /\.(?:[cm]?[jt]s|go|py|rb)$/;
/** Programs that a build may have beside the folder with its page. */
const program = /^(?:server|entry|index)(?:[.-].+)?\.[cm]?js$/;

/**
 * The scripts of a build that look like a server's, wherever they are. One in a folder with a page is the page's:
 * documentation may have pages about servers.
 */
export function serverCodeIn(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  const folders = new Set(paths.flatMap(foldersOf));
  const hasPage = (folder: string) => all.has(`${folder}index.html`);
  return paths.filter((path) => {
    if (!script.test(path) || path.endsWith('.d.ts')) return false;
    if (['ssr.js', 'ssr.mjs', '_worker.js'].includes(path) || hiddenFunctions.test(path)) return true;
    const parents = foldersOf(path);
    const first = parents.findIndex((folder) => serverFolder.test(nameOf(folder)) || assetFolder.test(nameOf(folder)));
    const found = parents[first];
    if (found !== undefined) return serverFolder.test(nameOf(found)) && !parents.slice(first).some(hasPage);
    const folder = parents.at(-1) ?? '';
    const beside = ['client/', 'public/'].map((name) => `${folder}${name}`);
    const isBeside = hasPage(folder) ? beside.some(hasPage) : beside.some((name) => folders.has(name));
    return isBeside && program.test(path.slice(folder.length));
  });
}

/** Whether a path is below a folder that is named for what browsers load. */
export function isAssetPath(path: string): boolean {
  return foldersOf(path).some((folder) => assetFolder.test(nameOf(folder)));
}

/** The folders above a path, the outermost first: `a/`, `a/b/`. */
export function foldersOf(path: string): readonly string[] {
  return [...path.matchAll(/\//g)].map(({index}) => path.slice(0, index + 1));
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('/', folder.length - 2) + 1, -1);
}

/** The flags that keep scripts of a server private, and all that is in their folders. */
export function ssrOnlyFlags(code: readonly string[], paths: readonly string[]): string {
  const folders = code.map((path) => foldersOf(path).find((folder) => serverFolder.test(nameOf(folder))) ?? path);
  const patterns = [...new Set(folders)].flatMap((place) => (place.endsWith('/') ? patternsIn(place, paths) : place));
  return shellLine(...patterns.flatMap((pattern) => ['--ssr-only', pattern]));
}

/** Patterns of all in a folder (empty, or with a final slash), to a depth of dot names, which no wildcard matches. */
export function everythingIn(folder: string, depth: number): readonly string[] {
  const dots = Array.from({length: depth}, (_, level) => `${folder}${'**/.*/'.repeat(level)}**/.*`);
  return [`${folder}**/*`, ...dots.flatMap((pattern) => [pattern, `${pattern}/**`])];
}

/** The most names of one path that begin with a dot. */
export function dotNames(paths: readonly string[]): number {
  return paths.reduce((most, path) => Math.max(most, path.match(/(?:^|\/)\./g)?.length ?? 0), 0);
}

/** Of the patterns of `everythingIn`, those that match one of `paths`: a strict service refuses others. */
export function patternsIn(folder: string, paths: readonly string[]): readonly string[] {
  const below = paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length).split('/'));
  const needed = new Set(
    below.map((names) => {
      const dots = '**/.*/'.repeat(names.slice(0, -1).filter((name) => name.startsWith('.')).length);
      if (names.at(-1)?.startsWith('.') === true) return `${folder}${dots}**/.*`;
      return dots === '' ? `${folder}**/*` : `${folder}${dots}**`;
    }),
  );
  return everythingIn(folder, dotNames(paths)).filter((pattern) => needed.has(pattern));
}
