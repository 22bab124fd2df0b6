import {createError} from '../../errors/index.js';
import {showPath} from './entry-names.js';
import {compilePatterns, unmatchedPatterns} from './patterns.js';
import type {Scan} from './scan.js';
import {defaultPatterns, defaultSource, type ResolvedSettings} from '../config/settings.js';

/**
 * Verifies that the bundle has its server-only files. A rule that takes away all that an ssrOnly pattern matches (for a
 * pattern that is a plain path: the file) hits an entry point; files of a pattern that others of it survive do not count.
 * @throws RuntimeCliError `ERR_IGNORED_ENTRY`; `ERR_SSR_ENTRY_MISSING` when no default of ssrOnly matches.
 */
export function verifyEntryPoints({config, sources}: ResolvedSettings, {files, ignored}: Scan): void {
  const isDefault = sources.some(({setting, from}) => setting === 'ssrOnly' && from === defaultSource);
  const expected = isDefault ? defaultPatterns.ssrOnly : config.ssrOnly;
  const missing = unmatchedPatterns(
    expected,
    files.map(({path}) => path),
  );
  for (const pattern of missing) {
    const {matches} = compilePatterns([pattern]);
    const hit = ignored.find(({path}) => matches(path));
    if (hit) throw ignoredError(hit, pattern);
  }
  if (isDefault && config.ssrOnly.length === 0) throw missingError();
}

function ignoredError({path, rule}: {readonly path: string; readonly rule: string}, pattern: string): Error {
  return createError(
    'ERR_IGNORED_ENTRY',
    `the ignore rule "${rule}" leaves out ${showPath(path)}, and with it all that the ssrOnly pattern "${pattern}" matches`,
    {
      suggestions: [
        'Correct the rule (--ignore, .bundleignore), or name other server-only files with --ssr-only GLOB.',
      ],
      details: {path, rule, pattern},
    },
  );
}

function missingError(): Error {
  return createError(
    'ERR_SSR_ENTRY_MISSING',
    `the build has no server-only file: looked for ${defaultPatterns.ssrOnly.join(', ')}`,
    {
      suggestions: [
        'Name the server-only files with --ssr-only GLOB.',
        'Check that --build-directory is the right one.',
      ],
    },
  );
}
