import type {IncomingHttpHeaders} from 'node:http';
import type {Readable} from 'node:stream';

/** Receives messages for users. Never a secret. */
export interface Logger {
  /** For debugging. */
  debug(message: string): void;
  /** What is happening. */
  info(message: string): void;
  /** What needs attention. */
  warn(message: string): void;
}

/** Progress of sending one body. A retry starts again at 0, with the next `attempt`. */
export interface UploadProgress {
  /** Bytes of the body passed to the connection; of one in base64, the bytes that were encoded. */
  readonly transferred: number;
  /** Size of the whole body, in bytes; for base64, the size of its source. */
  readonly total: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A wait before a retry. */
export interface RetryEvent {
  /** Number of the upcoming retry, from 1. */
  readonly attempt: number;
  /** Maximum number of retries. */
  readonly maxRetries: number;
  /** How long it waits, in milliseconds. */
  readonly delayMs: number;
  /** What the server requested, if `maxDelayMs` cut it. */
  readonly requestedMs?: number | undefined;
  /** HTTP status of the response; undefined if the connection failed. */
  readonly status?: number | undefined;
  /** Whether the server asked to slow down. Otherwise it could not be reached, or failed. */
  readonly rateLimited?: boolean | undefined;
  /** Why, for users: `429 Too Many Requests`, `connection refused`. */
  readonly reason: string;
}

/** Options of a request. All but `repeatable` and `retryRateLimit` have their names and meanings from got. */
export interface HttpOptions {
  /** Any method, such as WebDAV's `PROPFIND`. @default 'GET' */
  readonly method?: string;
  /** Base of relative URLs, which then must not start with a slash. */
  readonly prefixUrl?: string | URL;
  /** Undefined values are left out. */
  readonly headers?: Record<string, string | string[] | undefined>;
  /** The query. Undefined values are left out. */
  readonly searchParams?: Record<string, string | number | boolean | undefined> | URLSearchParams;
  /** A JSON body. Only one of `json`, `form`, `body` and a body of `context.bodies` can be given. */
  readonly json?: unknown;
  /** A body like that of an HTML form. */
  readonly form?: Record<string, string | number | boolean | undefined>;
  /** The body as it is, without a content type. */
  readonly body?: string | Buffer;
  /** Whether a status other than 2xx rejects. If not, examine `statusCode`. @default true */
  readonly throwHttpErrors?: boolean;
  /**
   * Whether the request may be sent twice, so that it is sent again if its answer is lost or the server fails.
   * @default true for GET and HEAD, and in `getDeployment`, `listBundles`, `listDeployments` and `listTargets`
   */
  readonly repeatable?: boolean;
  /**
   * Whether the client waits and sends the request again if the service limits its rate. If not, a 429 is an answer
   * like any other, for services that also use it where waiting doesn't help. @default true
   */
  readonly retryRateLimit?: boolean;
  /** Cancels this request, in addition to the client's own signal. */
  readonly signal?: AbortSignal;
  /** Set by the bodies of `context.bodies`. */
  readonly context?: Record<string, unknown>;
}

/** A response whose body was read into memory. */
export interface HttpResponse {
  /** HTTP status. */
  readonly statusCode: number;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** As text. */
  readonly body: string;
}

/** A response that knows what it answers, for errors about it. */
export interface AnsweredResponse extends HttpResponse {
  readonly request: {readonly options: {readonly method: string; readonly url?: string | URL | undefined}};
}

/** A request under way. */
export interface HttpRequest<Response = HttpResponse> extends Promise<Response> {
  /** The body, parsed. Rejects with `ERR_RESPONSE_INVALID` when it is not JSON. */
  json<Answer = unknown>(): Promise<Answer>;
  /** The body as text. */
  text(): Promise<string>;
}

/**
 * The HTTP client. It is a subset of got with the same names; rely on nothing else. Redirects are not followed: they
 * reject like any other status. A response may have 8 MiB; use `openStream` for larger ones.
 */
export interface HttpClient<Response = HttpResponse> {
  /** Sends a request. */
  (url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** Sends a GET request. */
  get(url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** Sends a HEAD request. */
  head(url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** Sends a POST request. */
  post(url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** Sends a PUT request. */
  put(url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** Sends a PATCH request. */
  patch(url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** Sends a DELETE request. */
  delete(url: string | URL, options?: HttpOptions): HttpRequest<Response>;
  /** A client with more options, which are merged into the options of each request. */
  extend(options: HttpOptions): HttpClient<Response>;
}

/** What only the host can set. */
export interface HostHttpOptions extends HttpOptions {
  /** Whether to send each request once at most: no retry of any kind. @default false */
  readonly once?: boolean;
  /**
   * Whether no request changes what a user would look for, whatever its method, so that no outcome is unknown.
   * @default false
   */
  readonly changesNothing?: boolean;
  /** Called before each attempt. If it rejects, nothing is sent. */
  readonly beforeAttempt?: () => Promise<void>;
}

/** The host's own client. */
export interface StreamingClient extends HttpClient<AnsweredResponse> {
  extend(options: HostHttpOptions): StreamingClient;
  /** A response to read as a stream. Nothing is retried: `openStream` does that. */
  stream(url: string | URL, options?: HttpOptions): HttpStream;
}

/** A response that is read as a stream. It emits `response` when it begins. */
export interface HttpStream extends Readable {
  /** Undefined until it has begun. */
  readonly response?: Pick<HttpResponse, 'statusCode' | 'headers'> | undefined;
}

/** A response that has begun. */
export interface OpenedStream {
  /** Not decompressed. */
  readonly body: Readable;
  /** HTTP status, 2xx. */
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
}

/** A failed attempt of a client that asks whether to retry. */
export interface FailedAttempt {
  /** Number of retries made so far; 0 after the first attempt. */
  readonly retries: number;
  /** Why, for users: `503 SlowDown`. */
  readonly reason: string;
  /** HTTP status of the response; undefined if the connection failed. */
  readonly status?: number | undefined;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /**
   * Whether to retry regardless of the status, for services that signal rate limits in their own way. @default false
   */
  readonly retryable?: boolean | undefined;
}

/** Bytes that can be read repeatedly. */
export interface ByteSource {
  /** Exact number of bytes. */
  readonly size: number;
  /** Opens a stream. `start`, `end`: the first and the last byte to read, both included; by default all. */
  createReadStream(options?: {readonly start?: number | undefined; readonly end?: number | undefined}): Readable;
}

/** Bytes that are generated while they are read, from the start each time. */
export interface StreamSource {
  /** Exact number of bytes. */
  readonly size: number;
  /** Starts again at the first byte. */
  read(): AsyncIterable<Uint8Array>;
}

/** A file, whose pieces are read into the same memory. */
export interface FileSource {
  /** Exact number of bytes. */
  readonly size: number;
  /** Absolute. */
  readonly path: string;
}

/** Options that make this client send a body, on every attempt. Spread them into the call. */
export interface BodyOptions {
  /** Where the client finds the body. */
  readonly context: Record<string, unknown>;
  /** The type and the length of the body. */
  readonly headers: Record<string, string>;
}

/** Creates bodies that can be resent, with an exact Content-Length and progress. Nothing is held in memory. */
export interface RequestBodies {
  /** `multipart/form-data`: the file first, then the fields. */
  multipart(parts: {
    readonly file: {
      readonly name: string;
      readonly filename: string;
      readonly contentType: string;
      readonly source: ByteSource;
    };
    readonly fields: Readonly<Record<string, string>>;
  }): BodyOptions;
  /**
   * Raw bytes, all of a source or a part of it. The progress of a part is that of the whole, for uploads in parts that
   * are sent one after the other.
   * @param range `start`, `end`: the first and the last byte, both included as in `node:fs`; `contentType`:
   * `application/octet-stream` by default
   * @example
   * for (let start = 0; start < bundle.size; start += partBytes) {
   *   const end = Math.min(start + partBytes, bundle.size) - 1;
   *   await http.put(`${url}?offset=${start}`, bodies.file(bundle, {start, end}));
   * }
   */
  file(
    source: ByteSource,
    range?: {
      readonly contentType?: string | undefined;
      readonly start?: number | undefined;
      readonly end?: number | undefined;
    },
  ): BodyOptions;
}

type Parts = Parameters<RequestBodies['multipart']>[0];

/** A file and fields. */
export interface MultipartParts extends Pick<Parts, 'fields'> {
  readonly file: Omit<Parts['file'], 'source'> & {readonly source: ByteSource | FileSource};
}

/** Bodies that only built-in backends send. */
export interface BuiltInBodies extends RequestBodies {
  multipart(parts: MultipartParts): BodyOptions;
  /** A JSON object in which `field` contains `source` in base64, encoded while it is sent. */
  base64Json(body: {
    readonly value: Readonly<Record<string, unknown>>;
    readonly field: string;
    readonly source: ByteSource | FileSource | StreamSource;
  }): BodyOptions;
}

/** What a strategy can use to fetch a token: the client of the request that needs it. */
export interface AuthContext {
  /** It does not authorize its requests. */
  readonly http: HttpClient<AnsweredResponse>;
  /** Aborted with the request that needs the header. */
  readonly signal?: AbortSignal | undefined;
}

/** Authorizes requests. */
export interface AuthStrategy {
  /**
   * The value of the `Authorization` header.
   * @throws RuntimeCliError when it cannot get credentials.
   */
  getAuthorizationHeader(context?: AuthContext): Promise<string>;
  /**
   * Drops a cached token that the server refused although it accepted the strategy's credentials before. Strategies
   * without this method are not asked for another one. `header`: the one that was refused.
   */
  invalidate?(header?: string): void;
}
