import type {FailedAttempt, HttpClient, HttpOptions, Logger, OpenedStream, RequestBodies} from '../../http/types.js';
import type {TimeLimits} from '../../http/time-limits.js';
import type {Environment} from '../../text/platform.js';

/** Codes for `context.error`. The reference of errors says what each means, and which exit code it has. */
export type BackendErrorCode =
  | 'ERR_BUNDLE_UNKNOWN'
  | 'ERR_TARGET_BUSY'
  | 'ERR_UNAUTHORIZED'
  | 'ERR_FORBIDDEN'
  | 'ERR_OAUTH'
  | 'ERR_RATE_LIMITED'
  | 'ERR_REJECTED'
  | 'ERR_MAINTENANCE'
  | 'ERR_CAPABILITY_UNSUPPORTED'
  | 'ERR_SERVER'
  | 'ERR_RESPONSE_INVALID'
  | 'ERR_OUTCOME_UNKNOWN'
  | 'ERR_NETWORK'
  | 'ERR_TLS'
  | 'ERR_TIMEOUT'
  | 'ERR_OPTION_INVALID'
  | 'ERR_CREDENTIALS_MISSING'
  | 'ERR_ARCHIVE_INVALID'
  | 'ERR_FILE_CHANGED'
  | 'ERR_OUTPUT';

/** An error that the host shows like its own. The code makes it one; the class does not matter. */
export interface BackendError extends Error {
  /** Decides the exit code. */
  readonly code: BackendErrorCode;
  /** HTTP status that the service answered with. */
  readonly status?: number | undefined;
  /** What the user can do, one sentence each. */
  readonly suggestions?: readonly string[] | undefined;
}

/** What requests of `context.http` reject with, unless they are aborted. */
export interface HttpError extends Error {
  /** One of the codes of the reference of errors. */
  readonly code: string;
  /** HTTP status of the answer; undefined if there was none. */
  readonly status?: number | undefined;
}

/** What `check` gets: enough to examine settings, without network access. */
export interface BackendCheckContext<Options = unknown> {
  /** The validated options of this backend. */
  readonly options: Options;
  /** Absolute folder for relative paths in options: the configuration file's, else the working directory. */
  readonly configDirectory: string;
  /** Read variables by name. They can't be enumerated, so logging a context reveals no other secret. */
  readonly env: Environment;
  /** Its messages are masked, and shown like the host's own. */
  readonly logger: Logger;
  /** The project of the call, if it has one. */
  readonly projectSlug?: string | undefined;
  /** The target of the call, if it has one. */
  readonly targetSlug?: string | undefined;
}

/** State of an interrupted upload, from which the next push of the same archive to the same place resumes. */
export interface UploadState {
  /** Resolves to what an earlier push has saved; undefined if there is nothing to resume. */
  read(): Promise<unknown>;
  /**
   * Replaces what is saved. It survives the process once this resolves.
   * @param state Plain JSON without secrets, at most 64 KiB.
   * @throws RuntimeCliError `ERR_BACKEND_FAILED` if it is anything else.
   */
  write(state: unknown): Promise<void>;
  /** Removes what is saved, if it cannot be resumed. After a successful upload, the host removes it. */
  remove(): Promise<void>;
}

/** What `verify` gets: enough to ask the service whether it accepts the credentials. */
export interface BackendVerifyContext<Options = unknown> extends BackendCheckContext<Options> {
  /**
   * An HTTP client with rate-limit retries, proxies, timeouts, the user agent and redaction. It rejects with an
   * `HttpError` on every status other than 2xx and on every network failure.
   */
  readonly http: HttpClient;
  /**
   * Creates an error to throw, for what a status alone does not say. Secrets in it are masked.
   * @example if (error.status === 404) throw context.error('ERR_BUNDLE_UNKNOWN', `There is no bundle ${bundleId}.`);
   */
  error(
    code: BackendErrorCode,
    message: string,
    more?: {
      readonly status?: number | undefined;
      readonly suggestions?: readonly string[] | undefined;
      readonly cause?: unknown;
    },
  ): BackendError;
  /**
   * Waits before you retry a request that was made with another client, such as an SDK. The wait follows the rate-limit
   * rules and is reported like those of `http`. Turn off that client's own retries.
   * @returns Whether to retry. False if the status is not retried, no retries are left or `signal` is aborted.
   */
  waitToRetry(attempt: FailedAttempt): Promise<boolean>;
  /**
   * The user's time limits, in milliseconds, for another client such as an SDK: to connect, without any progress, and
   * for the answer after the last byte was sent. `http` observes them itself. The host ends a call if, for `requestMs`,
   * `http` sends nothing, nothing waits to retry, and no progress is reported.
   */
  readonly timeouts: TimeLimits;
  /** Cancels the operation: reject with `signal.reason`. */
  readonly signal: AbortSignal;
  /** Masks a secret that you learn during the call, such as an access token, everywhere from now on. */
  maskSecret(value: string | undefined): void;
}

/** What `login` gets. */
export interface BackendLoginContext<Options = unknown> extends BackendVerifyContext<Options> {
  /**
   * Asks the user for something in the terminal. Rejects if there is no terminal to ask in, or nothing is entered.
   * @param question `message`: what to ask for, such as `Email`. `secret`: read it without echo, and mask it.
   */
  prompt(question: {readonly message: string; readonly secret?: boolean | undefined}): Promise<string>;
  /** Opens an http(s) URL in the user's browser and prints it, in case that does not work. Waits for neither. */
  openUrl(url: URL | string): Promise<void>;
}

/** What every operation of a backend gets. */
export interface BackendContext<Options = unknown> extends BackendVerifyContext<Options> {
  readonly projectSlug: string;
  /** Creates bodies for `http` that can be resent and that report to `onProgress`. */
  readonly bodies: RequestBodies;
  /**
   * Requests something that is read as a stream, such as a download. Like any GET of `http`, it is retried until an
   * answer begins. Failures after that are yours to handle.
   * @param options `http`: a client extended from `http`. @default `http`
   */
  openStream(
    url: URL | string,
    options?: {readonly http?: HttpClient | undefined; readonly headers?: HttpOptions['headers'] | undefined},
  ): Promise<OpenedStream>;
  /**
   * For `upload` only: stores what is needed to resume it. No other push uses it at the same time. Undefined if nothing
   * is stored: then leave nothing behind when an upload fails.
   */
  readonly state?: UploadState | undefined;
  /**
   * Registers what to clean up if the operation is cancelled or makes no progress, such as the parts of an
   * upload. It is called once the call has rejected, and not if it resolves. It has 5 s, then `signal` is aborted and
   * the host goes on.
   */
  onAbort(cleanup: AbortCleanup): void;
  /** Reports the progress of an upload or download. Bodies from `bodies` do so themselves. */
  onProgress(progress: {readonly transferred: number; readonly total?: number | undefined}): void;
}

/** Cleans up after an abort. `http`: a client like the context's, which the abort does not affect. */
export type AbortCleanup = (context: {readonly http: HttpClient; readonly signal: AbortSignal}) => Promise<void>;

/** What `check` has found. */
export type CheckResult =
  | {
      /** Whether the backend has all settings that it needs. */
      readonly configured: true;
      /** Nothing. */
      readonly missing?: undefined;
    }
  | {
      /** Whether the backend has all settings that it needs. */
      readonly configured: false;
      /** What to set, in words for users. At least one. */
      readonly missing: readonly string[];
    };

/** What `login` has obtained. */
export interface LoginResult {
  /** At least one: the values of options in `secrets` and of variables in `secretEnv`, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** What `verify` has learned. */
export interface VerifyResult {
  /** Whose credentials they are, for users. */
  readonly account?: string | undefined;
}
