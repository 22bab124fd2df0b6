import {readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import {inspect} from 'node:util';
import * as v from 'valibot';
import {OptionText} from '../../backends/plugins/option-text.js';
import {decodeText} from '../../files/read-file.js';
import {onWindows} from '../../text/platform.js';
import {asRecord, isRecord, ownValue, parseJson, withExactNumbers} from '../../text/json.js';
import {reasonOf} from '../../errors/index.js';
import type {Syntax} from '../../settings/row.js';
import {dependenciesSchema, keyed} from '../../settings/schemas.js';

const mask = '********';

/** A secret value. Printing it prints a mask; `reveal()` is for code that sends it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

/** An invalid value. The message completes the sentence "--flag ...": "must be an integer". */
export class InvalidValue extends Error {
  constructor(
    message: string,
    readonly suggestions: readonly string[] = [],
  ) {
    super(message);
  }
}

export function judged<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new InvalidValue(result.issues[0].message);
}

interface Place {
  /** A variable has a whole list, a flag one item of it each time. */
  readonly isVariable: boolean;
  readonly directory: string;
}

/** Text as it is written on the command line and in the environment, by what becomes of it. */
interface Reading {
  /** What a flag takes: one value, several by repeating it, or none. */
  readonly shape: 'one' | 'several' | 'switch';
  /** Converts the texts of a flag, or that of a variable. What cannot be converted is left to the schema. */
  readonly convert: (texts: readonly string[], place: Place) => unknown;
  /** Validates what was converted, if it is not what the schema of the setting accepts. */
  readonly schema?: v.GenericSchema;
  /** How deep objects are merged over those of weaker sources. @default 0: they replace them */
  readonly depth?: number;
}

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';
const one: Reading = {shape: 'one', convert: last};
const list: Reading = {shape: 'several', convert: (texts) => texts.flatMap(parseList)};

/** In files of variables, and as a line break of Windows, spaces are an accident. */
const trimmedVariable: Reading = {
  shape: 'one',
  convert: (texts, {isVariable}) => (isVariable ? last(texts).trim() : last(texts)),
};

/** Whether a value still has the quotation marks that a shell would have removed. */
export function isQuoted(value: unknown): boolean {
  return typeof value === 'string' && /^\s*(["'`]).+\1\s*$/s.test(value);
}

function nameOf(texts: readonly string[], {isVariable}: Place): string {
  const text = last(texts);
  if (isQuoted(text)) {
    throw new InvalidValue('must not have quotation marks around it', ['Remove them: only a shell does that itself.']);
  }
  if (!isVariable && text !== text.trim()) throw new InvalidValue('must not have spaces around it', ['Remove them.']);
  return text.trim();
}

export const readings: Readonly<Record<Syntax, Reading>> = {
  text: one,
  id: {shape: 'one', convert: nameOf},
  url: trimmedVariable,
  path: trimmedVariable,
  secret: one,
  packages: {
    shape: 'one',
    convert: (texts, {directory}) => packagesOf(last(texts).trim(), directory),
    schema: v.union(
      [v.literal('auto'), dependenciesSchema],
      `must be a JSON object such as '{"name": "^1.2.3"}', @FILE, or auto`,
    ),
  },
  word: {shape: 'one', convert: (texts) => last(texts).trim()},
  switch: {
    shape: 'switch',
    convert(texts) {
      const word = last(texts).trim().toLowerCase();
      if (['1', 'true', 'yes', 'on'].includes(word)) return true;
      return ['0', 'false', 'no', 'off'].includes(word) ? false : word;
    },
  },
  number: {shape: 'one', convert: (texts) => numberOf(last(texts))},
  list,
  words: {shape: 'several', convert: (texts) => texts.flatMap(parseList).flatMap((item) => item.match(/\S+/g) ?? [])},
  numbers: {
    shape: 'several',
    // A JSON array is a list in brackets, with or without quotation marks.
    convert: (texts) => texts.flatMap((item) => item.replaceAll(/[[\]"]/g, '').split(',')).map(numberOf),
  },
  pairs: {shape: 'several', convert: (texts, place) => pairsOf(texts, place, jsonOrText), depth: 1},
  headers: {shape: 'several', convert: (texts, place) => pairsOf(texts, place, (text) => text), depth: 1},
  backendOptions: {
    shape: 'several',
    convert(texts, place) {
      const options = Object.entries(asRecord(pairsOf(texts, place, (text) => new OptionText(text))));
      return Object.fromEntries(
        options.map(([name, value]) => [name, value instanceof OptionText ? value : OptionText.of(value)]),
      );
    },
    schema: keyed(v.unknown()),
    depth: 2,
  },
};

/** What a valid value becomes: paths are relative to `directory`. */
export function finished(syntax: Syntax, value: unknown, directory: string): unknown {
  if (syntax === 'headers') return headersAt(asRecord(value), directory);
  if (typeof value !== 'string') return value;
  if (syntax === 'secret') return new Secret(value);
  return syntax === 'path' ? resolve(directory, value) : value;
}

/** Headers by their names in lower case, with absolute paths of files. */
export function headersAt(
  headers: Readonly<Record<string, unknown>>,
  directory: string,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).map(([name, value]) => {
    const text = String(value);
    return [name.toLowerCase(), text.startsWith('@') ? `@${pathFrom(directory, text.slice(1))}` : text] as const;
  });
  return Object.fromEntries(entries);
}

export function merged(weaker: unknown, stronger: unknown, depth: number): unknown {
  if (depth === 0 || !isRecord(weaker) || !isRecord(stronger)) return stronger;
  const entries = Object.entries(stronger).map(
    ([key, own]) => [key, merged(ownValue(weaker, key), own, depth - 1)] as const,
  );
  return {...weaker, ...Object.fromEntries(entries)};
}

// Number() would accept 0x10 and 1e3, too.
function numberOf(value: string): number | string {
  const trimmed = value.trim();
  return /^\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** An absolute path. A shell leaves `~` as it is after `@`. */
export function pathFrom(directory: string, path: string): string {
  return (onWindows ? /^~[/\\]/ : /^~\//).test(path) ? join(homedir(), path.slice(2)) : resolve(directory, path);
}

/** `auto`, or what JSON or `@FILE` with it says. */
function packagesOf(text: string, directory: string): unknown {
  if (text === 'auto') return text;
  try {
    if (!text.startsWith('@')) return parseJson(text);
    return parseJson(decodeText(readFileSync(pathFrom(directory, text.slice(1)))));
  } catch (error) {
    throw new InvalidValue(`${text.startsWith('@') ? `${text} ` : ''}cannot be read: ${reasonOf(error)}`);
  }
}

/** Pairs, one for each flag. A variable has several, or a JSON object. */
function pairsOf(texts: readonly string[], {isVariable}: Place, valueOf: (text: string) => unknown): unknown {
  const object = isVariable ? jsonOrText(last(texts)) : undefined;
  if (isRecord(object)) return object;
  const pairs = (isVariable ? texts.flatMap(parseList) : texts).map((item) => {
    const separator = item.indexOf('=');
    if (separator < 1)
      throw new InvalidValue(
        'must be key=value',
        isVariable ? ['A value with a comma needs JSON: {"key": "a,b"}'] : [],
      );
    return [item.slice(0, separator).trim(), valueOf(item.slice(separator + 1))] as const;
  });
  return Object.fromEntries(pairs);
}

function jsonOrText(value: string): unknown {
  try {
    return parseJson(withExactNumbers(value));
  } catch {
    return value;
  }
}

const jsonListMessage = 'must be a JSON array of non-empty strings';
const jsonList = v.array(v.pipe(v.string(jsonListMessage), v.nonEmpty(jsonListMessage)), jsonListMessage);

/**
 * Parses a list: a JSON array of strings, or comma-separated values. Commas in braces (`{a,b}`) and after a backslash
 * belong to the value. `[]` is the empty list. A `[` that starts no JSON array starts a character class of a glob.
 */
export function parseList(value: string): readonly string[] {
  const trimmed = value.trim();
  if (/^\[\s*(?:"|\])/.test(trimmed)) return judged(jsonList, jsonOrText(trimmed));
  const items = splitAtCommas(trimmed)
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new InvalidValue('must not be empty');
  return items;
}

function splitAtCommas(value: string): readonly string[] {
  const items = [''];
  let depth = 0;
  for (const [part] of value.matchAll(/\\[^]?|[^]/g)) {
    if (part === '{') depth += 1;
    if (part === '}') depth = Math.max(0, depth - 1);
    if (part === ',' && depth === 0) items.push('');
    else items.push(String(items.pop()) + part);
  }
  return items;
}
