import {resolve} from 'node:path';
import * as v from 'valibot';
import {
  dependenciesSchema,
  jsonObjectSchema,
  numberSchema,
  objectSchema,
  slugMessage,
} from '../../bundle/option-schemas.js';
import {parseJson} from '../../errors/json.js';
import {shownAddress} from '../../http/origin.js';
import {Secret} from './secret.js';

/** A value that a setting cannot have. The message ends the sentence "--flag ...": "must be a whole number". */
export class InvalidValue extends Error {}

/** What a flag takes: one value, several, each after the flag once more, or none. */
export type FlagShape = 'one' | 'several' | 'switch';

/**
 * A kind of values. Text is converted, "6" to 6, and then judged by the schema that judges what a configuration file
 * says. What cannot be converted is left as it is, for the schema to refuse.
 */
export interface Kind<T = unknown, Shape extends FlagShape = FlagShape> {
  readonly shape: Shape;
  readonly schema: v.GenericSchema<unknown, T>;
  /** Judges text, when it only tells where the value is to be read. @default `schema` */
  readonly textSchema?: v.GenericSchema<unknown, T>;
  /**
   * What the texts of a flag stand for, several when it was repeated.
   * @throws InvalidValue when they are written wrong.
   */
  convert(texts: readonly string[]): unknown;
  /** For an environment variable, when it is written differently. @default `convert` */
  convertVariable?(text: string): unknown;
  /** All values that there are, when they can be counted. */
  readonly options?: readonly string[];
  /** What is shown of a text. @default all of it */
  shown?(text: string): string;
  /** Makes a path absolute. Those of a configuration file start from its folder. */
  absolute?(path: T, directory: string): T;
  /** Lays what a stronger source says over what a weaker one says. Without it the stronger one is all that counts. */
  overlay?(weaker: T, stronger: T): T;
}

/** What text was converted to, when it is a value of this kind. @throws InvalidValue */
export function judged<T>({schema, textSchema}: Kind<T>, value: unknown): T {
  const result = v.safeParse(textSchema ?? schema, value);
  if (result.success) return result.output;
  throw new InvalidValue(result.issues[0].message);
}

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

const textSchema = v.pipe(
  v.string('must be a string'),
  v.check((value) => value.trim() !== '', 'must not be empty'),
);

/** A text that is not empty. */
export const text: Kind<string, 'one'> = {shape: 'one', schema: textSchema, convert: last};

/** The name of a project or a target. */
export const slug: Kind<string, 'one'> = {
  ...text,
  schema: v.pipe(
    textSchema,
    v.rawCheck(({dataset, addIssue}) => {
      const message = dataset.typed ? slugMessage(dataset.value) : undefined;
      if (message !== undefined) addIssue({message});
    }),
  ),
};

/** An address. An invalid URL is not refused here, and may still contain a password. */
export const address: Kind<string, 'one'> = {...text, shown: shownAddress};

/** A path. Relative ones start from the working directory, or from the folder of the configuration file. */
export const path: Kind<string, 'one'> = {...text, absolute: (value, directory) => resolve(directory, value)};

/** A secret. Whoever resolves settings leaves `@FILE` and `-` unread in it. It has no key in the configuration file. */
export const secret: Kind<Secret, 'one'> = {
  shape: 'one',
  schema: v.pipe(
    textSchema,
    v.transform((value) => new Secret(value)),
  ),
  convert: last,
};

/** A switch: `1`, `true`, `yes`, `on` or `0`, `false`, `no`, `off`. */
export const toggle: Kind<boolean, 'switch'> = {
  shape: 'switch',
  schema: v.boolean('must be true or false'),
  convert(texts) {
    const value = last(texts).trim().toLowerCase();
    if (['1', 'true', 'yes', 'on'].includes(value)) return true;
    return ['0', 'false', 'no', 'off'].includes(value) ? false : value;
  },
};

/** A number that a schema accepts. */
export function number(schema: v.GenericSchema<unknown, number>): Kind<number, 'one'> {
  return {shape: 'one', schema, convert: (texts) => numberOf(last(texts))};
}

// Number() would take 0x10 and 1e3 too.
function numberOf(value: string): number | string {
  const trimmed = value.trim();
  return /^\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** A whole number, 0 or more. */
export const count = number(
  numberSchema('a non-negative integer', (value) => Number.isSafeInteger(value) && value >= 0),
);

/** Seconds. @param range Ends "a number of seconds". */
export function seconds(range: string, accepts: (value: number) => boolean): Kind<number, 'one'> {
  return number(numberSchema(`a number of seconds${range}`, accepts));
}

/** One of a few words. */
export function oneOf<const Word extends string>(
  schema: v.GenericSchema<unknown, Word> & {readonly options: readonly Word[]},
): Kind<Word, 'one'> {
  return {shape: 'one', schema, convert: (texts) => last(texts).trim(), options: schema.options};
}

/** A list of texts: repeated, comma-separated or a JSON array. */
export const list: Kind<readonly string[], 'several'> = {
  shape: 'several',
  schema: v.array(textSchema, 'must be an array of strings'),
  convert: (texts) => texts.flatMap(parseList),
};

/** A list of words without spaces, which may be separated by spaces too. */
export const words: Kind<readonly string[], 'several'> = {
  ...list,
  convert: (texts) =>
    texts
      .flatMap(parseList)
      .flatMap((item) => item.split(/\s+/))
      .filter((item) => item !== ''),
};

/** HTTP statuses: a list, or a JSON array of numbers. */
export const statuses: Kind<readonly number[], 'several'> = {
  shape: 'several',
  schema: v.array(
    numberSchema('an HTTP status from 100 to 599', (value) => Number.isInteger(value) && value >= 100 && value <= 599),
    'must be an array of HTTP statuses',
  ),
  convert: (texts) =>
    texts
      .flatMap((item) => item.replace(/^\s*\[|\]\s*$/g, '').split(','))
      .map((item) => numberOf(item.trim().replace(/^"(.*)"$/, '$1'))),
};

/** Values by their names. */
type KeyValues = Readonly<Record<string, unknown>>;

/** How pairs are written: one after each flag; several in a variable, which may hold a JSON object too. */
const pairs = {
  shape: 'several',
  convert: (texts: readonly string[]): KeyValues => Object.fromEntries(texts.map(keyValue)),
  convertVariable(value: string): KeyValues {
    const object = jsonOrNothing(value);
    return v.is(objectSchema, object) ? object : pairs.convert(parseList(value));
  },
} as const;

/** `key=value` pairs: those of a stronger source lie over those of a weaker one. */
export const keyValues: Kind<KeyValues, 'several'> = {
  ...pairs,
  schema: jsonObjectSchema,
  overlay: (weaker, stronger) => ({...weaker, ...stronger}),
};

/** `key=value` pairs of several owners, by the owner. */
export const keyValuesByOwner: Kind<Readonly<Record<string, KeyValues>>, 'several'> = {
  ...pairs,
  schema: v.pipe(objectSchema, v.record(v.string(), jsonObjectSchema)),
  overlay: (weaker, stronger) => ({
    ...weaker,
    ...Object.fromEntries(Object.entries(stronger).map(([owner, own]) => [owner, {...weaker[owner], ...own}])),
  }),
};

/** Packages by name, with their version ranges. A text is `JSON`, `@FILE` or `auto`. */
export const packages: Kind<string | Readonly<Record<string, string>>, 'one'> = {
  shape: 'one',
  schema: dependenciesSchema,
  textSchema,
  convert: last,
};

/** A value that is JSON is that value, anything else a text. */
function keyValue(item: string): readonly [string, unknown] {
  const separator = item.indexOf('=');
  if (separator < 1) throw new InvalidValue('must be key=value');
  const value = item.slice(separator + 1);
  const parsed = jsonOrNothing(value);
  return [item.slice(0, separator).trim(), parsed === undefined ? value : parsed];
}

function jsonOrNothing(value: string): unknown {
  try {
    return parseJson(value);
  } catch {
    return undefined;
  }
}

const jsonArrayStart = /^\[\s*(?:"|\])/;

/**
 * Reads a list: a JSON array of strings, or values separated by commas. Commas in braces (`{a,b}`) and after a
 * backslash belong to the value. `[]` is the empty list; a `[` that opens no JSON array begins a character class of a
 * glob.
 */
export function parseList(value: string): readonly string[] {
  const trimmed = value.trim();
  if (jsonArrayStart.test(trimmed)) return parseJsonList(trimmed);
  const items = splitAtCommas(trimmed)
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new InvalidValue('must not be empty');
  return items;
}

function parseJsonList(value: string): readonly string[] {
  const parsed = jsonOrNothing(value);
  if (!Array.isArray(parsed)) throw new InvalidValue('starts like a JSON array but is not valid JSON');
  return parsed.map((item: unknown) => {
    if (typeof item !== 'string' || item === '') throw new InvalidValue('must be a JSON array of non-empty strings');
    return item;
  });
}

function splitAtCommas(value: string): readonly string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (let index = 0; index < value.length; index += 1) {
    const character = value.charAt(index);
    if (character === '\\') {
      index += 1;
      item += character + value.charAt(index);
      continue;
    }
    if (character === ',' && depth === 0) {
      items.push(item);
      item = '';
      continue;
    }
    if (character === '{') depth += 1;
    if (character === '}') depth = Math.max(0, depth - 1);
    item += character;
  }
  return [...items, item];
}
