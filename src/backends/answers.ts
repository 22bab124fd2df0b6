import {createError} from '../errors/index.js';
import type {BundleId, BundleMatches} from './contract.js';

/** An answer of a server: an object, read member by member. */
export type Answer = Readonly<Record<string, unknown>>;

/** `value` as an object; an empty one when it is none. */
export function asRecord(value: unknown): Answer {
  return isRecord(value) ? value : {};
}

/** Members of a list in an answer that are objects. */
export function asRecords(value: unknown): readonly Answer[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** `value` when it is a string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `value` when it is a number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Warnings of a server, one string each. */
export function asWarnings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

/** What a server says its patterns matched, `{}` when it says nothing. */
export function asMatches(value: unknown): BundleMatches {
  return asRecord(value);
}

/**
 * The id of an uploaded bundle; the built-in backends' are numbers.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when the answer holds none.
 */
export function bundleIdOf(value: unknown, backend: string): number {
  const id = numericId(value);
  if (id !== undefined) return id;
  throw createError(
    'ERR_RESPONSE_INVALID',
    `the ${backend} backend accepted the upload, but the response omitted a bundle id`,
    {
      suggestions: ['Look at the list of bundles before you push again: the upload may be there.'],
    },
  );
}

/**
 * A bundle id as the caller gave it, for a request to a built-in backend.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when it is not a number.
 */
export function requestedBundleId(value: BundleId, backend: string): number {
  const id = numericId(value);
  if (id !== undefined) return id;
  throw createError(
    'ERR_OPTION_INVALID',
    `"${String(value)}" is not a bundle id of the ${backend} backend: they are numbers`,
    {
      suggestions: ['Take the id that the push printed, or "latest".'],
    },
  );
}

function numericId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

function isRecord(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
