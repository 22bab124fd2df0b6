import {nearest} from '../../errors/index.js';
import type {BundleContent} from '../types.js';
import {unmatchedPatterns} from './patterns.js';

/** A warning for each pattern that matches no file. */
export function patternWarnings(
  patterns: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]},
  paths: readonly string[],
): string[] {
  return (['ssrOnly', 'ssrShared'] as const).flatMap((setting) =>
    unmatchedPatterns(patterns[setting], paths).map((pattern) => {
      const near = nearestFile(pattern, paths);
      return `the ${setting} pattern "${pattern}" matches no file${near === undefined ? '' : `; the nearest is "${near}"`}`;
    }),
  );
}

/** What to do about patterns that a server in strict mode refuses. */
export const strictAdvice =
  'Correct the pattern, or pass --match-mode ignore_missing: a strict server refuses the bundle.';

/** The warnings of a v2 bundle that a server in strict mode refuses; it is the server that matches. */
export function strictWarnings({
  matchMode,
  config,
  files,
}: Pick<BundleContent, 'matchMode' | 'config' | 'files'>): string[] {
  if (matchMode !== 'strict') return [];
  const paths = files.map(({path}) => path);
  return patternWarnings(config, paths).map((warning) => `${warning}. ${strictAdvice}`);
}

/** The file that a pattern was probably meant to match: one of a similar name, or in a folder of a similar name. */
function nearestFile(pattern: string, paths: readonly string[]): string | undefined {
  const file = nearest(pattern, paths);
  const [, folder] = /^([^*?[{(!]+)\//.exec(pattern) ?? [];
  if (file !== undefined || folder === undefined) return file;
  const folders = new Set(paths.flatMap((path) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : [])));
  const near = nearest(folder, [...folders]);
  return near === undefined ? undefined : paths.find((path) => path.startsWith(`${near}/`));
}
