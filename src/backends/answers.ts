import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import {isRecord} from '../errors/json.js';
import {readJson, wrongAnswer} from '../http/index.js';
import type {AnsweredResponse} from '../http/types.js';
import type {BundleMatches} from './built-in.js';
import type {BackendContext, BodyOptions, Bundle, BundleId, ListRange, ListResult} from './contract.js';

/** An answer of a server: an object, read member by member. */
export type Answer = Readonly<Record<string, unknown>>;

/** A parsed answer, plus the unmodified original for `raw`. */
interface ReadAnswer {
  readonly answer: Answer;
  readonly raw: unknown;
}

/**
 * Reads a JSON object from a response.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when the body is anything else.
 */
export function readAnswer(response: AnsweredResponse): ReadAnswer {
  const raw = readJson(response);
  if (!isRecord(raw)) throw wrongAnswer(response, 'is not a JSON object');
  return {answer: raw, raw};
}

/**
 * Reads the answer to a request that changes something. An empty body is fine when the status says it all. A body that
 * looks like an error is not an acceptance.
 * @param known members of a valid answer
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it is some other document.
 */
export function readAcceptance(response: AnsweredResponse, known: readonly string[]): ReadAnswer {
  const {statusCode, body} = response;
  const saysAll = statusCode === 202 || statusCode === 204;
  if (saysAll && body === '') return {answer: {}, raw: undefined};
  const read = readAnswer(response);
  const has = (member: string) => (read.answer[member] ?? undefined) !== undefined;
  const isError = has('error') || has('errors');
  const isMessage = !saysAll && ['detail', 'message', 'title'].some(has) && !known.some(has);
  if (isError || isMessage) throw wrongAnswer(response, 'looks like an error');
  return read;
}

/**
 * Reads one page of a list.
 * @param names the members that hold the rows and their total
 * @param toItem converts a row; undefined when the row lacks a required member
 * @param offset where in the list the page starts
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it is not a list; it is never treated as an empty one.
 */
export function readPage<Item>(
  response: AnsweredResponse,
  names: {readonly rows: string; readonly total: string},
  toItem: (row: Answer) => Item | undefined,
  {offset}: {readonly offset: number} = {offset: 0},
): ListResult<Item> {
  const {answer, raw} = readAnswer(response);
  const rows = answer[names.rows];
  if (!Array.isArray(rows)) throw wrongAnswer(response, `is not a list: there is no array "${names.rows}"`);
  const items = rows.map((row: unknown, index) => {
    const item = isRecord(row) ? toItem(row) : undefined;
    if (item === undefined) throw wrongAnswer(response, `has an invalid item at "${names.rows}[${String(index)}]"`);
    return item;
  });
  const told = asNumber(answer[names.total]);
  const total = told !== undefined && told >= 0 ? told : undefined;
  const next = offset + items.length;
  // A service that caps pages may have more after a short one.
  const isLast = items.length === 0 || next >= (total ?? Infinity);
  return {items, cursor: isLast ? undefined : String(next), total, raw};
}

/** The query for a part of a list. */
export function pageQuery({limit, cursor = '0'}: ListRange): {readonly limit: number; readonly offset: number} {
  return {limit, offset: Number(cursor)};
}

/**
 * Reads the answer to a request that may have changed something. Errors suggest how to check.
 * @param look the command that shows whether it did
 */
export function readWritten<Result>(look: readonly string[], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {
      suggestions: ['The request may have been carried out. Check before retrying:', [{run: look}]],
    });
  }
}

/** Waits for the answer to a request that deploys. Both services refuse it with 409 while the target is busy. */
export async function fromTarget(request: Promise<AnsweredResponse>): Promise<AnsweredResponse> {
  try {
    return await request;
  } catch (error) {
    throw isRuntimeCliError(error) && error.status === 409 ? amendError(error, {code: 'ERR_TARGET_BUSY'}) : error;
  }
}

/** `value` if it is an object, else an empty one. */
export function asRecord(value: unknown): Answer {
  return isRecord(value) ? value : {};
}

/** `value` if it is a string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Someone else's URL in a form that is safe to show and to open, or undefined unless it is an http(s) URL without
 * credentials. White space and control characters are not allowed, although URL parsers drop them.
 */
export function shownUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 2048 || /[\s\p{Cc}\p{Cf}\p{Cs}]/u.test(value)) return undefined;
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined;
  const {href, username, password} = new URL(value);
  return username === '' && password === '' ? href : undefined;
}

/** `value` if it is a number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A server's warnings, as strings. */
export function asWarnings(value: unknown): readonly string[] {
  return asTexts(value) ?? [];
}

/** A server's strings; anything else is shown as JSON. */
export function asTexts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

/** The pattern matches that a server reports, or `{}`. */
export function asMatches(value: unknown): BundleMatches {
  return asRecord(value);
}

/**
 * The ID of an uploaded bundle. Built-in backends use numbers.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when the answer has none.
 */
export function bundleIdOf(value: unknown, backend: string): number {
  const id = numericId(value);
  if (id !== undefined) return id;
  const problem =
    (value ?? undefined) === undefined ? 'has no bundle ID' : 'has a bundle ID that is not an integer below 2^53';
  throw createError('ERR_RESPONSE_INVALID', `The ${backend} backend accepted the upload, but its response ${problem}.`);
}

/**
 * Converts a caller's bundle ID for a request to a built-in backend.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when it is not a number.
 */
export function requestedBundleId(value: BundleId, backend: string): number {
  const id = numericId(value);
  if (id !== undefined) return id;
  throw createError(
    'ERR_OPTION_INVALID',
    `"${String(value)}" is not a bundle ID of the ${backend} backend: its IDs are numbers.`,
    {
      suggestions: [
        ['Use the ID that bundle:push printed, or "latest". Run ', {run: ['bundle:list']}, ' to list the bundles.'],
      ],
      details: {bundleId: value},
    },
  );
}

/** `value` if it is a bundle ID of a built-in backend. */
export function numericId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

/** The multipart body of a v2 upload, the same for both built-in backends. */
export function multipartBody(bundle: Bundle, {bodies}: Pick<BackendContext, 'bodies'>): BodyOptions {
  const {message, rootDir, configPath, matchMode} = bundle;
  return bodies.multipart({
    file: {name: 'bundle', filename: 'bundle.tar.gz', contentType: 'application/octet-stream', source: bundle},
    fields: {
      message,
      ...(rootDir === undefined ? {} : {rootDir}),
      ...(configPath === undefined ? {} : {configPath}),
      ...(matchMode === undefined ? {} : {matchMode}),
    },
  });
}
