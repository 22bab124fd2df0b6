import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import {asRecord, isRecord} from '../text/json.js';
import {readJson, wrongAnswer} from '../http/index.js';
import type {AnsweredResponse, HttpClient} from '../http/types.js';
import type {BuiltInUploadResult} from './built-in.js';
import type {
  BackendContext,
  BodyOptions,
  Bundle,
  BundleId,
  DeploymentItem,
  DeploymentStatus,
  ListRange,
  ListResult,
} from './contract.js';
import {backendTitle, type BuiltInName, type RuntimeBackend} from './names.js';

export type Answer = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON object from a response.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when the body is anything else.
 */
export function readAnswer(response: AnsweredResponse): Answer {
  const answer = readJson(response);
  if (!isRecord(answer)) throw wrongAnswer(response, 'is not a JSON object');
  return answer;
}

/**
 * Reads the answer to a request that changes something. An empty body is fine when the status says it all; it is
 * undefined then. A body that looks like an error is not an acceptance.
 * @param known members of a valid answer
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it is some other document.
 */
export function readAcceptance(response: AnsweredResponse, known: readonly string[]): Answer | undefined {
  const {statusCode, body} = response;
  const saysAll = statusCode === 202 || statusCode === 204;
  if (saysAll && body === '') return undefined;
  const answer = readAnswer(response);
  const has = (member: string) => (answer[member] ?? undefined) !== undefined;
  const isError = has('error') || has('errors');
  const isMessage = !saysAll && ['detail', 'message', 'title'].some(has) && !known.some(has);
  if (isError || isMessage) throw wrongAnswer(response, 'looks like an error');
  return answer;
}

/**
 * The result of an upload. Built-in backends use numbers as bundle IDs.
 * @param member holds the ID
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when the answer has none.
 */
export function uploadResult(raw: Answer, backend: BuiltInName, member: string): BuiltInUploadResult {
  const id = raw[member] ?? undefined;
  const bundleId = numericId(id);
  if (bundleId !== undefined) {
    return {bundleId, warnings: asTexts(raw['warnings']) ?? [], matches: asRecord(raw['matches']), raw};
  }
  const problem = id === undefined ? 'has no bundle ID' : 'has a bundle ID that is not an integer below 2^53';
  const title = backendTitle(backend);
  throw createError('ERR_RESPONSE_INVALID', `The ${title} backend accepted the upload, but its response ${problem}.`);
}

/**
 * Requests and reads a part of a list. The cursors are offsets.
 * @param names the members that hold the rows and their total
 * @param toItem converts a row; undefined when the row lacks a required member
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when it is not a list; it is never treated as an empty one.
 */
export async function fetchPage<Item>(
  http: HttpClient<AnsweredResponse>,
  url: string,
  {limit, cursor = '0'}: ListRange,
  names: {readonly rows: string; readonly total: string},
  toItem: (row: Answer) => Item | undefined,
): Promise<ListResult<Item>> {
  const offset = Number(cursor);
  const response = await http.get(url, {searchParams: {limit, offset}});
  const raw = readAnswer(response);
  const rows = raw[names.rows];
  if (!Array.isArray(rows)) throw wrongAnswer(response, `is not a list: there is no array "${names.rows}"`);
  const items = rows.map((row: unknown, index) => {
    const item = isRecord(row) ? toItem(row) : undefined;
    if (item === undefined) throw wrongAnswer(response, `has an invalid item at "${names.rows}[${String(index)}]"`);
    return item;
  });
  const told = asNumber(raw[names.total]);
  const total = told !== undefined && told >= 0 ? told : undefined;
  const next = offset + items.length;
  // A service that caps pages may have more after a short one.
  const isLast = items.length === 0 || next >= (total ?? Infinity);
  return {items, cursor: isLast ? undefined : String(next), total, raw};
}

/** Waits for the answer to a request that deploys. Both services refuse it with 409 while the target is busy. */
export async function fromTarget(request: Promise<AnsweredResponse>): Promise<AnsweredResponse> {
  try {
    return await request;
  } catch (error) {
    throw isRuntimeCliError(error) && error.status === 409 ? amendError(error, {code: 'ERR_TARGET_BUSY'}) : error;
  }
}

/** A server's words for the status of a deployment. */
export type StatusWords = ReadonlyMap<unknown, DeploymentStatus>;

/** The status of a deployment in a list. The server may omit it at first. */
export function listedStatus({status}: Answer, words: StatusWords): DeploymentItem['status'] {
  return words.get(status ?? undefined) ?? 'unknown';
}

/** @throws RuntimeCliError `ERR_RESPONSE_INVALID` if the status is not defined. */
export function deploymentStatus(backend: BuiltInName, answer: Answer, words: StatusWords): DeploymentStatus {
  const status = listedStatus(answer, words);
  if (status !== 'unknown') return status;
  throw createError(
    'ERR_RESPONSE_INVALID',
    `The ${backendTitle(backend)} backend returned an unknown deployment status: ${JSON.stringify(answer['status'])}.`,
  );
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A server's strings; anything else is shown as JSON. */
export function asTexts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
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

/**
 * Converts what a user typed to a bundle ID of a backend whose IDs are numbers.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when it is not a number.
 */
export function requestedBundleId(value: BundleId, backend: RuntimeBackend): number {
  const id = numericId(value);
  if (id !== undefined) return id;
  throw createError(
    'ERR_OPTION_INVALID',
    `"${String(value)}" is not a bundle ID of the ${backendTitle(backend)} backend: its IDs are numbers.`,
    {
      suggestions: [
        ['Use the ID that bundle:push printed, or "latest". Run ', {run: ['bundle:list']}, ' to list the bundles.'],
      ],
      details: {bundleId: value},
    },
  );
}

export function numericId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

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
