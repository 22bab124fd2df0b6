import {nearest} from '../../errors/index.js';
import type {BundleContent} from '../types.js';
import {countMatches, isExclusion, type PatternLists} from './patterns.js';
import {inTurns, type Turnwise} from './turns.js';

/** Characters of patterns times paths that are compared to find near files, at most. */
const maxCompared = 20_000_000;

/**
 * A warning for each pattern that matches no file.
 * @throws RuntimeCliError `ERR_PATTERN_INVALID` for patterns that take too long; `signal.reason` when aborted.
 */
export async function patternWarnings(
  patterns: PatternLists,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  return unmatchedWarnings(patterns, {counts: await countMatches(patterns, paths, signal), paths}, signal);
}

/** The same, once it is known how many files each pattern matches. */
export function unmatchedWarnings(
  patterns: PatternLists,
  {
    counts,
    paths,
  }: {readonly counts: {readonly [Key in keyof PatternLists]: readonly number[]}; readonly paths: readonly string[]},
  signal?: AbortSignal,
): Promise<string[]> {
  function* warning(): Turnwise<string[]> {
    const warnings = [];
    let compared = 0;
    for (const setting of ['ssrOnly', 'ssrShared'] as const) {
      for (const [index, pattern] of patterns[setting].entries()) {
        if (counts[setting][index] !== 0 || isExclusion(pattern)) continue;
        yield;
        compared += pattern.length * paths.length;
        const near = compared > maxCompared ? undefined : nearestFile(pattern, paths);
        const hint = near === undefined ? '' : `; the nearest is "${near}"`;
        warnings.push(`the ${setting} pattern "${pattern}" matches no file${hint}`);
      }
    }
    return warnings;
  }
  return inTurns(warning(), signal);
}

/** What to do about patterns that a server in strict mode refuses. */
export const strictAdvice =
  'Correct the pattern, or pass --match-mode ignore_missing: a strict server refuses the bundle.';

/** The warnings of a v2 bundle that a server in strict mode refuses; it is the server that matches. */
export async function strictWarnings(
  {matchMode, config, files}: Pick<BundleContent, 'matchMode' | 'config' | 'files'>,
  signal?: AbortSignal,
): Promise<string[]> {
  if (matchMode !== 'strict') return [];
  const paths = files.map(({path}) => path);
  const warnings = await patternWarnings(config, paths, signal);
  return warnings.map((warning) => `${warning}. ${strictAdvice}`);
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
