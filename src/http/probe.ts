import {isRuntimeCliError} from '../errors/index.js';
import {createHttpClient, type HttpClientOptions} from './client.js';
import {statusName} from './connection/attempt.js';
import {isFromBetween, serverMessage} from './errors/response-error.js';
import {createRedactor} from './redact.js';
import type {HttpClient} from './types.js';

export interface ProbeRequest {
  readonly url: URL;
  /** Whether a response with this status is the answer. A redirect that is none is followed. */
  accepts(status: number): boolean;
  /** Headers for the origin of the URL, such as those of a login. Their values are to be among the secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What the body must contain. */
  readonly text?: string | undefined;
  /** Maximum time for the page with its redirects, in milliseconds. */
  readonly timeoutMs: number;
}

export interface ProbeAnswer {
  /** HTTP status of the last response; undefined if there was none. */
  readonly status?: number | undefined;
  /** Why the page is not as it should be, to finish a sentence: `it returned 503 Service Unavailable`. */
  readonly problem?: string | undefined;
  /** Whether the site asked for a login, or a gateway answered, so that nothing is known about the page. */
  readonly isRefused?: boolean | undefined;
}

/** How the client of probes reaches the network. It has no credentials of its own. */
export type ProbeOptions = Pick<HttpClientOptions, 'env' | 'userAgent' | 'logger' | 'signal' | 'secrets'>;

/** Enough for a page and its redirects to log in, to a language and to a slash. */
const maxRedirects = 10;

/** Longer bodies, and those that are compressed in spite of the request, are no messages. */
const maxQuotedCharacters = 8 * 1024;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Looks at a page, with no other credentials than those of the request. Never throws for what the server does. */
export async function probe(request: ProbeRequest, options: ProbeOptions): Promise<ProbeAnswer> {
  const late = AbortSignal.timeout(request.timeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  const timeouts = {connectMs: request.timeoutMs, idleMs: request.timeoutMs};
  const redact = createRedactor(options.secrets ?? []);
  try {
    const http = await createHttpClient({...options, timeouts, signal});
    return await follow(request, http.extend({once: true}), redact);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (late.aborted) return {problem: `there was no complete response within ${String(request.timeoutMs / 1000)} s`};
    if (!isRuntimeCliError(error)) throw error;
    // The body may be too long to read.
    if (request.text === undefined && request.accepts(error.status ?? 0)) return {status: error.status};
    return {status: error.status, problem: `it could not be read: ${error.message}`};
  }
}

async function follow(
  {url: start, accepts, text, headers: own}: ProbeRequest,
  http: HttpClient,
  redact: (text: string) => string,
): Promise<ProbeAnswer> {
  // Uncompressed, so that a text can be found, and not from a cache between us and the site.
  const headers = {accept: '*/*', 'accept-encoding': 'identity', 'cache-control': 'no-cache', ...own};
  let url = start;
  for (let count = 0; ; count += 1) {
    const response = await http.get(url, {headers, throwHttpErrors: false});
    const {statusCode: status, headers: answered, body} = response;
    if (accepts(status)) {
      const isFine = text === undefined || body.includes(text);
      return {status, problem: isFine ? undefined : `its body does not contain ${JSON.stringify(text)}`};
    }
    const next = redirects.has(status) ? redirectOf(url, answered.location) : undefined;
    if (next === undefined) {
      const isText = answered['content-encoding'] === undefined && body.length <= maxQuotedCharacters;
      const explanation = isText ? serverMessage(body, redact, status) : undefined;
      return {
        status,
        problem: `it returned ${statusName(status)}${explanation === undefined ? '' : `: ${explanation}`}`,
        isRefused:
          (status === 401 || status === 403) &&
          (answered['www-authenticate'] !== undefined || isFromBetween(response, true)),
      };
    }
    if (next.origin !== url.origin) {
      const shown = redact(`${next.origin}${next.pathname}`);
      return {status, problem: `it redirects to another origin, ${shown}, which is not followed`};
    }
    if (count === maxRedirects) return {status, problem: `it redirects more than ${String(maxRedirects)} times`};
    url = next;
  }
}

function redirectOf(url: URL, location: string | undefined): URL | undefined {
  if (location === undefined || !URL.canParse(location, url.href)) return undefined;
  const next = new URL(location, url.href);
  next.username = '';
  next.password = '';
  return next;
}
