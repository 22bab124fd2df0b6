import {resolve} from 'node:path';
import * as v from 'valibot';
import {OptionText} from '../../backends/option-text.js';
import {
  checkFields,
  checkSchema,
  dependenciesSchema,
  jsonObjectSchema,
  numberSchema,
  objectSchema,
  slugMessage,
} from '../../bundle/option-schemas.js';
import {isRecord, parseJson} from '../../errors/json.js';
import {shownAddress} from '../../http/origin.js';
import type {CheckOptions} from '../../operations/options.js';
import {Secret} from './secret.js';

/** An invalid value. The message completes the sentence "--flag ...": "must be an integer". */
export class InvalidValue extends Error {}

/** What a flag accepts: one value, several by repeating it, or none. */
export type FlagShape = 'one' | 'several' | 'switch';

/**
 * A kind of value. Text is converted, such as "6" to 6, and then validated with the same schema as a configuration
 * file. What cannot be converted is left for the schema to reject.
 */
export interface Kind<T = unknown, Shape extends FlagShape = FlagShape> {
  readonly shape: Shape;
  readonly schema: v.GenericSchema<unknown, T>;
  /** Validates text whose value is only known later. @default `schema` */
  readonly textSchema?: v.GenericSchema<unknown, T>;
  /**
   * Converts the texts of a flag, several if it was repeated.
   * @throws InvalidValue when they are malformed.
   */
  convert(texts: readonly string[]): unknown;
  /** Converts an environment variable, if its syntax differs. @default `convert` */
  convertVariable?(text: string): unknown;
  /** All possible values, if there is a fixed set. */
  readonly options?: readonly string[];
  /** The part of a text to show. @default all of it */
  shown?(text: string): string;
  /** Makes a path absolute. Paths in a configuration file are relative to its folder. */
  absolute?(path: T, directory: string): T;
  /** Merges a value over one with lower precedence. Without this method, it replaces that one. */
  overlay?(weaker: T, stronger: T): T;
  /**
   * What a value of a configuration file means for a target.
   * @throws InvalidValue
   */
  atTarget?(value: T, target: string | undefined): T;
}

/** Validates converted text. @throws InvalidValue */
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

/** Non-empty text. */
export const text: Kind<string, 'one'> = {shape: 'one', schema: textSchema, convert: last};

/** The slug of a project or a target. */
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

/** An address. It is not validated here, so an invalid URL may still contain a password. */
export const address: Kind<string, 'one'> = {...text, shown: shownAddress};

/** A path, relative to the working directory or to the folder of the configuration file. */
export const path: Kind<string, 'one'> = {...text, absolute: (value, directory) => resolve(directory, value)};

/** A secret. `@FILE` and `-` are not read when settings are resolved. It has no key in the configuration file. */
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

// Number() would accept 0x10 and 1e3, too.
function numberOf(value: string): number | string {
  const trimmed = value.trim();
  return /^\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** A non-negative integer. */
export const count = number(
  numberSchema('a non-negative integer', (value) => Number.isSafeInteger(value) && value >= 0),
);

/** Seconds. @param range Continues "a number of seconds". */
export function seconds(range: string, accepts: (value: number) => boolean): Kind<number, 'one'> {
  return number(numberSchema(`a number of seconds${range}`, accepts));
}

/** One of a fixed set of words. */
export function oneOf<const Word extends string>(
  schema: v.GenericSchema<unknown, Word> & {readonly options: readonly Word[]},
): Kind<Word, 'one'> {
  return {shape: 'one', schema, convert: (texts) => last(texts).trim(), options: schema.options};
}

/** A list of strings: repeated, comma-separated or a JSON array. */
export const list: Kind<readonly string[], 'several'> = {
  shape: 'several',
  schema: v.array(textSchema, 'must be an array of strings'),
  convert: (texts) => texts.flatMap(parseList),
};

/** A list that must not be empty, because it would mean nothing. */
export const someItems: Kind<readonly string[], 'several'> = {
  ...list,
  schema: v.pipe(v.array(textSchema, 'must be an array of strings'), v.minLength(1, 'must not be empty')),
};

/** A list of words without spaces, which may be separated by spaces, too. */
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

/** Values by name. */
type KeyValues = Readonly<Record<string, unknown>>;

/**
 * The syntax of pairs: one per flag; several in a variable, which can also be a JSON object.
 * @param valueOf what the text of a value means
 */
function pairs(valueOf: (text: string) => unknown) {
  const convert = (texts: readonly string[]): KeyValues =>
    Object.fromEntries(texts.map(keyAndText).map(([key, value]) => [key, valueOf(value)]));
  return {
    shape: 'several',
    convert,
    convertVariable(value: string): KeyValues {
      const object = jsonOrNothing(value);
      return v.is(objectSchema, object) ? object : convert(parseList(value));
    },
  } as const;
}

/** `key=value` pairs, of JSON or text. Those of a source with higher precedence are merged over the others. */
export const keyValues: Kind<KeyValues, 'several'> = {
  ...pairs((value) => {
    const parsed = jsonOrNothing(value);
    return parsed === undefined ? value : parsed;
  }),
  schema: jsonObjectSchema,
  overlay: (weaker, stronger) => ({...weaker, ...stronger}),
};

/** `key=value` pairs of several owners, by owner, who decides what the texts mean. */
export const keyValuesByOwner: Kind<Readonly<Record<string, KeyValues>>, 'several'> = {
  ...pairs((value) => new OptionText(value)),
  schema: v.pipe(objectSchema, v.record(v.string(), jsonObjectSchema)),
  textSchema: v.record(v.string(), objectSchema),
  overlay: (weaker, stronger) => ({
    ...weaker,
    ...Object.fromEntries(Object.entries(stronger).map(([owner, own]) => [owner, {...weaker[owner], ...own}])),
  }),
  atTarget: (owners, target) =>
    Object.fromEntries(Object.entries(owners).map(([owner, own]) => [owner, optionsAt(own, target, owner)])),
};

/** The options of an owner, overlaid with those for a target in `targets.SLUG`. */
function optionsAt({targets = {}, ...base}: KeyValues, target: string | undefined, owner: string): KeyValues {
  if (!isRecord(targets) || !Object.values(targets).every(isRecord))
    throw new InvalidValue(`must have an object of options for each target in ${owner}.targets`);
  const own = target !== undefined && Object.hasOwn(targets, target) ? targets[target] : undefined;
  return isRecord(own) ? {...base, ...own} : base;
}

/** A check of a deployment in a configuration file: where to look, or that with how to judge what is there. */
const checkItemSchema = v.pipe(
  v.unknown(),
  v.transform((item) => (typeof item === 'string' ? {url: item} : item)),
  checkSchema,
);

/** Named here, so that the types of the settings can name it. */
export type Checks = readonly CheckOptions[];

/** Checks of a deployment: one or a list of them. On the command line, only where to look. */
export const checks: Kind<Checks, 'several'> = {
  shape: 'several',
  schema: v.pipe(
    v.unknown(),
    v.transform((value) => [value].flat()),
    v.array(checkItemSchema),
  ),
  convert: (texts) => texts.flatMap(parseList),
};

/** The text that a check looks for. */
export const checkText: Kind<string, 'one'> = {shape: 'one', schema: checkFields.text, convert: last};

/** Packages by name, with their version ranges. A text is `JSON`, `@FILE` or `auto`. */
export const packages: Kind<string | Readonly<Record<string, string>>, 'one'> = {
  shape: 'one',
  schema: dependenciesSchema,
  textSchema,
  convert: last,
};

function keyAndText(item: string): readonly [string, string] {
  const separator = item.indexOf('=');
  if (separator < 1) throw new InvalidValue('must be key=value');
  return [item.slice(0, separator).trim(), item.slice(separator + 1)];
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
 * Parses a list: a JSON array of strings, or comma-separated values. Commas in braces (`{a,b}`) and after a backslash
 * belong to the value. `[]` is the empty list; a `[` that does not start a JSON array starts a character class of a
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
