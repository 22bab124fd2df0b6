import type {IncomingMessage} from 'node:http';
import type {Answer} from '../answer.js';
import {openOwnFile} from '../store/data-folder.js';

/** A file to send. */
interface FileToAnswer {
  readonly file: string;
  /** Changes when the content does; without quotes. */
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers a GET with a file, the requested `Range` of it, or 304. Undefined if there is no such regular file; links do
 * not count.
 */
export async function fileAnswer(
  request: IncomingMessage,
  {file: path, etag, headers}: FileToAnswer,
): Promise<Answer | undefined> {
  const quoted = `"${etag}"`;
  const common = {...headers, etag: quoted, 'accept-ranges': 'bytes'};
  const file = await openOwnFile(path).catch(() => undefined);
  if (!file) return undefined;
  const stats = await file.stat();
  const matches = (request.headers['if-none-match'] ?? '').split(/\s*,\s*/).includes(quoted);
  const range = readByteRange(request, quoted, stats.size);
  if (matches || range === 'unsatisfiable') {
    await file.close();
    if (matches) return {status: 304, headers: common};
    return {status: 416, headers: {...common, 'content-range': `bytes */${String(stats.size)}`}};
  }
  if (range === undefined) return {status: 200, headers: common, body: {file, start: 0, length: stats.size}};
  const {start, end} = range;
  const contentRange = `bytes ${String(start)}-${String(end)}/${String(stats.size)}`;
  return {
    status: 206,
    headers: {...common, 'content-range': contentRange},
    body: {file, start, length: end - start + 1},
  };
}

/** The requested byte range. Multiple ranges and other units are ignored. */
function readByteRange(
  {headers}: IncomingMessage,
  etag: string,
  size: number,
): {readonly start: number; readonly end: number} | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const ifRange = headers['if-range'];
  if ((first === '' && last === '') || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'unsatisfiable' : {start, end};
}

/** Encodings of precompressed files, best first, with their file extensions. */
export const encodedFiles = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Weight of the plain file if the header does not mention it: acceptable, but less than anything mentioned. */
const unnamedIdentity = 0.0005;

/**
 * The one of `available` that an `Accept-Encoding` header prefers, the first among equals; undefined if it prefers the
 * plain file.
 */
export function chooseEncoding(header: string | undefined, available: readonly string[]): string | undefined {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').toLowerCase().split(',')) {
    const [, name, quality = '1'] = /^\s*(?:x-)?([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(item) ?? [];
    if (name !== undefined) weights.set(name, Number(quality));
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? weights.get('*') ?? unnamedIdentity;
  const [best] = available.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= identity ? best : undefined;
}

/** The content type of a file, by its extension. */
export async function mediaType(file: string): Promise<string> {
  const {default: types} = await import('mime');
  const type = types.getType(file) ?? 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
