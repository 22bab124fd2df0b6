import * as v from 'valibot';
import {createError, nearest, type RuntimeCliError} from '../../errors/index.js';
import {contentSchema} from './content-schema.js';
import {characterCount, entryNameProblem} from '../files/entry-names.js';
import {compressionLevelSchema, fieldProblems, matchModes, matchModeSchema} from '../option-schemas.js';
import type {BundlePlanOptions} from './plan-options.js';
import {checkSlug, type OptionProblem} from './slug.js';

/** Characters of a message at most. */
const maxMessage = 2048;
/** Characters of rootDir and configPath at most. */
const maxPath = 256;
/** The last second that a tar header of the library holds. */
const maxEpoch = 2 ** 31 - 1;

/** Everything that is wrong with the options for a bundle. Looks at nothing but the options. */
export function checkBundleOptions(options: BundlePlanOptions): readonly OptionProblem[] {
  return [
    ...formatProblems(options.format),
    ...slugProblems(options),
    ...pathProblems('buildDirectory', options.buildDirectory),
    ...pathProblems('projectDirectory', options.projectDirectory),
    ...messageProblems(options.message),
    ...contentProblems(options),
    ...entryPathProblems('rootDir', options.rootDir, 'bld'),
    ...entryPathProblems('configPath', options.configPath, '.runtime/config.json'),
    ...matchModeProblems(options.matchMode),
    ...ignoreProblems(options.ignore),
    ...levelProblems(options.compressionLevel),
    ...switchProblems('allowSensitiveFiles', options.allowSensitiveFiles),
    ...epochProblems(options.env['SOURCE_DATE_EPOCH']),
  ];
}

/**
 * The error for options that cannot be used, all of them in one sentence: `ERR_PATTERN_INVALID` when only patterns are
 * wrong, else `ERR_OPTION_INVALID`.
 */
export function optionProblemsError(problems: readonly OptionProblem[]): RuntimeCliError {
  const onlyPatterns = problems.every(({option}) => /^ssr(?:Only|Shared)\b/.test(option));
  return createError(
    onlyPatterns ? 'ERR_PATTERN_INVALID' : 'ERR_OPTION_INVALID',
    problems.map(({option, message}) => `${option} ${message}`).join('; '),
    {
      suggestions: problems.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
      details: {problems},
    },
  );
}

function formatProblems(format: string): readonly OptionProblem[] {
  if (format === 'v1' || format === 'v2') return [];
  return [{option: 'format', message: `must be v1 or v2, not ${JSON.stringify(format)}`}];
}

function slugProblems({format, projectSlug}: BundlePlanOptions): readonly OptionProblem[] {
  const option = 'projectSlug';
  if (projectSlug === undefined) {
    if (format === 'v2') return [];
    return [
      {
        option,
        message: 'is needed for a v1 bundle: its entries are named after it',
        suggestion: 'Pass --project <slug>.',
      },
    ];
  }
  const problem = checkSlug(option, projectSlug);
  if (problem) return [problem];
  // The archive library takes such a beginning for a drive and cuts it off.
  if (format === 'v1' && /^\w+:/.test(projectSlug)) {
    return [{option, message: `must not begin like a drive in a v1 bundle, as "${projectSlug}" does`}];
  }
  return [];
}

function pathProblems(option: string, value: unknown): readonly OptionProblem[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return [{option, message: 'must be a string'}];
  return value === '' || value.includes('\0') ? [{option, message: 'must be the path of a directory'}] : [];
}

/** What is wrong with a message. */
export function messageProblems(message: unknown): readonly OptionProblem[] {
  const option = 'message';
  if (message === undefined) return [];
  if (typeof message !== 'string') return [{option, message: 'must be a string'}];
  const length = characterCount(message);
  if (length <= maxMessage) return [];
  return [
    {
      option,
      message: `has ${String(length)} characters; ${String(maxMessage)} are allowed`,
      suggestion: 'Shorten the message.',
    },
  ];
}

function contentProblems({ssrOnly, ssrShared, ssrParameters, bundleMetadata}: BundlePlanOptions): OptionProblem[] {
  const {issues = []} = v.safeParse(contentSchema, {ssrOnly, ssrShared, ssrParameters, bundleMetadata});
  return fieldProblems(issues).map(({field, message}) => ({option: field, message}));
}

function entryPathProblems(option: string, value: unknown, example: string): readonly OptionProblem[] {
  if (value === undefined) return [];
  const message = typeof value === 'string' ? entryPathMessage(value) : 'must be a string';
  if (message === undefined) return [];
  return [{option, message, suggestion: `Set ${option} to a relative path such as ${example}.`}];
}

function entryPathMessage(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (characterCount(value) > maxPath) return `must have at most ${String(maxPath)} characters`;
  if (value.startsWith('/') || /^\w+:/.test(value)) return `must be relative, unlike "${value}"`;
  const name = entryNameProblem(value);
  if (name !== undefined) return name;
  const parts = value.split('/');
  if (parts.includes('..')) return `must not contain .., as "${value}" does`;
  if (parts.includes('.') || parts.includes(''))
    return `must be written without "." and empty parts, unlike "${value}"`;
  return undefined;
}

function matchModeProblems(mode: unknown): readonly OptionProblem[] {
  if (mode === undefined || v.is(matchModeSchema, mode)) return [];
  const guess = typeof mode === 'string' ? nearest(mode, matchModes) : undefined;
  return [
    {
      option: 'matchMode',
      message: `must be ${matchModes.join(' or ')}, not ${JSON.stringify(mode)}`,
      suggestion: guess === undefined ? undefined : `Did you mean ${guess}?`,
    },
  ];
}

function ignoreProblems(ignore: unknown): readonly OptionProblem[] {
  const isList = Array.isArray(ignore) && ignore.every((pattern) => typeof pattern === 'string');
  return ignore === undefined || isList ? [] : [{option: 'ignore', message: 'must be an array of patterns'}];
}

function levelProblems(level: unknown): readonly OptionProblem[] {
  if (level === undefined) return [];
  const {issues = []} = v.safeParse(compressionLevelSchema, level);
  return issues.map(({message}) => ({option: 'compressionLevel', message}));
}

function switchProblems(option: string, value: unknown): readonly OptionProblem[] {
  return value === undefined || typeof value === 'boolean' ? [] : [{option, message: 'must be true or false'}];
}

function epochProblems(epoch: string | undefined): readonly OptionProblem[] {
  if (epoch === undefined || epoch === '' || (/^\d+$/.test(epoch) && Number(epoch) <= maxEpoch)) return [];
  return [
    {
      option: 'SOURCE_DATE_EPOCH',
      message: `must be a number of seconds since 1970, not "${epoch}"`,
      suggestion: 'Correct or unset the environment variable SOURCE_DATE_EPOCH.',
    },
  ];
}
