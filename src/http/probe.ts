import {once} from 'node:events';
import {createError, isRuntimeCliError} from '../errors/index.js';
import {createHttpClient, type HttpClientOptions} from './client.js';
import {statusName} from './connection/call.js';
import {serverMessage} from './errors/response-error.js';
import {createRedactor} from './redact.js';
import type {HttpStream, StreamingClient} from './types.js';

/** A page to look at. */
export interface ProbeRequest {
  /** http(s). */
  readonly url: URL;
  /** Whether a response with this status is the answer. A redirect that is none is followed. */
  accepts(status: number): boolean;
  /** What the body must contain. */
  readonly text?: string | undefined;
  /** Maximum time for the page with its redirects, in milliseconds. */
  readonly timeoutMs: number;
}

/** What looking at a page found. */
export interface ProbeAnswer {
  /** HTTP status of the last response; undefined if there was none. */
  readonly status?: number | undefined;
  /** Why the page is not as it should be, to finish a sentence: `it returned 503 Service Unavailable`. */
  readonly problem?: string | undefined;
}

/** How the client of probes reaches the network. It has no credentials. */
export type ProbeOptions = Pick<HttpClientOptions, 'env' | 'userAgent' | 'logger' | 'signal' | 'secrets'>;

/** Enough for a page and its redirects to log in, to a language and to a slash. */
const maxRedirects = 10;

/** How much of a body is searched for a text. What is read is not kept. */
const maxSearchedBytes = 4 * 1024 * 1024;

/** Longer bodies are not quoted: a part of one could end in a part of a secret, which nothing would mask. */
const maxQuotedBytes = 8 * 1024;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Looks at a page, without credentials. Follows redirects to the same origin only.
 * @throws `signal.reason` when aborted; never for what the server does.
 */
export async function probe(request: ProbeRequest, options: ProbeOptions): Promise<ProbeAnswer> {
  const late = AbortSignal.timeout(request.timeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  const timeouts = {connectTimeoutMs: request.timeoutMs, idleTimeoutMs: request.timeoutMs};
  const redact = createRedactor(options.secrets ?? []);
  try {
    const limits = {...timeouts, maxResponseBytes: maxSearchedBytes, rateLimit: {maxRetries: 0}};
    const http = await createHttpClient({...options, ...limits, signal});
    return await follow(request, http, redact);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (late.aborted) return {problem: `there was no complete response within ${String(request.timeoutMs / 1000)} s`};
    if (!isRuntimeCliError(error)) throw error;
    return {status: error.status, problem: `it could not be read: ${error.message}`};
  }
}

async function follow(
  {url: start, accepts, text}: ProbeRequest,
  http: StreamingClient,
  redact: (text: string) => string,
): Promise<ProbeAnswer> {
  let url = start;
  for (let count = 0; ; count += 1) {
    const {body, status, location} = await open(url, http);
    try {
      if (accepts(status)) {
        const isFine = text === undefined || (await contains(body, text));
        return {status, problem: isFine ? undefined : `its body does not contain ${JSON.stringify(text)}`};
      }
      const next = redirects.has(status) ? redirectOf(url, location) : undefined;
      if (next === undefined) return {status, problem: await describeAnswer(status, body, redact)};
      if (next.origin !== url.origin) {
        const shown = redact(`${next.origin}${next.pathname}`);
        return {status, problem: `it redirects to another origin, ${shown}, which is not followed`};
      }
      if (count === maxRedirects) return {status, problem: `it redirects more than ${String(maxRedirects)} times`};
      url = next;
    } finally {
      body.destroy();
    }
  }
}

interface OpenedPage {
  readonly body: HttpStream;
  readonly status: number;
  readonly location: string | undefined;
}

async function open(url: URL, http: StreamingClient): Promise<OpenedPage> {
  // Uncompressed, so that a text can be found, and not from a cache between us and the site.
  const headers = {accept: '*/*', 'accept-encoding': 'identity', 'cache-control': 'no-cache'};
  const body = http.stream(url, {headers, throwHttpErrors: false});
  // A response can fail as soon as it has begun, before anyone listens for errors.
  const failures: unknown[] = [];
  body.on('error', (error) => failures.push(error));
  await once(body, 'response');
  if (failures.length > 0) throw failures[0];
  const {statusCode = 0, headers: answered} = body.response ?? {};
  return {body, status: statusCode, location: answered?.location};
}

function redirectOf(url: URL, location: string | undefined): URL | undefined {
  if (location === undefined || !URL.canParse(location, url.href)) return undefined;
  const next = new URL(location, url.href);
  next.username = '';
  next.password = '';
  return next;
}

/** Whether a body contains a text. Keeps no more of it than a chunk and the length of the text. */
async function contains(body: HttpStream, text: string): Promise<boolean> {
  const decoder = new TextDecoder();
  let end = '';
  let searched = 0;
  for await (const chunk of body) {
    const bytes = chunkBytes(chunk);
    const part = end + decoder.decode(bytes, {stream: true});
    if (part.includes(text)) return true;
    searched += bytes.length;
    if (searched >= maxSearchedBytes) return false;
    end = text.length > 1 ? part.slice(1 - text.length) : '';
  }
  return (end + decoder.decode()).includes(text);
}

function chunkBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw createError('ERR_RESPONSE_INVALID', 'The response is not read as bytes.');
}

/** `it returned 503 Service Unavailable: The database is down` */
async function describeAnswer(status: number, body: HttpStream, redact: (text: string) => string): Promise<string> {
  const returned = `it returned ${statusName(status)}`;
  const said = await quotable(body).then((text) => text && serverMessage(text, redact, status));
  return said ? `${returned}: ${said}` : returned;
}

/** A short body as text. What cannot be read is not quoted. */
async function quotable(body: HttpStream): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let read = 0;
  try {
    for await (const chunk of body) {
      const bytes = chunkBytes(chunk);
      read += bytes.length;
      if (read > maxQuotedBytes) return undefined;
      chunks.push(bytes);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}
