import {unmatchedPatterns} from './patterns.js';

/** A warning for each pattern that matches no file: a server in strict mode refuses such a bundle. */
export function patternWarnings(
  patterns: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]},
  paths: readonly string[],
): string[] {
  return (['ssrOnly', 'ssrShared'] as const).flatMap((setting) =>
    unmatchedPatterns(patterns[setting], paths).map((pattern) => `the ${setting} pattern "${pattern}" matches no file`),
  );
}
