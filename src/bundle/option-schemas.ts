import * as v from 'valibot';
import {isRecord, jsonProblem} from '../errors/json.js';
import {hasControlCharacter} from './files/entry-names.js';
import type {BundleV2MatchMode} from './types.js';

// Option values that several places accept: the library, settings, manifests and the local runtime. Their schemas and
// defaults are stated here once.

/** An object with keys. valibot's own schema accepts arrays. */
export const objectSchema = v.custom<Readonly<Record<string, unknown>>>(isRecord, 'must be an object');

/** An object that JSON can represent. */
export const jsonObjectSchema = v.pipe(
  objectSchema,
  v.check(
    (value) => jsonProblem(value) === undefined,
    ({input}) => jsonProblem(input) ?? 'must be an object',
  ),
);

/**
 * A number in a range.
 * @param expected Ends the sentence "timeout must be ...".
 */
export function numberSchema(expected: string, accepts: (value: number) => boolean) {
  const message = `must be ${expected}`;
  return v.pipe(
    v.number(message),
    v.check((value) => Number.isFinite(value) && accepts(value), message),
  );
}

/** The problem with a slug, which becomes part of URLs and a prefix in archives. */
export function slugMessage(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  if (value === '.' || value === '..') return `must not be "${value}"`;
  if (/[/\\]/.test(value)) return `must not contain / or \\, unlike "${value}"`;
  if (hasControlCharacter(value)) return 'must not contain control characters';
  return undefined;
}

/** How the server treats patterns that match no file. */
export const matchModes = ['strict', 'ignore_missing'] as const satisfies readonly BundleV2MatchMode[];

/** One of the match modes. */
export const matchModeSchema = v.picklist(matchModes, `must be ${matchModes.join(' or ')}`);

/** The defaults of v2 options. */
export const v2Defaults = {
  rootDir: 'bld',
  configPath: '.runtime/config.json',
  matchMode: 'strict',
  compressionLevel: 6,
} as const;

/** A gzip level. */
export const compressionLevelSchema = numberSchema(
  'an integer from 0 to 9',
  (level) => Number.isInteger(level) && level >= 0 && level <= 9,
);

/** Packages by name. Validated as a map, because `v.record` silently drops some names, such as `constructor`. */
export const dependenciesSchema = v.pipe(
  objectSchema,
  v.transform((dependencies) => new Map(Object.entries(dependencies))),
  v.map(v.string(), v.string('must be a version range')),
  v.transform((dependencies): Record<string, string> => Object.fromEntries(dependencies)),
);

/** A problem with a field of a value: a sentence without its subject. */
export interface FieldProblem {
  /** `ssrOnly` or `bundleMetadata.dependencies.react`, for example; '' is the value itself. */
  readonly field: string;
  readonly message: string;
}

/** The problems that a validation found. */
export function fieldProblems(issues: readonly v.BaseIssue<unknown>[]): readonly FieldProblem[] {
  return issues.map((issue) => ({field: v.getDotPath(issue) ?? '', message: issue.message}));
}

/** `ssrOnly must be an array of glob patterns; ...` */
export function describeProblems(problems: readonly FieldProblem[]): string {
  return problems.map(({field, message}) => `${field || 'it'} ${message}`).join('; ');
}
