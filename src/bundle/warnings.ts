import {showPath} from './names.js';
import {unmatchedPatterns} from './patterns.js';
import {sensitiveFiles} from './sensitive-files.js';

/** A warning that names the files whose names say that they hold secrets. */
export function secretWarnings(paths: readonly string[]): string[] {
  const sensitive = sensitiveFiles(paths);
  if (sensitive.length === 0) return [];
  const names = sensitive.map((path) => showPath(path)).join(', ');
  return [`the bundle contains files that may hold secrets: ${names}; leave them out with --ignore or .bundleignore`];
}

/** A warning for each pattern that matches no file: a server in strict mode refuses such a bundle. */
export function patternWarnings(
  patterns: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]},
  paths: readonly string[],
): string[] {
  return (['ssrOnly', 'ssrShared'] as const).flatMap((setting) =>
    unmatchedPatterns(patterns[setting], paths).map((pattern) => `the ${setting} pattern "${pattern}" matches no file`),
  );
}
