import {setImmediate as nextTurn} from 'node:timers/promises';
import {createContext, Script, type Context} from 'node:vm';
import picomatch from 'picomatch';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../text/json.js';
import {onWindows} from '../../text/platform.js';
import type {BundleFile, BundleFileCategory} from '../types.js';

interface CompiledPatterns {
  /** Whether any pattern matches `path` and no exclusion does. */
  matches(path: string): boolean;
  /** The patterns that, on their own, have matched no path so far. Never includes exclusions. */
  unmatched(): readonly string[];
}

/** A file that `markFiles` marks. */
export type MatchableFile = Pick<BundleFile, 'path'> & {-readonly [Key in 'ssrOnly' | 'ssrShared']: BundleFile[Key]};

/** The marks of a file that has not been matched yet. */
export const noMarks = {ssrOnly: false, ssrShared: false} as const;

const maxPatternLength = 1024;
/** How long matching all files may take, in milliseconds. 100,000 paths and 20 ignore rules take a tenth of it. */
const maxMatchingMs = 10_000;
/** Files matched between turns for everything else. */
const filesPerTurn = 1000;

/** The two lists of a configuration. */
export interface PatternLists {
  readonly ssrOnly: readonly string[];
  readonly ssrShared: readonly string[];
}

/**
 * picomatch's rules, except that no wildcard matches the dot of a dotfile; `!` excludes, wherever it is in the list. A
 * hostile pattern can match for ever: those of an archive are for `markFiles` and `countMatches`.
 */
export function compilePatterns(patterns: readonly string[]): CompiledPatterns {
  const compiled = matchers(patterns).map((matches, index) => {
    const pattern = patterns[index] ?? '';
    return {pattern, matches, excludes: isExclusion(pattern), hasMatched: false};
  });
  const included = compiled.filter(({excludes}) => !excludes);
  const excluded = compiled.filter(({excludes}) => excludes);
  return {
    matches(path) {
      let isIncluded = false;
      for (const one of included) {
        // A pattern that has not matched yet may be one that matches nothing.
        if ((isIncluded && one.hasMatched) || !one.matches(path)) continue;
        one.hasMatched = true;
        isIncluded = true;
      }
      return isIncluded && !excluded.some(({matches}) => matches(path));
    },
    unmatched: () => included.flatMap(({pattern, hasMatched}) => (hasMatched ? [] : [pattern])),
  };
}

/** How many of `paths` each pattern matches on its own, or excludes. Throws as `limitedMatching`. */
export async function countMatches(
  {ssrOnly, ssrShared}: PatternLists,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<{readonly ssrOnly: readonly number[]; readonly ssrShared: readonly number[]}> {
  const countersOf = (patterns: readonly string[]) => matchers(patterns).map((matches) => ({matches, files: 0}));
  const [only, shared] = [countersOf(ssrOnly), countersOf(ssrShared)];
  await limitedMatching()(
    paths,
    (path) => {
      for (const counter of [...only, ...shared]) if (counter.matches(path)) counter.files += 1;
    },
    signal,
  );
  return {ssrOnly: only.map(({files}) => files), ssrShared: shared.map(({files}) => files)};
}

/** Marks files. Returns the patterns that match none on their own, without exclusions. Throws as `limitedMatching`. */
export async function markFiles(
  files: readonly MatchableFile[],
  patterns: PatternLists,
  signal?: AbortSignal,
): Promise<PatternLists> {
  const ssrOnly = compilePatterns(patterns.ssrOnly);
  const ssrShared = compilePatterns(patterns.ssrShared);
  await limitedMatching()(
    files,
    (file) => {
      file.ssrOnly = ssrOnly.matches(file.path);
      file.ssrShared = ssrShared.matches(file.path);
    },
    signal,
  );
  return {ssrOnly: ssrOnly.unmatched(), ssrShared: ssrShared.unmatched()};
}

/** The category of a file. One that matches both ssrOnly and ssrShared is server-only. */
export function categoryOf({ssrOnly, ssrShared}: Pick<BundleFile, 'ssrOnly' | 'ssrShared'>): BundleFileCategory {
  if (ssrOnly) return 'ssrOnly';
  return ssrShared ? 'shared' : 'static';
}

/** The categories of files in words for users. "Static" would mislead: a bundle with `static` has only shared files. */
export const categoryWords: Readonly<Record<BundleFileCategory, string>> = {
  ssrOnly: 'server-only',
  shared: 'shared',
  static: 'other',
};

type MatchAll = <Item>(
  items: readonly Item[],
  match: (item: Item) => void,
  signal: AbortSignal | undefined,
) => Promise<void>;

let work = (): void => undefined;
/** Made once: that takes longer than matching the files of a small bundle. */
let context: Context | undefined;
const script = new Script('work()');

/** Calls `doing`, and ends it if it takes too long. */
function runLimited(doing: () => void, timeout: number): void {
  work = doing;
  context ??= createContext({work: () => work()});
  script.runInContext(context, {timeout});
}

/**
 * Calls `match` with each item, under a time limit: only V8 (`node:vm`) can stop a regular expression that backtracks.
 * Throws RuntimeCliError `ERR_PATTERN_INVALID` then, and `signal.reason` when aborted.
 */
export function limitedMatching(what = 'patterns', example = 'server/**'): MatchAll {
  let left = maxMatchingMs;
  return async (items, match, signal) => {
    signal?.throwIfAborted();
    for (let start = 0; start < items.length; start += filesPerTurn) {
      const some = items.slice(start, start + filesPerTurn);
      const started = performance.now();
      try {
        runLimited(() => some.forEach(match), Math.max(1, Math.ceil(left)));
      } catch (error) {
        // It is an Error of the other context.
        const isTimeout = isRecord(error) && error['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
        if (!isTimeout) throw error;
        // A signal that came meanwhile is heard between these two.
        await nextTurn();
        await nextTurn();
        signal?.throwIfAborted();
        throw createError('ERR_PATTERN_INVALID', `Matching the ${what} against all files takes too long.`, {
          suggestions: [`Use fewer and simpler ${what}, such as ${example}.`],
        });
      }
      left -= performance.now() - started;
      await nextTurn();
      signal?.throwIfAborted();
    }
  };
}

/** Whether a pattern excludes. Each further `!` negates it again, as in picomatch. */
export function isExclusion(pattern: string): boolean {
  return countMarks(pattern) % 2 === 1;
}

/** Why a pattern is invalid, if so. */
export function patternProblem(pattern: string): string | undefined {
  const matches = matcher(pattern);
  return typeof matches === 'string' ? matches : undefined;
}

/** A pattern for messages: quoted, and cut if it is long. */
export function showPattern(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}...` : pattern);
}

/** A backslash before a name, as in Windows paths, escapes. On Windows, where no name has what it escapes: an error. */
export function backslashWarnings(what: string, patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const right = pattern.replace(/\\+(?=[\p{L}\p{N}_.*?@$~])/gu, '/');
    if (right === pattern) return [];
    const message = `The ${what} ${showPattern(pattern)} has a backslash before a name.`;
    const advice = `Paths have / on every system: write ${showPattern(right)}.`;
    if (onWindows) throw createError('ERR_PATTERN_INVALID', message, {suggestions: [advice]});
    return [`${message} ${advice}`];
  });
}

/** @throws RuntimeCliError `ERR_PATTERN_INVALID` */
function matchers(patterns: readonly string[]): readonly ((path: string) => boolean)[] {
  return patterns.map((pattern) => {
    const matches = matcher(pattern);
    if (typeof matches !== 'string') return matches;
    throw createError('ERR_PATTERN_INVALID', `The pattern ${showPattern(pattern)} ${matches}.`);
  });
}

/** A function that matches, or why the pattern is invalid. */
function matcher(pattern: string): ((path: string) => boolean) | string {
  if (pattern.length > maxPatternLength) return `must have at most ${maxPatternLength} characters`;
  const glob = pattern.slice(countMarks(pattern));
  try {
    const expression = picomatch.makeRe(glob, {nonegate: true, windows: false});
    // In picomatch, a pattern always matches itself.
    return (path) => path === glob || (expression.test(path) && !takesDot(expression, path));
  } catch {
    return 'is not a glob pattern';
  }
}

/** Whether a wildcard matches the dot that a name begins with: another character in its place matches, too. */
function takesDot(expression: RegExp, path: string): boolean {
  for (const {index} of path.matchAll(/(?<=^|\/)\./g)) {
    if (expression.test(`${path.slice(0, index)}\uFFFF${path.slice(index + 1)}`)) return true;
  }
  return false;
}

/** The number of leading `!`, except one that starts an extglob. */
function countMarks(pattern: string): number {
  return pattern.search(/!\(|[^!]|$/);
}
