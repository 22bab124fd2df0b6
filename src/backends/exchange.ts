import type {Writable} from 'node:stream';
import type {
  Environment,
  FailedAttempt,
  HttpClient,
  HttpOptions,
  Logger,
  OpenedStream,
  RequestBodies,
} from '../http/types.js';

/** An ability of a backend, besides uploading. It follows from the member that implements it. */
export type BackendCapability =
  'deploy' | 'promote' | 'wait' | 'list' | 'history' | 'targets' | 'logs' | 'download' | 'delete';

/** ID of an uploaded bundle. IDs never cross backends. */
export type BundleId = string | number;

/** Status of a deployment. */
export type DeploymentStatus = 'queued' | 'in_progress' | 'finished' | 'failed';

/** Identifies a deployment to the backend that made it. Plain JSON, opaque to the host. */
export interface DeploymentRef {
  /** ID shown to users and programs, if the server has one. */
  readonly deploymentId?: string | number | undefined;
  readonly [key: string]: unknown;
}

/** Codes for `context.error`. The reference of errors says what each means, and which exit code it has. */
export type BackendErrorCode =
  | 'ERR_BUNDLE_UNKNOWN'
  | 'ERR_TARGET_BUSY'
  | 'ERR_UNAUTHORIZED'
  | 'ERR_FORBIDDEN'
  | 'ERR_OAUTH'
  | 'ERR_RATE_LIMITED'
  | 'ERR_REJECTED'
  | 'ERR_CAPABILITY_UNSUPPORTED'
  | 'ERR_SERVER'
  | 'ERR_RESPONSE_INVALID'
  | 'ERR_OUTCOME_UNKNOWN'
  | 'ERR_NETWORK'
  | 'ERR_TIMEOUT'
  | 'ERR_OPTION_INVALID'
  | 'ERR_CREDENTIALS_MISSING'
  | 'ERR_ARCHIVE_INVALID'
  | 'ERR_FILE_CHANGED'
  | 'ERR_OUTPUT';

/** An error that the host shows like its own: any error with one of the codes is one. */
export interface BackendError extends Error {
  readonly code: BackendErrorCode;
  /** HTTP status that the service answered with. */
  readonly status?: number | undefined;
  /** What the user can do, one sentence each. */
  readonly suggestions?: readonly string[] | undefined;
}

/** What requests of `context.http` reject with, unless they are aborted. */
export interface HttpError extends Error {
  readonly code: string;
  /** HTTP status of the answer; undefined if there was none. */
  readonly status?: number | undefined;
}

/** What `check` gets: enough to examine settings, without network access. */
export interface BackendCheckContext<Options = unknown> {
  /** The validated options of this backend. */
  readonly options: Options;
  /**
   * Absolute folder that relative paths in options refer to: that of the configuration file, or the working directory
   * if there is none.
   */
  readonly configDirectory: string;
  readonly env: Environment;
  readonly logger: Logger;
  /** Set when the question is about a project. */
  readonly projectSlug?: string | undefined;
  /** Set when the question is about a target. */
  readonly targetSlug?: string | undefined;
}

/** What `check` has found. `missing`: what to set, in words for users. */
export type CheckResult =
  | {readonly configured: true; readonly missing?: never}
  | {readonly configured: false; readonly missing: readonly string[]};

/** What an upload leaves for the next push of the same archive to the same place, so that it can be resumed. */
export interface UploadState {
  /** Resolves to what an earlier push has saved; undefined if there is nothing to resume. */
  read(): Promise<unknown>;
  /**
   * Replaces what is saved. It survives the process once this resolves.
   * @param state Plain JSON without secrets, at most 64 KiB.
   * @throws RuntimeCliError `ERR_BACKEND_FAILED` if it is anything else.
   */
  write(state: unknown): Promise<void>;
  /** Removes what is saved, if it cannot be resumed. After an upload that succeeds, the host does. */
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
   * For `upload` only: what to resume it with. No other push uses it at the same time. Undefined if nothing is kept:
   * then leave nothing behind when an upload fails.
   */
  readonly state?: UploadState | undefined;
  /**
   * Registers what to clean up if the operation is cancelled, such as the parts of an upload. It is called once the
   * call has rejected, and not if it resolves. It has 5 s, then `signal` is aborted and the host goes on.
   */
  onAbort(cleanup: AbortCleanup): void;
  /** Reports the progress of an upload or download. Bodies from `bodies` do so themselves. */
  onProgress(progress: {readonly transferred: number; readonly total?: number | undefined}): void;
}

/** Cleans up after an abort. `http`: a client like that of the context, which the abort does not affect. */
export type AbortCleanup = (context: {readonly http: HttpClient; readonly signal: AbortSignal}) => Promise<void>;

/** Answer to an upload. */
export interface UploadResult {
  readonly bundleId: BundleId;
  readonly warnings?: readonly string[] | undefined;
  /** http(s) URL of a preview of the bundle. */
  readonly url?: string | undefined;
  /** The server's own response, unmodified, for `--json`. Plain JSON. @default undefined */
  readonly raw?: unknown;
}

/** Answer to a request to deploy. */
export interface DeployResult {
  readonly deployment: DeploymentRef;
  readonly status: DeploymentStatus;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** The server's own response, unmodified, for `--json`. Plain JSON. @default undefined */
  readonly raw?: unknown;
}

/** State of a deployment. */
export interface DeploymentState {
  readonly status: DeploymentStatus;
  readonly description?: string | undefined;
  /** 0 to 100. */
  readonly percentage?: number | undefined;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  /** http(s) URL of a log of the deployment. */
  readonly logUrl?: string | undefined;
  /** The server's own response, unmodified, for `--json`. Plain JSON. @default undefined */
  readonly raw?: unknown;
}

/** A bundle in a list. */
export interface BundleItem {
  readonly bundleId: BundleId;
  readonly message?: string | undefined;
  /** `ready`: deployable. `deleting`: being deleted. `unknown`: not reported by the server. */
  readonly status: 'ready' | 'preparing' | 'broken' | 'deleting' | 'unknown';
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  readonly createdBy?: string | undefined;
  /** Targets that run the bundle. */
  readonly inUseBy?: readonly string[] | undefined;
  /** Digest of the archive as it was uploaded, hex. */
  readonly sha256?: string | undefined;
  /** What else the service knows about it, for `--json`. Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A deployment in a list. */
export interface DeploymentItem {
  readonly deployment: DeploymentRef;
  /** Undefined if the server does not report it. */
  readonly bundleId?: BundleId | undefined;
  /** `unknown`: the server reports a status that is not defined. */
  readonly status: DeploymentStatus | 'unknown';
  readonly message?: string | undefined;
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  readonly createdBy?: string | undefined;
  /** What the server says about it, such as why it failed. */
  readonly description?: string | undefined;
  /** http(s) URL of a log of the deployment. */
  readonly logUrl?: string | undefined;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
}

/** A target in a list. */
export interface TargetItem {
  readonly targetSlug: string;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
}

/** Part of the log of a deployment. */
export interface DeploymentLog {
  /** In order, without line breaks. */
  readonly lines: readonly string[];
  /** Where the next part starts. Without one, the log is complete. */
  readonly cursor?: string | undefined;
}

/** Which part of a list the host asks for. */
export interface ListRange {
  /** How many items it wants. A part may have fewer, and more do no harm. */
  readonly limit: number;
  /** The `cursor` of the part before it. Undefined: the first part. */
  readonly cursor?: string | undefined;
}

/** What an interrupted download left behind. */
export interface DownloadResume {
  /** How many bytes of the archive are already there; more than 0. */
  readonly offset: number;
  /** The validator that `onStart` was called with. */
  readonly validator: string;
}

/** What is known about a download when its first byte arrives. */
export interface DownloadStart {
  /** Where in the archive the bytes start: at the offset of `resume`, or at 0. */
  readonly offset: number;
  /** Size of the whole archive, in bytes. */
  readonly total?: number | undefined;
  /**
   * Changes when the archive does, like a strong ETag. Without one, an interrupted download starts over. So does one
   * that goes on with another validator than that of `resume`.
   */
  readonly validator?: string | undefined;
  /** Digest of the whole archive as it was uploaded, hex. The host verifies the download against it. */
  readonly sha256?: string | undefined;
}

/** What to download. */
export interface DownloadRequest {
  readonly bundleId: BundleId;
  readonly writeTo: Writable;
  /** What to resume. A backend that cannot streams the whole archive. */
  readonly resume?: DownloadResume | undefined;
  /** Call it before the first byte. Without a call, the host expects the whole archive. */
  readonly onStart?: ((start: DownloadStart) => void) | undefined;
}

/** Part of a list, newest first. A short list, or one that is in memory, may be one part. */
export interface ListResult<Item> {
  readonly items: readonly Item[];
  /** Where the next part starts, such as an offset, or a token of the service. Without one, the list ends here. */
  readonly cursor?: string | undefined;
  /** The length of the whole list, if the server reports it. */
  readonly total?: number | undefined;
  /** The server's own response, unmodified, for `--json`. Plain JSON. @default undefined */
  readonly raw?: unknown;
}

/** What a service refuses anyway. The host says so before it builds or sends what would be refused. */
export interface BackendLimits {
  /** Maximum bytes of an archive. Checked before the upload. */
  readonly maxBundleBytes?: number | undefined;
  /** Maximum number of files in a bundle. Checked before the bundle is built. */
  readonly maxFiles?: number | undefined;
}
