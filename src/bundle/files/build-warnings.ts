import prettyBytes from 'pretty-bytes';
import {near} from '../../text/suggest.js';
import type {BundleFile, BundleContent} from '../types.js';
import {showPath, sourceOf} from '../../text/entry-names.js';
import {begins} from '../../files/own-files.js';
import {markFiles, noMarks, type PatternLists} from './patterns.js';

/** The cache folders of frameworks and build tools. */
export const cacheFolder =
  /^(?:.*\/)?(?:(?:\.next|\.nuxt|\.angular|\.nx)\/cache|node_modules\/\.cache|\.parcel-cache|\.turbo)\//;

export const patternSettings = ['ssrOnly', 'ssrShared'] as const;

/** Warnings about caches of frameworks, which can be larger than everything else and are never read. */
export function cacheWarnings(files: readonly BundleFile[]): readonly string[] {
  const caches = new Map<string, {bytes: number; files: number}>();
  for (const {path, size} of files) {
    const folder = cacheFolder.exec(path)?.[0];
    if (folder === undefined) continue;
    const cache = caches.get(folder) ?? {bytes: 0, files: 0};
    caches.set(folder, {bytes: cache.bytes + size, files: cache.files + 1});
  }
  return [...caches].map(
    ([folder, cache]) =>
      `The build contains a framework's cache, ${showPath(folder)} (${prettyBytes(cache.bytes)}, ` +
      `files: ${String(cache.files)}). Add /${folder} to .bundleignore to exclude it.`,
  );
}

/** Warnings about entries of a server in UTF-16, as PowerShell 5 writes with `>`. Node cannot run them. */
export function wideEntries(files: readonly BundleFile[], buildDirectory: string): readonly string[] {
  const entries = files.filter(({path, ssrOnly, size}) => ssrOnly && size > 1 && /^[^/]+\.[cm]?js$/.test(path));
  return entries.flatMap(({path}) =>
    begins(sourceOf(buildDirectory, path), /^(?:\xFF\xFE|\xFE\xFF)/)
      ? [
          `${showPath(path)} is in UTF-16, which Node.js can't run. Save it as UTF-8. In PowerShell, use Set-Content ` +
            '-Encoding utf8.',
        ]
      : [],
  );
}

/** Whether a file is of a package that is installed at the top of the build. */
export function isPackageFile({path}: Pick<BundleFile, 'path'>): boolean {
  return path.startsWith('node_modules/') && !cacheFolder.test(path);
}

/** Limit for finding the closest file: characters of patterns times number of paths. */
const maxCompared = 20_000_000;

/** Warnings about patterns that match no file. */
export function unmatchedWarnings(unmatched: PatternLists, paths: readonly string[]): string[] {
  let compared = 0;
  return patternSettings.flatMap((setting) =>
    unmatched[setting].map((pattern) => {
      compared += pattern.length * paths.length;
      const near = compared > maxCompared ? undefined : nearestFile(pattern, paths);
      const hint = near === undefined ? '' : `. The closest is "${near}"`;
      return `The ${setting} pattern "${pattern}" matches no file${hint}.`;
    }),
  );
}

/** What to do about patterns that a strict server refuses. */
const strictAdvice =
  'A strict server refuses the bundle: correct the pattern, or set matchMode to ignore_missing in mycli.config.';

/** Warnings about a bundle that a strict server, which matches the patterns itself, will refuse. */
export async function strictWarnings(
  {matchMode, config, files}: Pick<BundleContent, 'matchMode' | 'config' | 'files'>,
  signal?: AbortSignal,
): Promise<string[]> {
  if (matchMode !== 'strict') return [];
  const paths = files.map(({path}) => path);
  const unmarked = paths.map((path) => ({path, ...noMarks}));
  const unmatched = await markFiles(unmarked, config, signal);
  return withStrictAdvice(unmatchedWarnings(unmatched, paths));
}

/** Adds to warnings about patterns what to do if the server is strict. */
export function withStrictAdvice(warnings: readonly string[]): string[] {
  return warnings.map((warning) => `${warning} ${strictAdvice}`);
}

/** The file that a pattern was probably meant to match: one with a similar name, or in a folder with a similar name. */
function nearestFile(pattern: string, paths: readonly string[]): string | undefined {
  const [file] = near(pattern, paths);
  const [, folder] = /^([^*?[{(!]+)\//.exec(pattern) ?? [];
  if (file !== undefined || folder === undefined) return file;
  const folders = new Set(paths.flatMap((path) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : [])));
  const [meant] = near(folder, [...folders]);
  return meant === undefined ? undefined : paths.find((path) => path.startsWith(`${meant}/`));
}
