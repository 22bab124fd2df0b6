import {createError} from '../../errors/index.js';
import type {BundleFile} from '../types.js';
import {GlobAutomaton, type Spend} from './glob-automaton.js';
import {inTurns, type Turnwise} from './in-turns.js';

/** Compiled patterns. */
interface CompiledPatterns {
  /** Whether any pattern matches `path` and no exclusion does. */
  matches(path: string): boolean;
  /** The patterns that, on their own, have matched no path so far, if they are tracked. Never includes exclusions. */
  unmatched(): readonly string[];
}

/** A file that `markFiles` marks. */
export type MatchableFile = Pick<BundleFile, 'path'> & {-readonly [Key in 'ssrOnly' | 'ssrShared']: BundleFile[Key]};

/** The marks of a file that has not been matched yet. */
export const noMarks = {ssrOnly: false, ssrShared: false} as const;

/** Maximum length of a pattern, in characters. */
const maxPatternLength = 1024;
/** Maximum nesting of groups and braces. */
const maxNesting = 16;
/** Maximum number of patterns in a list, and of characters in those with wildcards. */
const maxList = {patterns: 1000, characters: 32_768} as const;
/** A pattern that is a plain name. */
const plainName = /^[\w-][\w /-]*(?:\.[\w /-]+)*$/;
/**
 * Maximum number of steps for matching a list: one for each character of a path and each pattern, as far as needed, and
 * extra for uncached ones. 200,000 paths of 60 characters and 20 patterns stay within it.
 */
const maxSteps = 300_000_000;
/** Maximum number of steps for one path, during which nothing else runs. */
const maxStepsOfPath = 40_000_000;

/** The two lists of a configuration. */
export interface PatternLists {
  readonly ssrOnly: readonly string[];
  readonly ssrShared: readonly string[];
}

/**
 * Compiles glob patterns. They follow picomatch's rules, except that no wildcard matches the dot of a dotfile; they are
 * case-sensitive and use `/` on every platform. A pattern that starts with `!` excludes what it matches, wherever it is
 * in the list; `!(a|b)` is an extglob.
 *
 * Matching takes time linear in the patterns and in the paths, up to a limit.
 * @throws RuntimeCliError `ERR_PATTERN_INVALID`, here or during matching, for patterns that are invalid or take too
 * long.
 */
export function compilePatterns(patterns: readonly string[]): CompiledPatterns {
  return compileWithin(new Budget(), patterns);
}

/** @param tracked Whether to find out which patterns match nothing: all that have not matched yet are tried. */
function compileWithin(budget: Budget, patterns: readonly string[], tracked = false): CompiledPatterns {
  const compiled = matchers(patterns, budget).map((matches, index) => {
    const pattern = patterns[index] ?? '';
    return {pattern, matches, excludes: isExclusion(pattern), hasMatched: false};
  });
  const included = compiled.filter(({excludes}) => !excludes);
  const excluded = compiled.filter(({excludes}) => excludes);
  return {
    matches(path) {
      budget.beginPath();
      let isIncluded = false;
      for (const one of included) {
        if ((isIncluded && (one.hasMatched || !tracked)) || !one.matches(path)) continue;
        one.hasMatched = true;
        isIncluded = true;
      }
      return isIncluded && !excluded.some(({matches}) => matches(path));
    },
    unmatched: () => (tracked ? included.flatMap(({pattern, hasMatched}) => (hasMatched ? [] : [pattern])) : []),
  };
}

/**
 * How many of `paths` each pattern matches on its own, or excludes. Works in turns.
 * @throws RuntimeCliError `ERR_PATTERN_INVALID` for patterns that take too long; `signal.reason` when aborted.
 */
export function countMatches(
  {ssrOnly, ssrShared}: PatternLists,
  paths: Iterable<string>,
  signal?: AbortSignal,
): Promise<{readonly ssrOnly: readonly number[]; readonly ssrShared: readonly number[]}> {
  function* counting(): Turnwise<{ssrOnly: number[]; ssrShared: number[]}> {
    const budget = new Budget();
    const countersOf = (patterns: readonly string[]) =>
      matchers(patterns, budget).map((matches) => ({matches, files: 0}));
    const [only, shared] = [countersOf(ssrOnly), countersOf(ssrShared)];
    for (const path of paths) {
      for (const counters of [only, shared]) {
        yield;
        budget.beginPath();
        for (const counter of counters) if (counter.matches(path)) counter.files += 1;
      }
    }
    return {ssrOnly: only.map(({files}) => files), ssrShared: shared.map(({files}) => files)};
  }
  return inTurns(counting(), signal);
}

/** Options for marking files. */
interface MarkOptions<File> {
  readonly signal?: AbortSignal | undefined;
  /** Whether to find the patterns that match nothing, which takes longer. @default false */
  readonly findUnmatched?: boolean | undefined;
  /** Called with each file once it is marked. */
  readonly onMarked?: ((file: File) => void) | undefined;
}

/**
 * Marks each file with whether the patterns of ssrOnly and ssrShared match it. Files are not copied: a build may have
 * 100,000 of them, and nothing else takes as much memory. Works in turns.
 * @returns The patterns that match no file on their own, if `findUnmatched`. Never includes exclusions.
 * @throws RuntimeCliError `ERR_PATTERN_INVALID` for patterns that take too long; `signal.reason` when aborted.
 */
export function markFiles<File extends MatchableFile>(
  files: Iterable<File>,
  patterns: PatternLists,
  {signal, findUnmatched, onMarked}: MarkOptions<File> = {},
): Promise<PatternLists> {
  function* marking(): Turnwise<PatternLists> {
    const budget = new Budget();
    const ssrOnly = compileWithin(budget, patterns.ssrOnly, findUnmatched);
    const ssrShared = compileWithin(budget, patterns.ssrShared, findUnmatched);
    for (const file of files) {
      file.ssrOnly = ssrOnly.matches(file.path);
      yield;
      file.ssrShared = ssrShared.matches(file.path);
      yield;
      onMarked?.(file);
    }
    return {ssrOnly: ssrOnly.unmatched(), ssrShared: ssrShared.unmatched()};
  }
  return inTurns(marking(), signal);
}

/** Whether a pattern excludes. Each further `!` negates it again, as in picomatch. */
export function isExclusion(pattern: string): boolean {
  return countMarks(pattern) % 2 === 1;
}

/** Why a pattern is invalid, if so. */
export function patternProblem(pattern: string): string | undefined {
  const matches = matcher(pattern, new Budget());
  return typeof matches === 'string' ? matches : undefined;
}

/** A pattern for messages: quoted, and cut if it is long. */
export function showPattern(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}...` : pattern);
}

/** Why a list of patterns is invalid as a whole, if so. */
export function patternListProblem(patterns: readonly string[]): string | undefined {
  if (patterns.length > maxList.patterns) return `must have at most ${maxList.patterns} patterns`;
  const globs = patterns.filter((pattern) => !plainName.test(pattern));
  const characters = globs.reduce((sum, {length}) => sum + length, 0);
  if (characters <= maxList.characters) return undefined;
  return `must have at most ${maxList.characters} characters in patterns with wildcards`;
}

/** @throws RuntimeCliError `ERR_PATTERN_INVALID` */
function matchers(patterns: readonly string[], budget: Budget): readonly ((path: string) => boolean)[] {
  const problem = patternListProblem(patterns);
  if (problem !== undefined) {
    throw createError('ERR_PATTERN_INVALID', `The list of patterns ${problem}.`, {
      suggestions: ['Use fewer patterns, such as server/**.'],
    });
  }
  return patterns.map((pattern) => {
    const matches = matcher(pattern, budget);
    if (typeof matches !== 'string') return matches;
    throw createError('ERR_PATTERN_INVALID', `The pattern ${showPattern(pattern)} ${matches}.`);
  });
}

/** Limits the steps of matching, in total and for each path. */
class Budget {
  #left = maxSteps;
  #leftOfPath = maxStepsOfPath;

  readonly spend: Spend = (steps) => {
    this.#left -= steps;
    this.#leftOfPath -= steps;
    if (this.#left >= 0 && this.#leftOfPath >= 0) return;
    throw createError('ERR_PATTERN_INVALID', 'Matching the patterns against all files takes too long.', {
      suggestions: ['Use fewer and simpler patterns, such as server/**.'],
    });
  };

  beginPath(): void {
    this.#leftOfPath = maxStepsOfPath;
  }
}

/** A function that matches, or why the pattern is invalid. */
function matcher(pattern: string, {spend}: Budget): ((path: string) => boolean) | string {
  if (pattern.length > maxPatternLength) return `must have at most ${maxPatternLength} characters`;
  const glob = pattern.slice(countMarks(pattern));
  if (plainName.test(glob)) return (path) => path === glob;
  if (nestingOf(glob) > maxNesting) return `must not nest groups more than ${maxNesting} levels deep`;
  try {
    const automaton = new GlobAutomaton(glob);
    // In picomatch, a pattern always matches itself.
    return (path) => path === glob || automaton.matches(path, spend);
  } catch {
    return 'is not a glob pattern';
  }
}

/** The nesting depth of groups and braces, including those that are escaped or never closed. */
function nestingOf(pattern: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of pattern) {
    if (character === '(' || character === '{') depth += 1;
    else if (character === ')' || character === '}') depth = Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** The number of leading `!`, except one that starts an extglob. */
function countMarks(pattern: string): number {
  return pattern.search(/!\(|[^!]|$/);
}
