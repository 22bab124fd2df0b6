import * as v from 'valibot';
import {ipAddressesIn} from '../text/address-range.js';
import {characterCount, entryNameProblem, hasControlCharacter} from '../text/entry-names.js';
import {isPlainObject, isRecord, jsonProblem} from '../text/json.js';
import {didYouMean} from '../text/suggest.js';
import type {CheckOptions} from './types.js';

// The schemas of settings, of the library's options, and of what manifests and the local runtime share with them. A
// message completes a sentence that begins with the name of the value.

/** How secrets are given on the command line. */
export const secretDetails = 'Use @FILE to read it from a file, - for stdin.';

/** A schema by what it makes of a value. Generators of references can't read valibot's own types. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** Accepts what has no problem. `problem` says what is wrong, if anything. */
function sound<T>(problem: (value: T) => string | undefined) {
  return v.rawCheck<T>(({dataset, addIssue}) => {
    const message = dataset.typed ? problem(dataset.value) : undefined;
    if (message !== undefined) addIssue({message});
  });
}

/** Characters, as people count them. */
export function atMost(most: number) {
  const message = ({input}: {readonly input: string}) =>
    `must have at most ${most} characters, not ${characterCount(input)}`;
  return v.check((value: string) => characterCount(value) <= most, message);
}

const string = v.string('must be a string');

export const nonEmpty: Schema<string> = v.pipe(
  string,
  v.check((value) => value.trim() !== '', 'must not be empty'),
);

export const path: Schema<string> = v.pipe(
  string,
  v.check((value) => value !== '' && !value.includes('\0'), 'must be the path of a directory'),
);

export const toggle: Schema<boolean> = v.boolean('must be true or false');

/** An object with keys. valibot's own schema accepts arrays. */
export const objectSchema: Schema<Readonly<Record<string, unknown>>> = v.custom<Readonly<Record<string, unknown>>>(
  isRecord,
  'must be an object',
);

function knownKeys(known: readonly string[]): Schema<Readonly<Record<string, unknown>>> {
  return v.pipe(
    objectSchema,
    sound<Readonly<Record<string, unknown>>>((given) => {
      const key = Object.keys(given).find((name) => !known.includes(name));
      return key && `has an unknown key: ${key}${didYouMean(key, known)}`;
    }),
  );
}

/** An object of whose fields each is known, and optional. */
export function knownFields(
  fields: Readonly<Record<string, v.GenericSchema>>,
): Schema<Readonly<Record<string, unknown>>> {
  return v.pipe(knownKeys(Object.keys(fields)), v.partial(v.object(fields)));
}

export const jsonObjectSchema: Schema<Readonly<Record<string, unknown>>> = v.pipe(
  objectSchema,
  sound<Readonly<Record<string, unknown>>>(jsonProblem),
);

/** A number in a range. `expected` ends the sentence "timeout must be ...". */
export function number(expected: string, accepts: (value: number) => boolean): Schema<number> {
  const message = `must be ${expected}`;
  return v.pipe(
    v.number(message),
    v.check((value) => Number.isFinite(value) && accepts(value), message),
  );
}

function integer(least: number, most: number): Schema<number> {
  return number(
    `an integer from ${String(least)} to ${String(most)}`,
    (value) => Number.isInteger(value) && value >= least && value <= most,
  );
}

export const list: Schema<readonly string[]> = v.array(nonEmpty, 'must be an array of strings');

const notAddress = 'must be an IP address or a CIDR block, such as 203.0.113.0/24';

export const addresses: Schema<readonly string[]> = v.array(
  v.custom<string>((value) => typeof value === 'string' && ipAddressesIn(value) !== undefined, notAddress),
  'must be an array of strings',
);

export const someItems: Schema<readonly string[]> = v.pipe(list, v.minLength(1, 'must not be empty'));

/** The problem with a slug, which becomes part of URLs and a prefix in archives. */
export function slugMessage(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (value === '.' || value === '..') return `must not be "${value}"`;
  if (/[/\\]/.test(value)) return `must not contain / or \\: "${value}"`;
  if (hasControlCharacter(value)) return 'must not contain control characters';
  if (/\p{Surrogate}/u.test(value)) return 'must be valid Unicode';
  if (value.trim() !== value) return 'must not have spaces around it';
  return undefined;
}

export const slug: Schema<string> = v.pipe(string, sound(slugMessage));

export const maxTargetName = 64;

export const targetName: Schema<string> = v.pipe(nonEmpty, atMost(maxTargetName));

export const share = number('a number from 0 to 1', (value) => value >= 0 && value <= 1);

export const redirectSource: Schema<string> = v.pipe(
  string,
  v.regex(/^\/[^\s?#\p{Cc}]*$/u, 'must be a path that begins with /, without blanks, ? and #'),
);

const destinationMessage = 'must be a path that begins with /, or an http(s) URL';

export const redirectDestination: Schema<string> = v.pipe(
  string,
  v.regex(/^(?:\/(?![/\\])|https?:\/\/[^/])[^\s\p{Cc}]*$/iu, destinationMessage),
  v.check((value) => URL.canParse(value, 'http://site'), destinationMessage),
);

export const maxMessage = 2048;
/** Maximum length of rootDir and configPath, in characters. */
export const maxPath = 256;

export const bundleMessage: Schema<string> = v.pipe(nonEmpty, atMost(maxMessage));

export const entryPath: Schema<string> = v.pipe(string, sound(entryPathMessage));

function entryPathMessage(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (characterCount(value) > maxPath) return `must have at most ${String(maxPath)} characters`;
  if (value.startsWith('/') || /^\w+:/.test(value)) return `must be relative, not "${value}"`;
  const name = entryNameProblem(value);
  if (name !== undefined) return name;
  const parts = value.split('/');
  if (parts.includes('..')) return `must not contain "..": "${value}"`;
  if (parts.includes('.') || parts.includes('')) return `must not contain "." or empty segments: "${value}"`;
  if (/^mycli\.config\.\w+$/.test(parts.at(-1) ?? '')) return `must not be a file for --config: "${value}"`;
  return undefined;
}

export const matchModeSchema: Schema<'strict' | 'ignore_missing'> & {readonly options: readonly string[]} = v.picklist(
  ['strict', 'ignore_missing'],
  'must be strict or ignore_missing',
);

export const v2Defaults = {
  rootDir: 'bld',
  configPath: '.runtime/config.json',
  matchMode: 'strict',
  compressionLevel: 6,
} as const;

export const compressionLevel = integer(0, 9);

/**
 * An object whose keys users choose. Validated as a map, because `v.record` silently drops some of them: `constructor`,
 * `prototype` and `__proto__`. Code that sets `__proto__` makes an object that is not plain.
 */
export function keyed<T>(item: Schema<T>): Schema<Readonly<Record<string, T>>> {
  return v.pipe(
    objectSchema,
    sound<Readonly<Record<string, unknown>>>((given) => (isPlainObject(given) ? undefined : 'must be a plain object')),
    v.transform((given) => new Map(Object.entries(given))),
    v.map(v.string(), item),
    v.transform((items): Readonly<Record<string, T>> => Object.fromEntries(items)),
  );
}

export const dependenciesSchema = keyed(v.string('must be a version range'));

export const backendOptions = keyed(jsonObjectSchema);

export function statuses(status: Schema<number>): Schema<readonly number[]> {
  return v.array(status, 'must be an array of HTTP statuses');
}

/** The limit of timers in whole seconds, 24 days. A longer one would fire at once. */
export const longestTimeoutSeconds = 2_147_483;

export const requestSeconds = number(
  `a number of seconds above 0 and at most ${String(longestTimeoutSeconds)}`,
  (value) => value > 0 && value <= longestTimeoutSeconds,
);

export const pollSeconds = number('a number of seconds above 0', (value) => value > 0);

export const waitSeconds = number('a number of seconds, 0 or more', (value) => value >= 0);

export const defaultWait = {pollInterval: 5, timeout: 600} as const;

export const defaultListLimit = 25;

/** The defaults of a check of a deployment. The times are in seconds. */
export const checkDefaults = {retries: 5, interval: 2, timeout: 10} as const;

function checkUrlMessage(value: string): string | undefined {
  if (/^\/(?![/\\])/.test(value)) return hasControlCharacter(value) ? 'must not contain control characters' : undefined;
  const url = /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) return 'must be an http or https URL, or a path that begins with /';
  return url.username === '' && url.password === '' ? undefined : 'must not contain credentials';
}

/** The problem with headers. Without the value, which may be a secret. */
function headersMessage(headers: Readonly<Record<string, string>>): string | undefined {
  const isValid = ([name, value]: readonly [string, string]) =>
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t -~\u0080-\u00FF]+$/.test(value);
  const invalid = Object.entries(headers).find((entry) => !isValid(entry));
  return invalid && `has an invalid name or value of the header ${JSON.stringify(invalid[0])}`;
}

export const headers: Schema<Readonly<Record<string, string>>> = v.pipe(keyed(nonEmpty), sound(headersMessage));

/** Longer than any phrase on a page. While a body is searched, this much of it is kept. */
const longestCheckText = 1000;

/** The fields of a check. `url`: an http(s) URL, or a path below the URL of the target. */
export const checkFields: {readonly [K in keyof CheckOptions]-?: Schema<NonNullable<CheckOptions[K]>>} = {
  url: v.pipe(string, sound(checkUrlMessage)),
  status: statuses(
    number('an HTTP status from 200 to 599', (value) => Number.isInteger(value) && value >= 200 && value <= 599),
  ),
  text: v.pipe(
    string,
    v.minLength(1, 'must not be empty'),
    v.maxLength(longestCheckText, `must have at most ${String(longestCheckText)} characters`),
  ),
  headers,
  user: v.pipe(
    nonEmpty,
    v.check((value) => !value.includes(':'), 'must not contain a colon'),
  ),
  password: nonEmpty,
  retries: integer(0, 1000),
  interval: number('a number of seconds from 0 to 3600', (value) => value >= 0 && value <= 3600),
  timeout: number('a number of seconds above 0 and at most 3600', (value) => value > 0 && value <= 3600),
};

export const checkSchema: Schema<CheckOptions> = v.pipe(
  knownKeys(Object.keys(checkFields)),
  v.object({...v.partial(v.object(checkFields)).entries, url: checkFields.url}),
);

/** Named here, so that the declarations of the rows can name it. */
export type Checks = readonly CheckOptions[];

/** Checks of a deployment: one or a list of them, each where to look, or that with how to judge what is there. */
export const checks: Schema<Checks> = v.pipe(
  v.unknown(),
  v.transform((value) => [value].flat()),
  v.array(
    v.pipe(
      v.unknown(),
      v.transform((item) => (typeof item === 'string' ? {url: item} : item)),
      checkSchema,
      v.check(({password}) => password === undefined, 'must not contain a password. Set MYCLI_CHECK_PASSWORD instead'),
    ),
  ),
);

/** A problem with a field of a value: a sentence without its subject. */
export interface FieldProblem {
  /** `ssrOnly` or `bundleMetadata.dependencies.react`, for example; '' is the value itself. */
  readonly field: string;
  readonly message: string;
}

export function fieldProblems(issues: readonly v.BaseIssue<unknown>[]): readonly FieldProblem[] {
  return issues.map((issue) => ({field: v.getDotPath(issue) ?? '', message: issue.message}));
}

/** `ssrOnly must be an array of glob patterns; ...` */
export function describeProblems(problems: readonly FieldProblem[]): string {
  return problems.map(({field, message}) => `${field || 'it'} ${message}`).join('; ');
}
