import {hasControlCharacter} from '../files/entry-names.js';

/** What is wrong with one option. */
export interface OptionProblem {
  /** Name of the option, as in `interface.md`. */
  readonly option: string;
  /** One sentence without the option's name: `must not be empty`. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestion?: string | undefined;
}

/** What is wrong with a slug, if anything. Slugs become parts of URLs and prefixes in archives. */
export function checkSlug(option: string, value: string): OptionProblem | undefined {
  const message = slugMessage(value);
  return message === undefined ? undefined : {option, message};
}

function slugMessage(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  if (value === '.' || value === '..') return `must not be "${value}"`;
  if (/[/\\]/.test(value)) return `must not contain / or \\, as "${value}" does`;
  if (hasControlCharacter(value)) return 'must not contain control characters';
  return undefined;
}
