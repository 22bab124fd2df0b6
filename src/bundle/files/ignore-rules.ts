import {join} from 'node:path';
import ignore from 'ignore';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';

/** Decides what to exclude from a bundle. */
export interface IgnoreRules {
  /** The rule that excludes a path relative to the build directory. Paths of directories end with `/`. */
  ruleFor(path: string): string | undefined;
}

/** Name of the file with ignore rules, in gitignore syntax. */
const ignoreFile = '.bundleignore';

/**
 * Reads the `.bundleignore` of each of `directories` (the project's, then the build's), and adds `patterns`. All rules
 * use gitignore syntax, are case-sensitive and apply to paths relative to the build directory. The last match wins.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` for a file that cannot be read.
 */
export async function readIgnoreRules(
  directories: readonly string[],
  patterns: readonly string[],
): Promise<IgnoreRules> {
  const files = [...new Set(directories)].map((directory) => join(directory, ignoreFile));
  const rules = [...(await Promise.all(files.map(readRules))).flatMap(rulesOf), ...patterns];
  // The library caches every path that it checks.
  if (rules.length === 0) return {ruleFor: () => undefined};
  const matcher = ignore({ignorecase: false}).add(rules);
  return {ruleFor: (path) => matcher.test(path).rule?.pattern};
}

/** The lines that are neither empty nor comments. */
function rulesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

async function readRules(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return '';
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reasonOf(error)}`), {cause: error});
  }
}
