import {join} from 'node:path';
import ignore from 'ignore';
import {createError} from '../../errors/index.js';
import {readTextFile} from '../../modules/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';

/** Name of the file with rules, in the syntax of gitignore. */
const ignoreFile = '.bundleignore';

/** Decides what is left out of a bundle. */
export interface IgnoreRules {
  /** The rule that leaves out a path, relative to the build directory; a directory's ends with `/`. */
  ruleFor(path: string): string | undefined;
}

/**
 * Reads the `.bundleignore` of each of `directories` (the project's, then the build's), and adds `patterns`. All rules
 * are in the syntax of gitignore, count case, and are about paths relative to the build directory; the last one wins.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` for a file that cannot be read.
 */
export async function readIgnoreRules(
  directories: readonly string[],
  patterns: readonly string[],
): Promise<IgnoreRules> {
  const rules = ignore({ignorecase: false});
  const texts = await Promise.all([...new Set(directories)].map((directory) => readRules(join(directory, ignoreFile))));
  // The library remembers each path that it is asked about.
  if ([...texts, ...patterns].every((text) => text === '')) return {ruleFor: () => undefined};
  for (const text of texts) rules.add(text);
  rules.add(patterns);
  return {ruleFor: (path) => rules.test(path).rule?.pattern};
}

async function readRules(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return '';
    throw createError('ERR_CONFIG_INVALID', `${path} cannot be read: ${reasonOf(error)}`, {cause: error});
  }
}
