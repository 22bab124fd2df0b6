import type {BundleV2MatchMode} from '../../bundle/types.js';
import {InvalidValue} from './invalid-value.js';
import {parseList} from './lists.js';

/**
 * Reads the value of a setting from what a flag or an environment variable holds: one text, several for a flag that was
 * repeated. Throws InvalidValue.
 */
export type SettingParser<T> = (texts: readonly string[]) => T;

/** A text that is not empty. */
export const text: SettingParser<string> = (texts) => {
  const value = texts.at(-1) ?? '';
  if (value.trim() === '') throw new InvalidValue('must not be empty');
  return value;
};

/** A switch. Environment variables say `1`, `true`, `yes`, `on` or `0`, `false`, `no`, `off`. */
export const toggle: SettingParser<boolean> = (texts) => {
  const value = text(texts).trim().toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  if (['0', 'false', 'no', 'off'].includes(value)) return false;
  throw new InvalidValue('must be true or false');
};

/** Numbers in a range; `what` ends "must be ...". */
export function decimal(what: string, accepts: (value: number) => boolean): SettingParser<number> {
  return (texts) => {
    const value = text(texts).trim();
    // Number() would take 0x10 and 1e3 too.
    const number = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    if (!Number.isFinite(number) || !accepts(number)) throw new InvalidValue(`must be ${what}`);
    return number;
  };
}

/** The longest time that a timer takes, in seconds. */
export const longestTimeoutSeconds = 2_147_483;

/** A whole number, 0 or more. */
export const count = decimal('a whole number, 0 or more', Number.isSafeInteger);

/** An effort of gzip. */
export const compressionLevel = decimal('a whole number from 0 to 9', (level) => Number.isInteger(level) && level <= 9);

/** A list of texts: repeated, comma-separated or a JSON array. */
export const list: SettingParser<readonly string[]> = (texts) => texts.flatMap(parseList);

/** OAuth scopes, which may be separated by spaces too. */
export const scopeList: SettingParser<readonly string[]> = (texts) =>
  list(texts)
    .flatMap((item) => item.split(/\s+/))
    .filter((item) => item !== '');

/** HTTP statuses; a JSON array of numbers is accepted as well. */
export const statusList: SettingParser<readonly number[]> = (texts) =>
  texts
    .flatMap((item) => item.replace(/^\s*\[|\]\s*$/g, '').split(','))
    .map((item) => item.trim().replace(/^"(.*)"$/, '$1'))
    .map((item) => decimal('HTTP statuses, 100 to 599', (status) => isHttpStatus(status))([item]));

function isHttpStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 100 && status <= 599;
}

/** One of the match modes. */
export const matchMode: SettingParser<BundleV2MatchMode> = (texts) => {
  const value = text(texts).trim();
  if (value !== 'strict' && value !== 'ignore_missing') throw new InvalidValue('must be strict or ignore_missing');
  return value;
};

/**
 * `key=value` pairs. A value that is JSON is that value, anything else a text. One text may also be a JSON object, or,
 * in the environment, several pairs: a comma list or a JSON array.
 */
export const keyValues: SettingParser<Readonly<Record<string, unknown>>> = (texts) =>
  Object.fromEntries(texts.flatMap((item) => keyValue(item)));

/** Several pairs in one text, as environment variables hold them. */
export const keyValueList: SettingParser<Readonly<Record<string, unknown>>> = (texts) => {
  const object = parseJson(text(texts));
  if (isRecord(object)) return object;
  return keyValues(list(texts));
};

function keyValue(item: string): readonly (readonly [string, unknown])[] {
  const separator = item.indexOf('=');
  if (separator < 1) throw new InvalidValue('must be key=value');
  const value = item.slice(separator + 1);
  const parsed = parseJson(value);
  return [[item.slice(0, separator).trim(), parsed === undefined ? value : parsed]];
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether a value is an object with keys, and no array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
