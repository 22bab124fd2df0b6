import type {IncomingMessage} from 'node:http';
import type {Answer} from '../answer.js';
import {openOwnFile} from '../store/own-paths.js';

/** A file to answer with. */
export interface FileToAnswer {
  readonly file: string;
  /** Changes when the content does; without quotes. */
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers a GET with a file, or with the part of it that `Range` asks for, or with 304 when the client has it. None when
 * there is no such regular file; a link is none.
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

/** The one range that a request asks for; several, or others than bytes, count as none. */
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
