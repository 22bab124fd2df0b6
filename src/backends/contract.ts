import type {Writable} from 'node:stream';
import type {StandardSchemaV1} from '@standard-schema/spec';
import type {Bundle, BundleFormat, StreamedBundle} from '../bundle/types.js';
import type {Environment, FailedAttempt, HttpClient, Logger, OpenedStream, RequestBodies} from '../http/types.js';

export type {
  Bundle,
  BundleConfig,
  BundleEntry,
  BundleFile,
  BundleFileCategory,
  BundleFormat,
  BundleV2MatchMode,
  BundleV2Metadata,
  StreamedBundle,
} from '../bundle/types.js';
export type {
  BodyOptions,
  ByteSource,
  Environment,
  FailedAttempt,
  HttpClient,
  HttpOptions,
  HttpRequest,
  HttpResponse,
  HttpStream,
  Logger,
  OpenedStream,
  RequestBodies,
  StreamSource,
} from '../http/types.js';

/** Version of this contract. A backend with any other version is refused. */
export const BACKEND_API_VERSION = 1;

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

/** The server's report of which files the patterns matched, unmodified. */
export type BundleMatches = Readonly<Record<string, unknown>>;

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
   * An HTTP client with rate-limit retries, proxies, timeouts, the user agent and redaction. It rejects with a
   * RuntimeCliError on every status other than 2xx and on every network failure.
   */
  readonly http: HttpClient;
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
    options?: {readonly http?: HttpClient | undefined; readonly headers?: Readonly<Record<string, string>> | undefined},
  ): Promise<OpenedStream>;
  /** Whether the host will wait for the deployment that an upload or `deploy` requests. @default false */
  readonly wait?: boolean | undefined;
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
  readonly matches?: BundleMatches | undefined;
  /** Set when the upload was deployed in the same step. */
  readonly deployment?: DeploymentRef | undefined;
  /** http(s) URL of the target if the upload was deployed, otherwise of a preview of the bundle. */
  readonly url?: string | undefined;
  /** The server's own response, unmodified. */
  readonly raw: unknown;
}

/** Answer to a request to deploy. */
export interface DeployResult {
  readonly deployment: DeploymentRef;
  readonly status: DeploymentStatus;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly raw: unknown;
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
  readonly raw: unknown;
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
  /** Whether there will be no more lines. @default false */
  readonly done?: boolean | undefined;
}

/** Part of a list: `limit` items, starting at `offset`. */
export interface ListRange {
  readonly limit: number;
  readonly offset: number;
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
  /** Changes when the archive does, like a strong ETag. Without one, an interrupted download starts over. */
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

/** Part of a list, newest first, and its total length if the server reports it. */
export interface ListResult<Item> {
  readonly items: readonly Item[];
  readonly total?: number | undefined;
  readonly raw: unknown;
}

/** What a service refuses anyway. The host says so before it builds or sends what would be refused. */
export interface BackendLimits {
  /** Maximum bytes of an archive. Checked before the upload. */
  readonly maxBundleBytes?: number | undefined;
  /** Maximum number of files in a bundle. Checked before the bundle is built. */
  readonly maxFiles?: number | undefined;
}

/**
 * A service that accepts bundles. It is a plain object and recognized by its shape, because host and plugin may load
 * different copies of any package. Its optional functions are its capabilities. Other members are ignored.
 */
export interface Backend<Options = unknown> {
  readonly apiVersion: typeof BACKEND_API_VERSION;
  /** `^[a-z][a-z0-9-]{0,31}$`; `auto`, `api` and `legacy` are reserved. */
  readonly name: string;
  /** One line for `backend:list`. */
  readonly summary: string;
  /** Accepted formats, in order of preference. */
  readonly formats: readonly BundleFormat[];
  /**
   * `number`: bundle IDs are integers. The host parses what the user typed, and refuses anything else before sending a
   * request. @default IDs are passed on as typed
   */
  readonly bundleIds?: 'number' | undefined;
  /**
   * Formats whose upload also deploys when there is a target. The host waits for the target to be free before such an
   * upload. @default none
   */
  readonly deploysOnUpload?: readonly BundleFormat[] | undefined;
  /** Limits of the service. @default none */
  readonly limits?: BackendLimits | undefined;
  /** Validates `backends.<name>` of the configuration file, merged with `--backend-option`. */
  readonly options?: StandardSchemaV1<unknown, Options> | undefined;
  /** Names of options to mask everywhere. */
  readonly secrets?: readonly string[] | undefined;
  /** Names of environment variables that it, or a library of its, reads: their values are masked everywhere. */
  readonly secretEnv?: readonly string[] | undefined;
  /** Checks the configuration, without using the network. */
  check(
    context: BackendCheckContext<Options>,
  ): Promise<
    | {readonly configured: true; readonly missing?: never}
    | {readonly configured: false; readonly missing: readonly string[]}
  >;
  /**
   * Logs the user in, for `auth:login`. The host stores the secrets that it returns, and passes them in as options and
   * variables from then on. Those options must be optional in the schema. Without this member, the host asks for the
   * options in `secrets`, or else for the variables in `secretEnv`.
   */
  login?(context: BackendLoginContext<Options>): Promise<LoginResult>;
  /**
   * Asks the service whether it accepts the credentials, with requests that change nothing. Rejects if it does not,
   * with `ERR_UNAUTHORIZED` or `ERR_FORBIDDEN`. Only called if `check` finds nothing missing.
   */
  verify?(context: BackendVerifyContext<Options>): Promise<VerifyResult>;
  /** Uploads a bundle. `context.targetSlug` is for backends whose upload also deploys; others ignore it. */
  upload(bundle: Bundle, context: BackendContext<Options>): Promise<UploadResult>;
  /**
   * Uploads a v1 bundle that is packed while it is sent, so there is no file, and no digest until the end. Backends
   * without this member, and prebuilt archives, use `upload` with an archive file.
   */
  uploadStream?(bundle: StreamedBundle, context: BackendContext<Options>): Promise<UploadResult>;
  /** Capability `deploy`. Resolves when the server has accepted the request. */
  deploy?(
    request: {readonly bundleId: BundleId; readonly targetSlug: string},
    context: BackendContext<Options>,
  ): Promise<DeployResult>;
  /**
   * Capability `promote`, for services where promoting is more than deploying the same bundle again. Deploys to the
   * target `to` the bundle that the target `from` runs, and refuses if that is another one by now. Resolves when the
   * server has accepted the request. Without this member, the host calls `deploy`.
   */
  promote?(
    request: {readonly bundleId: BundleId; readonly from: string; readonly to: string},
    context: BackendContext<Options>,
  ): Promise<DeployResult>;
  /** Capability `wait`. Checks once; the host does the polling. */
  getDeployment?(deployment: DeploymentRef, context: BackendContext<Options>): Promise<DeploymentState>;
  /** Capability `list`. */
  listBundles?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<BundleItem>>;
  /** Capability `history`. */
  listDeployments?(
    request: ListRange & {readonly targetSlug: string},
    context: BackendContext<Options>,
  ): Promise<ListResult<DeploymentItem>>;
  /** Capability `targets`. */
  listTargets?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<TargetItem>>;
  /**
   * Capability `logs`. Resolves to what there is of a log from `cursor` on, or from its start without one. No lines and
   * a cursor: there may be more later, and the host asks again.
   */
  readLogs?(
    request: {readonly deployment: DeploymentRef; readonly cursor?: string | undefined},
    context: BackendContext<Options>,
  ): Promise<DeploymentLog>;
  /** Capability `download`. Streams the archive into `writeTo`. */
  download?(request: DownloadRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `delete`. */
  deleteBundle?(request: {readonly bundleId: BundleId}, context: BackendContext<Options>): Promise<void>;
}

/** What the `mycli:backends` hook of a plugin is called with. */
export interface BackendsHookOptions {
  readonly host: {
    /** Version of mycli. */
    readonly version: string;
    /** The version of this contract that the host requires. */
    readonly apiVersion: number;
  };
}

/** What the `mycli:backends` hook of a plugin returns. */
export interface BackendsHookResult {
  readonly backends: readonly Backend[];
}

/** The type of a plugin's `mycli:backends` hook. */
export type BackendsHook = (options: BackendsHookOptions) => Promise<BackendsHookResult>;

/** Something that a command is about to change on a service. */
export interface PlannedWrite {
  /** `push`: uploads `bundle` unless it is undefined, and deploys it if there is a target. */
  readonly operation: 'push' | 'deploy' | 'promote' | 'rollback' | 'delete';
  /** Name of the backend. */
  readonly backend: string;
  readonly projectSlug: string;
  /** The target that is deployed to. Undefined if nothing is deployed. */
  readonly targetSlug?: string | undefined;
  /** The bundles to deploy or delete. Empty if the bundle is yet to be uploaded. */
  readonly bundleIds: readonly BundleId[];
  /** The bundle to upload. Undefined if nothing is uploaded. */
  readonly bundle?:
    | {
        readonly format: BundleFormat;
        readonly message: string;
        /** Size of the archive, in bytes. Undefined if it is not built, as with `--dry-run`. */
        readonly size?: number | undefined;
        /** Digest of the archive, hex. Undefined if it is packed while it is sent, or not built. */
        readonly sha256?: string | undefined;
      }
    | undefined;
}

/**
 * The type of a plugin's `mycli:before-write` hook, which is called before anything is sent that changes something. If
 * it returns a `veto`, rejects, or does not resolve within 60 s, nothing is changed and the command fails.
 * @param write `dryRun`: nothing will be written, whatever the hook returns. `signal`: aborted when the answer is no
 * longer awaited.
 * @returns Nothing to allow the change; `veto`: why it must not be made, as a sentence for users.
 */
export type BeforeWriteHook = (
  write: PlannedWrite & {readonly dryRun: boolean; readonly signal: AbortSignal},
) => Promise<{readonly veto: string} | undefined>;

/** What came of a change that was allowed. */
export interface WriteOutcome extends PlannedWrite {
  /**
   * `succeeded`: what the command was to do is done; without `--wait`, a deployment has only been accepted. `unknown`:
   * it may have been carried out, or goes on. `interrupted`: a signal ended the command.
   */
  readonly outcome: 'succeeded' | 'failed' | 'unknown' | 'interrupted';
  /** Set unless it succeeded. */
  readonly error?: {readonly code: string; readonly message: string} | undefined;
  /** The bundle that was uploaded or is to be deployed, or the bundles that were deleted. */
  readonly bundleIds: readonly BundleId[];
  /** The deployment, if one was accepted. */
  readonly deployment?: DeploymentRef | undefined;
  /** Its status when it was last checked. */
  readonly status?: DeploymentStatus | undefined;
  /** http(s) URL of the target or of the bundle, if the backend reports one. */
  readonly url?: string | undefined;
}

/**
 * The type of a plugin's `mycli:after` hook, which is called once after each change that was allowed, with its outcome.
 * It has 5 s. Its failures are warnings, and change neither the outcome nor the exit code.
 */
export type AfterHook = (outcome: WriteOutcome & {readonly signal: AbortSignal}) => Promise<void>;

/** Types a backend; returns it unchanged. */
export function defineBackend<Options>(backend: Backend<Options>): Backend<Options> {
  return backend;
}

/** What `backendError` returns: a plain shape that the host converts to its own error class. */
export interface BackendError extends Error {
  readonly backendError: true;
  readonly code: string;
  readonly status?: number | undefined;
  readonly suggestions?: readonly string[] | undefined;
}

/**
 * Creates an error with a code from the catalogue (`ERR_...`) for a backend to throw. Unknown codes become
 * `ERR_BACKEND_FAILED`.
 */
export function backendError(fields: {
  readonly code: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly suggestions?: readonly string[] | undefined;
}): BackendError {
  const {message, ...rest} = fields;
  return Object.assign(new Error(message), {backendError: true as const, ...rest});
}
