import {join} from 'node:path';
import ignore from 'ignore';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {showPattern} from './patterns.js';

/** Decides what to exclude from a bundle. */
export interface IgnoreRules {
  /** The rule that excludes a path relative to the build directory. Paths of directories end with `/`. */
  ruleFor(path: string): string | undefined;
}

/** Name of the file with ignore rules, in gitignore syntax. */
const ignoreFile = '.bundleignore';

/**
 * Far more than anyone writes by hand. Each path is checked against each rule, at a cost that grows with the depth of
 * the path to the power of the number of `**` in the rule.
 */
const most = {bytes: 1024 * 1024, rules: 1000, characters: 1024, globstars: 2} as const;

/**
 * Reads the `.bundleignore` of each of `directories` (the project's, then the build's), and adds `patterns`. All rules
 * use gitignore syntax, are case-sensitive and apply to paths relative to the build directory. The last match wins.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` for a file that cannot be read, `ERR_PATTERN_INVALID` for rules that
 * would take too long.
 */
export async function readIgnoreRules(
  directories: readonly string[],
  patterns: readonly string[],
): Promise<IgnoreRules> {
  const files = [...new Set(directories)].map((directory) => join(directory, ignoreFile));
  const lists = [
    ...(await Promise.all(files.map(async (file) => ({from: file, rules: rulesOf(await readRules(file))})))),
    {from: '--ignore', rules: patterns},
  ];
  for (const {from, rules} of lists) for (const rule of rules) verifyRule(rule, from);
  const rules = lists.flatMap((list) => list.rules);
  if (rules.length > most.rules) {
    throw createError('ERR_PATTERN_INVALID', `There are ${rules.length} ignore rules, more than ${most.rules}.`, {
      suggestions: ['Ignore whole folders, or build into a folder of its own.'],
    });
  }
  // The library caches every path that it checks.
  if (rules.length === 0) return {ruleFor: () => undefined};
  const matcher = ignore({ignorecase: false}).add(rules);
  return {ruleFor: (path) => matcher.test(path).rule?.pattern};
}

/** The lines that are neither empty nor comments. */
function rulesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** @throws RuntimeCliError `ERR_PATTERN_INVALID` */
function verifyRule(rule: string, from: string): void {
  // A `**` at the end costs nothing.
  const globstars = rule.replace(/\/\*{2,}\/?$/, '').match(/\*{2,}/g)?.length ?? 0;
  const problem =
    rule.length > most.characters
      ? `has more than ${most.characters} characters`
      : globstars > most.globstars && `contains ** more than ${most.globstars} times`;
  if (problem === false) return;
  throw createError('ERR_PATTERN_INVALID', `The ignore rule ${showPattern(rule)} of ${from} ${problem}.`, {
    suggestions: ['Use a simpler rule, such as server/**.'],
  });
}

async function readRules(path: string): Promise<string> {
  try {
    return await readTextFile(path, most.bytes);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return '';
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reasonOf(error)}`), {cause: error});
  }
}
