import type {Writable} from 'node:stream';
import type {StandardSchemaV1} from '@standard-schema/spec';
import type {Got} from 'got';
import type {Bundle, BundleFormat, StreamedBundle} from '../bundle/types.js';
import type {Environment, FailedAttempt, Logger, OpenedStream, RequestBodies} from '../http/types.js';

export type {
  Bundle,
  BundleConfig,
  BundleFile,
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
  Logger,
  OpenedStream,
  RequestBodies,
  StreamSource,
} from '../http/types.js';

/** Version of this contract. A backend that states another one is refused. */
export const BACKEND_API_VERSION = 1;

/** An ability of a backend, besides uploading. */
export type BackendCapability = 'deploy' | 'wait' | 'list' | 'history' | 'download' | 'delete';

/** Id of an uploaded bundle. Ids never cross backends. */
export type BundleId = string | number;

/** Status of a deployment. */
export type DeploymentStatus = 'queued' | 'in_progress' | 'finished' | 'failed';

/** Names a deployment to the backend that made it: plain JSON, opaque to the host. */
export interface DeploymentRef {
  /** Id shown to people and programs, if the server has one. */
  readonly deploymentId?: string | number | undefined;
  readonly [key: string]: unknown;
}

/** Files that the server found for the patterns; whatever the server sent. */
export type BundleMatches = Readonly<Record<string, unknown>>;

/** What `check` is given: enough to look at settings, nothing to reach the network with. */
export interface BackendCheckContext<Options = unknown> {
  /** The validated options of this backend. */
  readonly options: Options;
  readonly env: Environment;
  readonly logger: Logger;
  /** Set when the question is about a project. */
  readonly projectSlug?: string | undefined;
  /** Set when the question is about a target. */
  readonly targetSlug?: string | undefined;
}

/** What every operation of a backend is given. */
export interface BackendContext<Options = unknown> extends BackendCheckContext<Options> {
  readonly projectSlug: string;
  /**
   * A got instance with the rate-limit hooks, proxies, time-outs, user agent and redaction. It rejects with a
   * RuntimeCliError for every answer that is not 2xx and for every failure of the network.
   */
  readonly http: Got;
  /** Bodies for `http` that can be sent again and report their progress to `onProgress`. */
  readonly bodies: RequestBodies;
  /**
   * Asks for an answer that is read as a stream, such as a download. It is asked for again as every other GET of `http`
   * is, until an answer begins; what fails after that is yours.
   * @param options `http`: a client that `http` was extended to. @default `http`
   */
  openStream(
    url: URL | string,
    options?: {readonly http?: Got | undefined; readonly headers?: Readonly<Record<string, string>> | undefined},
  ): Promise<OpenedStream>;
  /**
   * Waits before a request of another client than `http`, an SDK's for example, is sent again: as long as the
   * rate-limit rules say, told as the waits of `http` are. The other client's own retries must be off.
   * @returns Whether to send it again. False: its status is not retried, no retries are left, or `signal` is aborted.
   */
  waitToRetry(attempt: FailedAttempt): Promise<boolean>;
  /** Whether the deployment that an upload or `deploy` asks for is waited for afterwards. @default false */
  readonly wait?: boolean | undefined;
  /** Ends the operation: reject with `signal.reason`. */
  readonly signal: AbortSignal;
  /** Tells how much of an upload or download is done. Bodies of `bodies` do it by themselves. */
  onProgress(progress: {readonly transferred: number; readonly total?: number | undefined}): void;
}

/** Answer to an upload. */
export interface UploadResult {
  readonly bundleId: BundleId;
  readonly warnings?: readonly string[] | undefined;
  readonly matches?: BundleMatches | undefined;
  /** Set when the upload was deployed in the same step. */
  readonly deployment?: DeploymentRef | undefined;
  /** The server's answer, untouched. */
  readonly raw: unknown;
}

/** Answer to a request to deploy. */
export interface DeployResult {
  readonly deployment: DeploymentRef;
  readonly status: DeploymentStatus;
  readonly warnings?: readonly string[] | undefined;
  readonly raw: unknown;
}

/** State of a deployment. */
export interface DeploymentState {
  readonly status: DeploymentStatus;
  readonly description?: string | undefined;
  /** 0 to 100. */
  readonly percentage?: number | undefined;
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
}

/** Which part of a list: `limit` items from `offset` on. */
export interface ListRange {
  readonly limit: number;
  readonly offset: number;
}

/** What an earlier download that broke off has left. */
export interface DownloadResume {
  /** How many bytes of the archive there are already, more than 0. */
  readonly offset: number;
  /** The validator that `onStart` was told with them. */
  readonly validator: string;
}

/** What is known of a download when its bytes begin. */
export interface DownloadStart {
  /** Where in the archive they begin: that of `resume`, or 0. */
  readonly offset: number;
  /** Bytes of the whole archive. */
  readonly total?: number | undefined;
  /** Changes when the archive does: a strong ETag. Without one a download that breaks off is begun again. */
  readonly validator?: string | undefined;
  /** Digest of the whole archive as it was uploaded, hex: what arrives is compared with it. */
  readonly sha256?: string | undefined;
}

/** What `download` is asked for. */
export interface DownloadRequest {
  readonly bundleId: BundleId;
  readonly writeTo: Writable;
  /** A backend that cannot go on with it streams the whole archive. */
  readonly resume?: DownloadResume | undefined;
  /** Called before the first byte; without a call the bytes are those of the whole archive. */
  readonly onStart?: ((start: DownloadStart) => void) | undefined;
}

/** A part of a list, newest first, and how long the whole list is when the server tells. */
export interface ListResult<Item> {
  readonly items: readonly Item[];
  readonly total?: number | undefined;
  readonly raw: unknown;
}

/**
 * A service that takes bundles. A plain object, recognised by its shape: host and plugin may hold different copies of
 * everything. A member of a capability is present when `capabilities` names it.
 */
export interface Backend<Options = unknown> {
  readonly apiVersion: typeof BACKEND_API_VERSION;
  /** `^[a-z][a-z0-9-]{0,31}$`; `auto`, `api` and `legacy` are reserved. */
  readonly name: string;
  /** One line for `backend:list`. */
  readonly summary: string;
  /** Accepted formats, in order of preference. */
  readonly formats: readonly BundleFormat[];
  readonly capabilities: readonly BackendCapability[];
  /**
   * `number`: its bundle ids are whole numbers. The host reads what a user typed as one, or refuses it before anything
   * is sent. @default ids are passed on as they were typed
   */
  readonly bundleIds?: 'number' | undefined;
  /**
   * Formats whose upload deploys in the same step when there is a target: the host waits for the target to be free
   * before such an upload. @default none
   */
  readonly deploysOnUpload?: readonly BundleFormat[] | undefined;
  /** Validates `backends.<name>` of the configuration, overlaid with `--backend-option`. */
  readonly options?: StandardSchemaV1<unknown, Options> | undefined;
  /** Names of options that are masked everywhere. */
  readonly secrets?: readonly string[] | undefined;
  /** Whether it can be used as configured. No network. */
  check(
    context: BackendCheckContext<Options>,
  ): Promise<
    | {readonly configured: true; readonly missing?: never}
    | {readonly configured: false; readonly missing: readonly string[]}
  >;
  /** Sends a bundle. A `context.targetSlug` is for backends whose upload deploys in the same step; others ignore it. */
  upload(bundle: Bundle, context: BackendContext<Options>): Promise<UploadResult>;
  /**
   * Sends a v1 bundle that is packed while it is sent: there is no file, and no digest before the end. A backend
   * without it is given an archive file by `upload`, and so is this one for a prebuilt archive.
   */
  uploadStream?(bundle: StreamedBundle, context: BackendContext<Options>): Promise<UploadResult>;
  /** `deploy`. Resolves when the server has accepted the request. */
  deploy?(
    request: {readonly bundleId: BundleId; readonly targetSlug: string},
    context: BackendContext<Options>,
  ): Promise<DeployResult>;
  /** `wait`. Looks once; the host does the waiting. */
  getDeployment?(deployment: DeploymentRef, context: BackendContext<Options>): Promise<DeploymentState>;
  /** `list`. */
  listBundles?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<BundleItem>>;
  /** `history`. */
  listDeployments?(
    request: ListRange & {readonly targetSlug: string},
    context: BackendContext<Options>,
  ): Promise<ListResult<DeploymentItem>>;
  /** `download`. Streams the archive into `writeTo`. */
  download?(request: DownloadRequest, context: BackendContext<Options>): Promise<void>;
  /** `delete`. */
  deleteBundle?(request: {readonly bundleId: BundleId}, context: BackendContext<Options>): Promise<void>;
}

/** What the `mycli:backends` hook of a plugin returns. */
export interface BackendsHookResult {
  readonly backends: readonly Backend[];
}

/** The type of a plugin's `mycli:backends` hook. */
export type BackendsHook = () => Promise<BackendsHookResult>;

/** Gives a backend its types; returns it as it is. */
export function defineBackend<Options>(backend: Backend<Options>): Backend<Options> {
  return backend;
}

/** What `backendError` makes: a plain shape that the host turns into an error of its own. */
export interface BackendError extends Error {
  readonly backendError: true;
  readonly code: string;
  readonly status?: number | undefined;
  readonly suggestions?: readonly string[] | undefined;
}

/**
 * An error with a code of the catalogue (`ERR_...`), for a backend to throw. Unknown codes become `ERR_BACKEND_FAILED`.
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
