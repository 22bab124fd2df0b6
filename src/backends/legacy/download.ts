import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createError} from '../../errors/index.js';
import {wrongAnswer} from '../../http/index.js';
import {legacy} from '../../wire/legacy.js';
import {readAnswer} from '../answers.js';
import type {DownloadRequest, DownloadResume, DownloadStart, OpenedStream} from '../contract.js';
import {connectLegacy, type LegacyContext} from './connection.js';

/** Streams a bundle's archive from its presigned URL, or only the rest of it if the server supports that. */
export async function downloadArchive(request: DownloadRequest, context: LegacyContext): Promise<void> {
  const {downloadBundle} = legacy.operations;
  const response = await connectLegacy(context)(downloadBundle, {bundleId: String(request.bundleId)});
  const address = httpUrl(readAnswer(response, downloadBundle).answer.download_url);
  if (address === undefined) throw wrongAnswer(response, 'has no http(s) URL in "download_url"');
  const archive = await openArchive(address, request, context);
  await pipeline(archive, request.writeTo, {signal: context.signal});
}

function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The host "unix" would mean a local socket.
  return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== 'unix' ? url : undefined;
}

async function openArchive(
  address: URL,
  {resume, onStart}: DownloadRequest,
  context: LegacyContext,
): Promise<Readable> {
  const headers = resume === undefined ? {} : {range: `bytes=${String(resume.offset)}-`, 'if-range': resume.validator};
  // The presigned URL has another origin, so this client sends no credentials.
  const {body, ...answer} = await context.openStream(address, {headers});
  try {
    const start = startOf(answer, resume);
    if (start === undefined)
      throw createError('ERR_RESPONSE_INVALID', 'The server sent a different part of the archive than was requested.');
    onStart?.(start);
    return body;
  } catch (error) {
    body.destroy();
    throw error;
  }
}

/** The offset of an answer's first byte; undefined if that is not what was requested. */
function startOf(
  {status, headers}: Pick<OpenedStream, 'status' | 'headers'>,
  resume: DownloadResume | undefined,
): DownloadStart | undefined {
  const {etag, 'content-range': contentRange = '', 'content-length': length} = headers;
  // A weak ETag does not guarantee equal bytes.
  const validator = etag?.startsWith('"') ? etag : undefined;
  if (status !== 206) return {offset: 0, total: length === undefined ? undefined : Number(length), validator};
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(contentRange) ?? [];
  if (resume === undefined || Number(first) !== resume.offset) return undefined;
  if (Number(last) < Number(first) || (whole !== '*' && Number(whole) <= Number(last))) return undefined;
  // Some servers leave out the ETag of a part. If it has another one, or a weak one, the host starts over.
  return {offset: resume.offset, total: whole === '*' ? undefined : Number(whole), validator: etag ?? resume.validator};
}
