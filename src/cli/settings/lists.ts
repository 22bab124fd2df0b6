import {InvalidValue} from './invalid-value.js';

const jsonArrayStart = /^\[\s*(?:"|\])/;

/**
 * Reads a list: a JSON array of strings, or values separated by commas. Commas in braces (`{a,b}`) and after a backslash
 * belong to the value. `[]` is the empty list; a `[` that opens no JSON array begins a character class of a glob.
 */
export function parseList(text: string): readonly string[] {
  const trimmed = text.trim();
  if (jsonArrayStart.test(trimmed)) return parseJsonList(trimmed);
  const items = splitAtCommas(trimmed)
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new InvalidValue('must not be empty');
  return items;
}

function parseJsonList(text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidValue('begins like a JSON array and is none');
  }
  if (!Array.isArray(value)) throw new InvalidValue('must be a JSON array of strings');
  return value.map((item: unknown) => {
    if (typeof item !== 'string' || item === '')
      throw new InvalidValue('must be a JSON array of strings that are not empty');
    return item;
  });
}

function splitAtCommas(text: string): readonly string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') {
      index += 1;
      item += character + text.charAt(index);
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
