import {join} from 'node:path';
import ignore from 'ignore';
import {createError} from '../../errors/index.js';
import {systemCode, unreadable} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {limitedMatching, showPattern} from './patterns.js';

/** Something in the build folder, and the rule that excludes it. */
export interface FoundPath {
  readonly path: string;
  readonly isFolder: boolean;
  rule?: string | undefined;
}

/** Decides what to exclude from a bundle. */
export interface IgnoreRules {
  readonly patterns: readonly string[];
  /** Marks each path with the rule that excludes it. Throws as `limitedMatching`. */
  mark(paths: readonly FoundPath[], signal?: AbortSignal): Promise<void>;
}

/** Each further `**` multiplies the time that a rule takes, and so does its length. */
const maxGlobstars = 5;
const maxRuleLength = 1000;
const ignoreFile = '.bundleignore';

/** Reads each `.bundleignore`, and adds `patterns`: gitignore syntax, case-sensitive, the last match wins. */
export async function readIgnoreRules(
  directories: readonly string[],
  patterns: readonly string[],
): Promise<IgnoreRules> {
  const files = [...new Set(directories)].map((directory) => join(directory, ignoreFile));
  const texts = await Promise.all(files.map(readRules));
  const rules = [
    ...texts.flatMap((text, index) => rulesOf(text, files[index])),
    ...patterns.map((rule) => verified(rule)),
  ];
  // The library caches every path that it checks.
  if (rules.length === 0) return {patterns: [], mark: () => Promise.resolve()};
  // A file system may keep a name decomposed that an editor writes composed, or the other way round.
  const matcher = ignore({ignorecase: false}).add(rules.map((rule) => rule.normalize()));
  const mark = (found: FoundPath) => {
    const path = found.path.normalize();
    found.rule = matcher.test(found.isFolder ? `${path}/` : path).rule?.pattern;
  };
  const matchAll = limitedMatching('ignore rules', '*.map');
  return {patterns: rules, mark: (paths, signal) => matchAll(paths, mark, signal)};
}

/** Warnings about rules that begin with the build folder (`folder`, in the project), as those of git do. */
export function misplacedRules(
  patterns: readonly string[],
  folder: string,
  paths: readonly string[],
): readonly string[] {
  const prefix = `${folder}/`;
  if (folder === '' || paths.some((path) => path.startsWith(prefix))) return [];
  return patterns
    .filter((pattern) => pattern.replace(/^!?\/?/, '').startsWith(prefix))
    .map((pattern) => {
      const right = pattern.replace(prefix, '');
      return `The ignore rule ${showPattern(pattern)} matches nothing: rules are relative to the build folder. Write ${showPattern(right)}.`;
    });
}

/** The lines that are neither empty nor comments. */
function rulesOf(text: string, file = ''): readonly string[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.trim() === '' || line.startsWith('#') ? [] : [verified(line, `in ${file}, line ${String(index + 1)}, `)],
    );
}

/** @throws RuntimeCliError `ERR_PATTERN_INVALID` */
function verified(rule: string, where = ''): string {
  const stars = rule.match(/\*{2,}/g) ?? [];
  if (rule.length <= maxRuleLength && stars.length <= maxGlobstars) return rule;
  const message = `The ignore rule ${showPattern(rule)} ${where}has more than ${maxGlobstars} ** or ${maxRuleLength} characters.`;
  throw createError('ERR_PATTERN_INVALID', message, {suggestions: ['Use several simpler rules, such as *.map.']});
}

async function readRules(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return '';
    throw unreadable(path, error);
  }
}
