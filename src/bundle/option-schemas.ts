import * as v from 'valibot';
import {isRecord, jsonProblem} from '../errors/json.js';
import {nearest} from '../errors/suggest.js';
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

/** The defaults of a check of a deployment. The times are in seconds. */
export const checkDefaults = {retries: 5, interval: 2, timeout: 10} as const;

/** Where a check looks: an http(s) URL, or a path below the URL of the target. */
const checkUrlSchema = v.pipe(
  v.string('must be a string'),
  v.rawCheck(({dataset, addIssue}) => {
    const message = dataset.typed ? checkUrlMessage(dataset.value) : undefined;
    if (message !== undefined) addIssue({message});
  }),
);

function checkUrlMessage(value: string): string | undefined {
  if (/^\/(?![/\\])/.test(value)) return hasControlCharacter(value) ? 'must not contain control characters' : undefined;
  const url = /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) return 'must be an http or https URL, or a path that begins with /';
  return url.username === '' && url.password === '' ? undefined : 'must not contain credentials';
}

/** Longer than any phrase on a page. While a body is searched, this much of it is kept. */
const longestCheckText = 1000;

/** The fields of a check. */
export const checkFields = {
  url: checkUrlSchema,
  status: v.array(
    numberSchema('an HTTP status from 200 to 599', (value) => Number.isInteger(value) && value >= 200 && value <= 599),
    'must be an array of HTTP statuses',
  ),
  text: v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(longestCheckText, `must have at most ${String(longestCheckText)} characters`),
  ),
  retries: numberSchema('an integer from 0 to 1000', (value) => Number.isInteger(value) && value >= 0 && value <= 1000),
  interval: numberSchema('a number of seconds from 0 to 3600', (value) => value >= 0 && value <= 3600),
  timeout: numberSchema('a number of seconds above 0 and at most 3600', (value) => value > 0 && value <= 3600),
} as const;

/** A check of a deployment. */
export const checkSchema = v.pipe(
  objectSchema,
  v.rawCheck(({dataset, addIssue}) => {
    if (!dataset.typed) return;
    const known = Object.keys(checkFields);
    const key = Object.keys(dataset.value).find((name) => !known.includes(name));
    if (key === undefined) return;
    const meant = nearest(key, known);
    addIssue({message: `has an unknown key: ${key}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`});
  }),
  v.object({
    url: checkFields.url,
    status: v.optional(checkFields.status),
    text: v.optional(checkFields.text),
    retries: v.optional(checkFields.retries),
    interval: v.optional(checkFields.interval),
    timeout: v.optional(checkFields.timeout),
  }),
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
