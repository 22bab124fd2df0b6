import {once} from 'node:events';
import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {readJson, wrongAnswer} from '../../http/index.js';
import {asRecord, asText, requestedBundleId} from '../answers.js';
import type {DownloadRequest, DownloadResume, DownloadStart} from '../contract.js';
import {connect, type LegacyContext} from './connection.js';

/** Streams the archive of a bundle from its presigned URL, the rest of it when the URL's server can. */
export async function downloadArchive(request: DownloadRequest, context: LegacyContext): Promise<void> {
  const {http, url} = connect(context);
  const id = requestedBundleId(request.bundleId, 'legacy');
  const response = await http.get(url('projects', context.projectSlug, 'bundles', String(id), 'download'));
  const address = httpUrl(asText(asRecord(readJson(response))['download_url']));
  if (address === undefined) throw wrongAnswer(response, 'has no http(s) URL in "download_url"');
  const archive = await openArchive(address, request, context);
  await pipeline(archive, request.writeTo, {signal: context.signal});
}

function httpUrl(text = ''): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The host "unix" would be a socket of this machine.
  return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== 'unix' ? url : undefined;
}

/** As for every GET: how often it is repeated when the answer was lost, or is a failure of the server. */
const maxRepeats = 2;

/** Asks for the archive until an answer begins: the client retries nothing for streams. */
async function openArchive(
  address: URL,
  {resume, onStart}: DownloadRequest,
  context: LegacyContext,
): Promise<Readable> {
  const headers = resume === undefined ? {} : {range: `bytes=${String(resume.offset)}-`, 'if-range': resume.validator};
  for (let retries = 0; ; retries += 1) {
    // The presigned URL is another origin: the client without credentials.
    const archive = context.http.stream(address, {headers});
    // An answer can fail as soon as it has begun, when nobody is there to be told yet.
    const failures: unknown[] = [];
    archive.on('error', (error) => failures.push(error));
    try {
      await once(archive, 'response');
      if (failures.length > 0) throw failures[0];
      const start = startOf(archive.response, resume);
      if (start === undefined)
        throw createError(
          'ERR_RESPONSE_INVALID',
          'The server sent a different part of the archive than was requested.',
        );
      onStart?.(start);
      return archive;
    } catch (error) {
      archive.destroy();
      if (!(await mayRetry(error, {retries, headers: archive.response?.headers}, context))) throw error;
    }
  }
}

async function mayRetry(
  error: unknown,
  {retries, headers}: {readonly retries: number; readonly headers: IncomingHttpHeaders | undefined},
  {waitToRetry}: LegacyContext,
): Promise<boolean> {
  if (!isRuntimeCliError(error)) return false;
  const {code, message: reason, status, cause} = error;
  const causeCode = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const isUnsent = causeCode === 'ECONNREFUSED' || causeCode === 'EAI_AGAIN';
  const isLost =
    code === 'ERR_TIMEOUT' || code === 'ERR_SERVER' || (code === 'ERR_NETWORK' && causeCode !== 'ENOTFOUND');
  const limited = isUnsent || (isLost && retries < maxRepeats);
  return waitToRetry({retries, reason, status, retryAfter: headers?.['retry-after'], limited});
}

/** Where the bytes of an answer begin; nothing when they are not those that were asked for. */
function startOf(
  {statusCode, headers}: Partial<Pick<IncomingMessage, 'statusCode' | 'headers'>> = {},
  resume: DownloadResume | undefined,
): DownloadStart | undefined {
  const {etag, 'content-range': contentRange = '', 'content-length': length} = headers ?? {};
  // A weak one says nothing about bytes.
  const validator = etag?.startsWith('"') ? etag : undefined;
  if (statusCode !== 206) return {offset: 0, total: length === undefined ? undefined : Number(length), validator};
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(contentRange) ?? [];
  if (resume === undefined || Number(first) !== resume.offset) return undefined;
  if (Number(last) < Number(first) || (whole !== '*' && Number(whole) <= Number(last))) return undefined;
  return {offset: resume.offset, total: whole === '*' ? undefined : Number(whole), validator: resume.validator};
}
