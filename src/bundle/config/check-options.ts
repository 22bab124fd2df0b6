import * as v from 'valibot';
import {createError, nearest, type RuntimeCliError} from '../../errors/index.js';
import {characterCount, entryNameProblem} from '../files/entry-names.js';
import {
  compressionLevelSchema,
  fieldProblems,
  matchModes,
  matchModeSchema,
  slugMessage,
  v2Defaults,
} from '../option-schemas.js';
import type {BundleFormat, BundleV2MatchMode, BundleV2Metadata} from '../types.js';
import {contentSchema} from './content-schema.js';
import {asSentence} from '../../errors/sentence.js';

/** What goes into a bundle, and its description. */
export interface BundleContentOptions {
  /** Path of the directory with the application's build output. @default 'build' */
  readonly buildDirectory?: string | undefined;
  /** Directory from which `config.server.ts`, `.js` or `.mjs` is read. @default the working directory */
  readonly projectDirectory?: string | undefined;
  /** Describes the bundle, at most 2,048 characters. @default `<branch>: <commit>` from git, else `Bundle <time>` */
  readonly message?: string | undefined;
  /**
   * Names the commit in a given message, too: `Release 5 [main: 1a2b3c4]`. Guards of later deployments need it.
   * @default whether `guard` needs it
   */
  readonly recordCommit?: boolean | undefined;
  /**
   * Glob patterns of files that only run on the server, written to a v2 bundle verbatim. Must not be empty.
   * @default `ssr.js`, `ssr.mjs` and everything in `server`, if the build has them
   */
  readonly ssrOnly?: readonly string[] | undefined;
  /**
   * Glob patterns of files shared between server and client, written to a v2 bundle verbatim.
   * @default everything in `static` and `client`, if the build has them
   */
  readonly ssrShared?: readonly string[] | undefined;
  /**
   * Bundles a static site: no file is server-only and every file is shared, whatever configuration files say.
   * `matchMode` defaults to `ignore_missing`. @default false
   */
  readonly static?: boolean | undefined;
  /** Merged over the defaults and over configuration files. */
  readonly ssrParameters?: Readonly<Record<string, unknown>> | undefined;
  /** Metadata for the bundle's configuration. v1 only supports `dependencies`. */
  readonly bundleMetadata?: BundleV2Metadata | undefined;
  /** v2 only. Path prefix of the archive's entries, at most 256 characters. @default 'bld' */
  readonly rootDir?: string | undefined;
  /**
   * v2 only. Path of the configuration, relative to `rootDir`, at most 256 characters. @default '.runtime/config.json'
   */
  readonly configPath?: string | undefined;
  /** v2 only. How the server treats patterns that match no file. @default 'strict' */
  readonly matchMode?: BundleV2MatchMode | undefined;
  /** Patterns of files to exclude, in gitignore syntax, in addition to `.bundleignore`. */
  readonly ignore?: readonly string[] | undefined;
  /**
   * Includes files whose names suggest secrets (`.env*`, `.npmrc`, private keys) even if they are not server-only.
   * @default false: such files are an error
   */
  readonly allowSensitiveFiles?: boolean | undefined;
  /** v2 only. gzip level, 0 to 9. @default 6 */
  readonly compressionLevel?: number | undefined;
}

/** Everything that planning a bundle needs. */
export interface BundlePlanOptions extends BundleContentOptions {
  readonly format: BundleFormat;
  /** Absolute base directory for relative paths. */
  readonly cwd: string;
  /** Provides `SOURCE_DATE_EPOCH`, and the environment of git. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The clock, for the default message. */
  readonly now: () => Date;
  /** Names the entries of a v1 archive. Required for v1. */
  readonly projectSlug?: string | undefined;
  /** Cancels the work, which rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/** A problem with an option. */
export interface OptionProblem {
  /** Name of the option. */
  readonly option: string;
  /** One sentence without the option's name: `must not be empty`. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestion?: string | undefined;
}

/** The problem with a slug, if any. Slugs become parts of URLs and prefixes in archives. */
export function checkSlug(option: string, value: string): OptionProblem | undefined {
  const message = slugMessage(value);
  return message === undefined ? undefined : {option, message};
}

/** Maximum length of a message, in characters. */
export const maxMessage = 2048;
/** Maximum length of rootDir and configPath, in characters. */
export const maxPath = 256;
/** The latest time that the library can write to a tar header. */
const maxEpoch = 2 ** 31 - 1;

/** All problems with the options for a bundle. Only checks the options themselves. */
export function checkBundleOptions(options: BundlePlanOptions): readonly OptionProblem[] {
  return [
    ...formatProblems(options.format),
    ...slugProblems(options),
    ...pathProblems('buildDirectory', options.buildDirectory),
    ...pathProblems('projectDirectory', options.projectDirectory),
    ...messageProblems(options.message),
    ...contentProblems(options),
    ...staticProblems(options),
    ...entryPathProblems('rootDir', options.rootDir, v2Defaults.rootDir),
    ...entryPathProblems('configPath', options.configPath, v2Defaults.configPath),
    ...matchModeProblems(options.matchMode),
    ...ignoreProblems(options.ignore),
    ...levelProblems(options.compressionLevel),
    ...switchProblems('recordCommit', options.recordCommit),
    ...switchProblems('allowSensitiveFiles', options.allowSensitiveFiles),
    ...epochProblems(options.env['SOURCE_DATE_EPOCH']),
  ];
}

/**
 * The error for invalid options, with all problems in one sentence: `ERR_PATTERN_INVALID` if only patterns are invalid,
 * else `ERR_OPTION_INVALID`.
 */
export function optionProblemsError(problems: readonly OptionProblem[]): RuntimeCliError {
  const onlyPatterns = problems.every(({option}) => /^ssr(?:Only|Shared)\b/.test(option));
  return createError(
    onlyPatterns ? 'ERR_PATTERN_INVALID' : 'ERR_OPTION_INVALID',
    asSentence(problems.map(({option, message}) => `${option} ${message}`).join('; ')),
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
        message: 'is required for a v1 bundle, whose entries are named after it',
        suggestion: 'Pass --project <slug>.',
      },
    ];
  }
  const problem = checkSlug(option, projectSlug);
  if (problem) return [problem];
  // The archive library strips such a prefix as a drive.
  if (format === 'v1' && /^\w+:/.test(projectSlug)) {
    return [{option, message: `must not start with a drive such as "c:" in a v1 bundle, unlike "${projectSlug}"`}];
  }
  return [];
}

function pathProblems(option: string, value: unknown): readonly OptionProblem[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return [{option, message: 'must be a string'}];
  return value === '' || value.includes('\0') ? [{option, message: 'must be the path of a directory'}] : [];
}

/** The problems with a message. */
export function messageProblems(message: unknown): readonly OptionProblem[] {
  const option = 'message';
  if (message === undefined) return [];
  if (typeof message !== 'string') return [{option, message: 'must be a string'}];
  const length = characterCount(message);
  if (length <= maxMessage) return [];
  return [
    {
      option,
      message: `must have at most ${String(maxMessage)} characters, not ${String(length)}`,
      suggestion: 'Shorten the message.',
    },
  ];
}

function contentProblems({ssrOnly, ssrShared, ssrParameters, bundleMetadata}: BundlePlanOptions): OptionProblem[] {
  const {issues = []} = v.safeParse(contentSchema, {ssrOnly, ssrShared, ssrParameters, bundleMetadata});
  return fieldProblems(issues).map(({field, message}) => ({option: field, message}));
}

function staticProblems(options: BundlePlanOptions): readonly OptionProblem[] {
  const problems = switchProblems('static', options.static);
  if (options.static !== true) return problems;
  const given = (['ssrOnly', 'ssrShared'] as const).filter((option) => options[option] !== undefined);
  return given.map((option) => ({
    option: 'static',
    message: `cannot be combined with ${option}, because it shares every file`,
    suggestion: `Remove ${option} or static.`,
  }));
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
  if (parts.includes('..')) return `must not contain "..", unlike "${value}"`;
  if (parts.includes('.') || parts.includes('')) return `must not contain "." or empty segments, unlike "${value}"`;
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
      suggestion: 'Correct or unset SOURCE_DATE_EPOCH.',
    },
  ];
}
