import picomatch from 'picomatch';
import type {BundleFile} from './types.js';

/** Patterns made ready for matching. */
export interface CompiledPatterns {
  /** Whether a pattern matches `path` and no exclusion does. */
  matches(path: string): boolean;
}

/** A file that `markFiles` marks. */
export type MatchableFile = Pick<BundleFile, 'path'> & {-readonly [Key in 'ssrOnly' | 'ssrShared']: BundleFile[Key]};

/** The marks of a file before it was matched. */
export const unmatched = {ssrOnly: false, ssrShared: false} as const;

/**
 * Compiles glob patterns: picomatch rules, `*` matches no dotfile, case counts, `/` on every platform. A pattern that
 * begins with `!` excludes what it matches, wherever it stands among the others; `!(a|b)` is an extglob.
 */
export function compilePatterns(patterns: readonly string[]): CompiledPatterns {
  const included = patterns.filter((pattern) => !isExclusion(pattern)).map((pattern) => matcher(pattern));
  const excluded = patterns.filter((pattern) => isExclusion(pattern)).map((pattern) => matcher(pattern));
  return {
    matches: (path) => included.some((matches) => matches(path)) && !excluded.some((matches) => matches(path)),
  };
}

/** The paths that `patterns` match, in the order given. */
export function matchPatterns(patterns: readonly string[], paths: readonly string[]): string[] {
  const compiled = compilePatterns(patterns);
  return paths.filter((path) => compiled.matches(path));
}

/** The patterns that match none of `paths`, each looked at alone. An exclusion that excludes nothing is none of them. */
export function unmatchedPatterns(patterns: readonly string[], paths: readonly string[]): string[] {
  return patterns.filter((pattern) => {
    if (isExclusion(pattern)) return false;
    const matches = matcher(pattern);
    return !paths.some((path) => matches(path));
  });
}

/**
 * Marks each file with whether the patterns of ssrOnly and ssrShared match it. They are not copied: a build may have 100,000,
 * and nothing else in memory is as large.
 */
export function markFiles(
  files: readonly MatchableFile[],
  patterns: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]},
): void {
  const ssrOnly = compilePatterns(patterns.ssrOnly);
  const ssrShared = compilePatterns(patterns.ssrShared);
  for (const file of files) {
    file.ssrOnly = ssrOnly.matches(file.path);
    file.ssrShared = ssrShared.matches(file.path);
  }
}

/** Whether a pattern excludes. Every further `!` turns it around, as in picomatch. */
export function isExclusion(pattern: string): boolean {
  return countMarks(pattern) % 2 === 1;
}

/** Whether picomatch can compile a pattern. */
export function isUsablePattern(pattern: string): boolean {
  try {
    matcher(pattern);
    return true;
  } catch {
    return false;
  }
}

function matcher(pattern: string): (path: string) => boolean {
  const matches = picomatch(pattern.slice(countMarks(pattern)), {nonegate: true, windows: false});
  return (path) => matches(path);
}

/** How many `!` stand in front, as far as they do not begin an extglob. */
function countMarks(pattern: string): number {
  return pattern.search(/!\(|[^!]|$/);
}
