import {resolve} from 'node:path';
import {inspect} from 'node:util';
import * as v from 'valibot';
import {OptionText} from '../../backends/option-text.js';
import {isRecord, parseJson} from '../../errors/json.js';
import {shownAddress} from '../../http/origin.js';
import type {Syntax} from '../../settings/row.js';
import {text} from '../../settings/schemas.js';

const mask = '********';

/** A secret value. Printing it prints a mask; `reveal()` is for code that sends it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. */
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
export class InvalidValue extends Error {}

/** Validates a value. @throws InvalidValue */
export function judged(schema: v.GenericSchema, value: unknown): unknown {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new InvalidValue(result.issues[0].message);
}

/** Text as it is written on the command line and in the environment, by what becomes of it. */
interface Reading {
  /** What a flag takes: one value, several by repeating it, or none. */
  readonly shape: 'one' | 'several' | 'switch';
  /**
   * Converts the texts of a flag, several if it was repeated. What cannot be converted is left to the schema.
   * @throws InvalidValue when they are malformed.
   */
  readonly convert: (texts: readonly string[]) => unknown;
  /** Converts an environment variable, if its syntax differs. @default `convert` */
  readonly convertVariable?: (text: string) => unknown;
  /** Validates the text instead of the schema of the setting, if its value is only known later. */
  readonly schema?: v.GenericSchema;
}

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';
const one: Reading = {shape: 'one', convert: (texts) => last(texts)};
const list: Reading = {shape: 'several', convert: (texts) => texts.flatMap(parseList)};

const words: Readonly<Record<string, boolean>> = {
  ...{1: true, true: true, yes: true, on: true},
  ...{0: false, false: false, no: false, off: false},
};

/** How text is read, by syntax. */
export const readings: Readonly<Record<Syntax, Reading>> = {
  text: one,
  url: one,
  path: one,
  secret: one,
  packages: {...one, schema: text},
  word: {shape: 'one', convert: (texts) => last(texts).trim()},
  switch: {
    shape: 'switch',
    convert(texts) {
      const word = last(texts).trim().toLowerCase();
      return words[word] ?? word;
    },
  },
  number: {shape: 'one', convert: (texts) => numberOf(last(texts))},
  list,
  words: {
    shape: 'several',
    convert: (texts) =>
      texts
        .flatMap(parseList)
        .flatMap((item) => item.split(/\s+/))
        .filter((item) => item !== ''),
  },
  numbers: {
    shape: 'several',
    convert: (texts) =>
      texts
        .flatMap((item) => item.replace(/^\s*\[|\]\s*$/g, '').split(','))
        .map((item) => numberOf(item.trim().replace(/^"(.*)"$/, '$1'))),
  },
  pairs: pairs((value) => jsonOrText(value)),
  backendOptions: {...pairs((value) => new OptionText(value)), schema: v.record(v.string(), v.unknown())},
};

/** What a valid value becomes: paths are relative to `directory`. */
export function finished(syntax: Syntax, value: unknown, directory: string): unknown {
  if (typeof value !== 'string') return value;
  if (syntax === 'secret') return new Secret(value);
  return syntax === 'path' ? resolve(directory, value) : value;
}

/** What to show of a text. A URL is not validated here, so it may contain a password. */
export function shownText(syntax: Syntax, value: string): string {
  return syntax === 'url' ? shownAddress(value) : value;
}

/** Whether values of weaker sources count, too. */
export function isMerged(syntax: Syntax): boolean {
  return syntax === 'pairs' || syntax === 'backendOptions';
}

/** Merges pairs over those of a weaker source. */
export function merged(syntax: Syntax, weaker: unknown, stronger: unknown): unknown {
  if (!isRecord(weaker) || !isRecord(stronger)) return stronger;
  if (syntax === 'pairs') return {...weaker, ...stronger};
  const owners = Object.entries(stronger).map(([owner, own]) => [owner, merged('pairs', weaker[owner], own)] as const);
  return {...weaker, ...Object.fromEntries(owners)};
}

/**
 * Options of backends for a target: those in `targets.SLUG` over the others.
 * @throws InvalidValue
 */
export function optionsAt(owners: unknown, target: unknown): unknown {
  if (!isRecord(owners)) return owners;
  return Object.fromEntries(
    Object.entries(owners).map(([owner, own]) => {
      const {targets = {}, ...base} = isRecord(own) ? own : {};
      if (!isRecord(targets) || !Object.values(targets).every(isRecord))
        throw new InvalidValue(`must have an object of options for each target in ${owner}.targets`);
      const name = String(target);
      return [owner, merged('pairs', base, Object.hasOwn(targets, name) ? targets[name] : {})];
    }),
  );
}

// Number() would accept 0x10 and 1e3, too.
function numberOf(value: string): number | string {
  const trimmed = value.trim();
  return /^\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** The syntax of pairs: one per flag; several in a variable, which can also be a JSON object. */
function pairs(valueOf: (text: string) => unknown): Reading {
  const convert = (texts: readonly string[]) =>
    Object.fromEntries(texts.map(keyAndText).map(([key, value]) => [key, valueOf(value)]));
  return {
    shape: 'several',
    convert,
    convertVariable(value) {
      const object = jsonOrText(value);
      return isRecord(object) ? object : convert(parseList(value));
    },
  };
}

function keyAndText(item: string): readonly [string, string] {
  const separator = item.indexOf('=');
  if (separator < 1) throw new InvalidValue('must be key=value');
  return [item.slice(0, separator).trim(), item.slice(separator + 1)];
}

function jsonOrText(value: string): unknown {
  try {
    return parseJson(value);
  } catch {
    return value;
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
  const parsed = jsonOrText(value);
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
