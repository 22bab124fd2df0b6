import {compilePatterns} from '../../../src/bundle/index.js';

/** The paths that `patterns` match, in the order given. */
export function matchPatterns(patterns: readonly string[], paths: readonly string[]): string[] {
  const compiled = compilePatterns(patterns);
  return paths.filter((path) => compiled.matches(path));
}
