import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import {isRecord} from '../errors/json.js';
import {commandLine} from '../errors/suggest.js';
import {readJson, wrongAnswer} from '../http/index.js';
import type {BundleId, BundleMatches, ListResult, BackendContext, BodyOptions, Bundle} from './contract.js';

/** An answer of a server: an object, read member by member. */
export type Answer = Readonly<Record<string, unknown>>;

type Response = Parameters<typeof readJson>[0];

/** An answer, and the same as it came, for `raw`. */
interface ReadAnswer {
  readonly answer: Answer;
  readonly raw: unknown;
}

/**
 * Reads the object that a server answers.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it answers something else.
 */
export function readAnswer(response: Response): ReadAnswer {
  const raw = readJson(response);
  if (!isRecord(raw)) throw wrongAnswer(response, 'is not a JSON object');
  return {answer: raw, raw};
}

/**
 * Reads the answer to a request that changes something. It may be empty where the status says all there is to say; what
 * looks like an error is not an acceptance.
 * @param known members of the right answer
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it is another document.
 */
export function readAcceptance(response: Response, known: readonly string[]): ReadAnswer {
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
 * @param names the members that hold the rows and how many there are in all
 * @param toItem makes the item of a row; nothing when the row lacks what every row has
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it is not a list: it never counts as an empty one.
 */
export function readPage<Item>(
  response: Response,
  names: {readonly rows: string; readonly total: string},
  toItem: (row: Answer) => Item | undefined,
): ListResult<Item> {
  const {answer, raw} = readAnswer(response);
  const rows = answer[names.rows];
  if (!Array.isArray(rows)) throw wrongAnswer(response, `is not a list: there is no array "${names.rows}"`);
  const items = rows.map((row: unknown, index) => {
    const item = isRecord(row) ? toItem(row) : undefined;
    if (item === undefined) throw wrongAnswer(response, `has an invalid item at "${names.rows}[${String(index)}]"`);
    return item;
  });
  const total = asNumber(answer[names.total]);
  return {items, total: total !== undefined && total >= 0 ? total : undefined, raw};
}

/**
 * Reads the answer to a request that changed something, or may have: an error about it says how to look.
 * @param look the command that shows whether it did
 */
export function readWritten<Result>(look: readonly string[], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {
      suggestions: ['The request may have been carried out. Check before retrying:', commandLine(...look)],
    });
  }
}

/** `value` as an object; an empty one when it is something else. */
export function asRecord(value: unknown): Answer {
  return isRecord(value) ? value : {};
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
  return asTexts(value) ?? [];
}

/** Texts of a server; anything else as its JSON. */
export function asTexts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
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
  const problem =
    (value ?? undefined) === undefined ? 'has no bundle ID' : 'has a bundle ID that is not an integer below 2^53';
  throw createError('ERR_RESPONSE_INVALID', `The ${backend} backend accepted the upload, but its response ${problem}.`);
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
    `"${String(value)}" is not a bundle ID of the ${backend} backend: its IDs are numbers.`,
    {
      suggestions: ['Use the ID that bundle:push printed, or "latest". Run mycli bundle:list to list the bundles.'],
    },
  );
}

/** `value` when it is the id of a bundle of a built-in backend. */
export function numericId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

/** The multipart body of a v2 upload: the same parts for both built-in backends. */
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
