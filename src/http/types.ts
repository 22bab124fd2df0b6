import type {IncomingHttpHeaders} from 'node:http';
import type {Got, OptionsInit} from 'got';
import type {Readable} from 'node:stream';

/** Where messages for people go. Never receives a secret. */
export interface Logger {
  /** For whoever looks for a fault. */
  debug(message: string): void;
  /** What happens. */
  info(message: string): void;
  /** What should be looked at. */
  warn(message: string): void;
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Progress of sending one body. A retry starts again at 0, with the next `attempt`. */
export interface UploadProgress {
  /** Bytes of the body handed to the connection. */
  readonly transferred: number;
  /** Bytes of the whole body. */
  readonly total: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A wait before a request is sent again. */
export interface RetryEvent {
  /** The retry about to be made, from 1. */
  readonly attempt: number;
  /** How many retries there may be. */
  readonly maxRetries: number;
  readonly delayMs: number;
  /** What the server asked for, when `maxDelayMs` cut it short. */
  readonly requestedMs?: number | undefined;
  /** HTTP status of the answer; none when the connection failed. */
  readonly status?: number | undefined;
  /** Why, for people: `429 Too Many Requests`, `connection refused`. */
  readonly reason: string;
}

/** An answer that has begun. */
export interface OpenedStream {
  readonly body: Readable;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** An attempt to send a request that failed, in a client that asks whether to retry. */
export interface FailedAttempt {
  /** Retries of the request made so far: 0 after the first attempt. */
  readonly retries: number;
  /** Why, for people: `503 SlowDown`. */
  readonly reason: string;
  /** HTTP status of the answer; none when the connection failed. */
  readonly status?: number | undefined;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** Retry whatever the status is: the service has its own way to limit the rate. @default false */
  readonly limited?: boolean | undefined;
}

/** Bytes that can be read from the start as often as needed. */
export interface ByteSource {
  /** Exact number of bytes. */
  readonly size: number;
  /** Opens them. `start`: the first byte wanted, 0 by default. */
  createReadStream(options?: {readonly start?: number | undefined}): Readable;
  /** Read in place of a stream when it is there: from the first byte on. */
  read?(): AsyncIterable<Uint8Array>;
}

/** Bytes that are made while they are read, from the start each time. */
export interface StreamSource {
  /** Exact number of bytes. */
  readonly size: number;
  /** Begins again at the first byte. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Options for a request of the client that make it send a body, again for every attempt. Spread them into the call.
 * They are for this client alone: the memory of a chunk is used again once the connection has taken it.
 */
export type BodyOptions = Required<Pick<OptionsInit, 'context' | 'headers'>>;

/** Makes bodies that can be sent again, with an exact Content-Length and progress. Nothing is held in memory. */
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
  /** A JSON object, of which `field` is the base64 of `source`, encoded while it is sent. */
  base64Json(body: {
    readonly value: Readonly<Record<string, unknown>>;
    readonly field: string;
    readonly source: ByteSource | StreamSource;
  }): BodyOptions;
  /** A JSON value. */
  json(value: unknown): BodyOptions;
  /** The bytes themselves. `contentType` is `application/octet-stream` by default. */
  file(source: ByteSource, contentType?: string): BodyOptions;
}

/** What a strategy may use to fetch a token: the client of the request that needs it. */
export interface AuthContext {
  readonly http: Got;
  readonly signal?: AbortSignal | undefined;
}

/** How a request is authorized. */
export interface AuthStrategy {
  /**
   * The value of the `Authorization` header.
   * @throws RuntimeCliError when no credentials can be had.
   */
  getAuthorizationHeader(context?: AuthContext): Promise<string>;
  /**
   * Forgets a cached token: the server refused it after it had accepted the strategy's credentials. Strategies without
   * it are not asked again then. `header`: the one that was refused.
   */
  invalidate?(header?: string): void;
  /**
   * Whether a header that the strategy gave has expired since, by its own clock. A 401 is not a
   * refusal then: another header is asked for, and the request is sent once more. Strategies without it never say so.
   */
  hasExpired?(header: string): boolean;
}
