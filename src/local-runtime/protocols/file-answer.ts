import type {IncomingMessage} from 'node:http';
import type {Answer, Compression} from '../answer.js';
import {openOwnFile} from '../store/data-folder.js';
import {encodedFiles, undefinedIfAbsent, type OpenFile} from './site-files.js';

/** A file to send. */
interface FileToAnswer {
  readonly file: string;
  /** Changes when the content does; without quotes. */
  readonly etag: string;
  readonly modified: Date;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether to compress it for a client that accepts that. */
  readonly isCompressible?: boolean;
  /** Opens it. @default without keeping anything in memory */
  readonly open?: ((file: string) => Promise<OpenFile | undefined>) | undefined;
}

/** Smaller files are not worth compressing: they fit into one packet as they are. */
const minimumToCompress = 1024;

/**
 * Answers a GET with a file, the requested `Range` of it, or 304. Undefined if there is no such regular file; links do
 * not count.
 */
export async function fileAnswer(
  request: IncomingMessage,
  {file, etag, modified, headers, isCompressible = false, open = openUncached}: FileToAnswer,
): Promise<Answer | undefined> {
  const opened = await open(file);
  if (!opened) return undefined;
  const {size} = opened;
  const varies = isCompressible && size >= minimumToCompress;
  // A range is one of the file itself. Ranges of what is compressed anew for each request would fit together by chance.
  const compression = varies && rangeOf(request) === undefined ? chooseCompression(request) : undefined;
  const quoted = `"${etag}${compression === undefined ? '' : `-${compression}`}"`;
  const common = {
    ...headers,
    etag: quoted,
    'last-modified': modified.toUTCString(),
    ...(varies && {vary: 'accept-encoding'}),
    ...(compression === undefined ? {'accept-ranges': 'bytes'} : {'content-encoding': compression}),
  };
  const isKnown = hasCurrent(request, quoted, modified);
  const range = readByteRange(request, quoted, size);
  if (isKnown || range === 'unsatisfiable') {
    if ('file' in opened) await opened.file.close();
    if (isKnown) return {status: 304, headers: common};
    return {status: 416, headers: {...common, 'content-range': `bytes */${String(size)}`}};
  }
  if (range === undefined) return {status: 200, headers: common, body: await wholeBody(opened, compression)};
  const {start, end} = range;
  const contentRange = `bytes ${String(start)}-${String(end)}/${String(size)}`;
  return {
    status: 206,
    headers: {...common, 'content-range': contentRange},
    body:
      'file' in opened ? {file: opened.file, start, length: end - start + 1} : opened.content.subarray(start, end + 1),
  };
}

async function openUncached(path: string): Promise<OpenFile | undefined> {
  const file = await openOwnFile(path).catch(undefinedIfAbsent);
  return file && {file, size: (await file.stat()).size};
}

async function wholeBody(opened: OpenFile, compression: Compression | undefined): Promise<Answer['body']> {
  if ('file' in opened) return {file: opened.file, start: 0, length: opened.size, compression};
  return compression === undefined ? opened.content : opened.compressed(compression);
}

/** Whether the client has what it asks for, by its tag or, without any, by its date (RFC 9110, 13.2.2). */
function hasCurrent({headers}: IncomingMessage, etag: string, modified: Date): boolean {
  const {'if-none-match': tags, 'if-modified-since': since} = headers;
  if (tags !== undefined) {
    const known = tags.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return known.includes(etag) || known.includes('*');
  }
  // Dates of HTTP have no milliseconds.
  return since !== undefined && Math.floor(modified.getTime() / 1000) * 1000 <= Date.parse(since);
}

/** The `Range` header, which means something with GET only (RFC 9110, 14.2). */
function rangeOf({method, headers}: IncomingMessage): string | undefined {
  return method === 'GET' ? headers.range : undefined;
}

/**
 * The requested byte range. Multiple ranges, invalid ones and other units are ignored, and so is a range on the
 * condition of a date, which cannot tell two deployments in the same second apart.
 */
function readByteRange(
  request: IncomingMessage,
  etag: string,
  size: number,
): {readonly start: number; readonly end: number} | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(rangeOf(request) ?? '') ?? [];
  const ifRange = request.headers['if-range'];
  const isInvalid = last === '' ? first === '' : first !== '' && Number(first) > Number(last);
  if (isInvalid || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'unsatisfiable' : {start, end};
}

function chooseCompression({headers}: IncomingMessage): Compression | undefined {
  const compressions = encodedFiles.map(([encoding]) => encoding);
  const chosen = chooseEncoding(headers['accept-encoding'], compressions);
  return compressions.find((compression) => compression === chosen);
}

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

/** Whether compression makes content of a type smaller. */
export function isCompressibleType(type: string): boolean {
  return compressibleType.test(type);
}

const compressibleType =
  /^text\/|[/+](?:json|xml)\b|^application\/(?:javascript|wasm|rtf|sql|x-sh)\b|^font\/(?:ttf|otf|collection)$|^image\/(?:bmp|vnd\.microsoft\.icon)$/;

/**
 * Names that bundlers give to files, with a hash of their content: in hex (webpack, Parcel), in base32 (esbuild,
 * Angular) and in base64 (Vite, Rollup). Digits before letters set it apart from words, years and numbered names.
 */
const hashedNames = [
  /(?:^|[-._])(?=\d*[a-f])(?=[a-f]*\d)[\da-f]{8,64}(?:\.[a-z]\w*)+$/,
  /[-.](?=[A-Z2-7]*[2-7][A-Z])[A-Z2-7]{8}(?:\.[a-z]\w*)+$/,
  /[-.](?=[\w-]*\d[A-Za-z])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{8}(?:\.[a-z]\w*)+$/,
];
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

/** Folders in which frameworks put nothing but files that never change: those of SvelteKit and Next.js. */
const immutableFolder = /(?:^|\/)(?:_app\/immutable|[_.]next\/static)\//;

/**
 * How long a file of a bundle may be kept without asking again: forever if a change of it would change its name, and
 * not at all otherwise.
 */
export function cacheControl(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1);
  const isImmutable =
    !file.endsWith('.html') &&
    (immutableFolder.test(name) || (hashedNames.some((pattern) => pattern.test(file)) && !uuid.test(file)));
  return isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
}
