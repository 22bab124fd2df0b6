import * as v from 'valibot';
import {isRecord, jsonProblem} from '../errors/json.js';
import {hasControlCharacter} from './files/entry-names.js';
import type {BundleV2MatchMode} from './types.js';

// The values of options that other places take too: the settings of the command line, manifests, the local runtime.
// What may be given is stated here, once.

/** An object with keys. valibot alone takes an array for one. */
export const objectSchema = v.custom<Readonly<Record<string, unknown>>>(isRecord, 'must be an object');

/** An object that JSON can carry. */
export const jsonObjectSchema = v.pipe(
  objectSchema,
  v.check(
    (value) => jsonProblem(value) === undefined,
    ({input}) => jsonProblem(input) ?? 'must be an object',
  ),
);

/**
 * Numbers in a range.
 * @param expected Ends the sentence "timeout must be ...".
 */
export function numberSchema(expected: string, accepts: (value: number) => boolean) {
  const message = `must be ${expected}`;
  return v.pipe(
    v.number(message),
    v.check((value) => Number.isFinite(value) && accepts(value), message),
  );
}

/** What is wrong with a slug, which becomes part of URLs and a prefix in archives. */
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

/** What v2 options are if they are not given. */
export const v2Defaults = {
  rootDir: 'bld',
  configPath: '.runtime/config.json',
  matchMode: 'strict',
  compressionLevel: 6,
} as const;

/** An effort of gzip. */
export const compressionLevelSchema = numberSchema(
  'an integer from 0 to 9',
  (level) => Number.isInteger(level) && level >= 0 && level <= 9,
);

/** Packages by name. A map on the way: `v.record` silently leaves out some names, such as `constructor`. */
export const dependenciesSchema = v.pipe(
  objectSchema,
  v.transform((dependencies) => new Map(Object.entries(dependencies))),
  v.map(v.string(), v.string('must be a version range')),
  v.transform((dependencies): Record<string, string> => Object.fromEntries(dependencies)),
);

/** What is wrong with a value, one sentence without a subject for each field that is. */
export interface FieldProblem {
  /** Such as `ssrOnly`, or `bundleMetadata.dependencies.react`; '' is the value itself. */
  readonly field: string;
  readonly message: string;
}

/** The fields of a failed validation. */
export function fieldProblems(issues: readonly v.BaseIssue<unknown>[]): readonly FieldProblem[] {
  return issues.map((issue) => ({field: v.getDotPath(issue) ?? '', message: issue.message}));
}

/** `ssrOnly must be an array of glob patterns; ...` */
export function describeProblems(problems: readonly FieldProblem[]): string {
  return problems.map(({field, message}) => `${field || 'it'} ${message}`).join('; ');
}
