import type {StandardSchemaV1} from '@standard-schema/spec';
import type {Bundle, BundleFormat} from '../bundle/types.js';
import type {
  BackendCheckContext,
  BackendContext,
  BackendLimits,
  BackendLoginContext,
  BackendVerifyContext,
  BundleId,
  BundleItem,
  CheckResult,
  DeploymentItem,
  DeploymentLog,
  DeploymentRef,
  DeploymentState,
  DeployResult,
  DownloadRequest,
  ListRange,
  ListResult,
  LoginResult,
  TargetItem,
  UploadResult,
  VerifyResult,
} from './exchange.js';

export type * from './exchange.js';
export type * from './hooks.js';
export type {
  Bundle,
  BundleConfig,
  BundleEntry,
  BundleFile,
  BundleFileCategory,
  BundleFormat,
  BundleV2MatchMode,
  BundleV2Metadata,
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
  Logger,
  OpenedStream,
  RequestBodies,
} from '../http/types.js';

/** Names of options. */
export type OptionName<Options> = unknown extends Options ? string : Extract<keyof Options, string>;

/**
 * A service that accepts bundles: a plain object, recognized by its shape, because host and plugin may load different
 * copies of any package. This much is required. `BackendCapabilities` is what it can have besides. Other members are
 * ignored.
 *
 * Functions throw what `context.http` rejects with, an error of `context.error`, or `signal.reason` when aborted.
 * Anything else is reported as a failure of the backend (`ERR_BACKEND_FAILED`).
 * @example
 * const backend: Backend<{url?: string; token?: string}> = {
 *   apiVersion: 1,
 *   name: 'acme',
 *   summary: 'The Acme hosting service',
 *   formats: ['v2'],
 *   options: v.strictObject({url: v.optional(v.string()), token: v.optional(v.string())}),
 *   required: ['url', 'token'],
 *   secrets: ['token'],
 *   async upload(bundle, {http, options, bodies}) {
 *     const headers = {authorization: `Bearer ${options.token}`};
 *     const request = http.extend({headers}).post(`${options.url}/bundles`, bodies.file(bundle));
 *     const raw = await request.json<{id: string}>();
 *     return {bundleId: raw.id, raw};
 *   },
 * };
 */
export interface Backend<Options = unknown> extends BackendCapabilities<Options> {
  /** The version of this contract. A backend for any other version is refused. */
  readonly apiVersion: 1;
  /** `^[a-z][a-z0-9-]{0,31}$`; `auto`, `api` and `legacy` are reserved. */
  readonly name: string;
  /** One line for `backend:list`. */
  readonly summary: string;
  /** Accepted formats, in order of preference. */
  readonly formats: readonly BundleFormat[];
  /**
   * Uploads a bundle, and resolves once the service has all of it. Streams: never holds an archive in memory.
   * @throws `ERR_OUTCOME_UNKNOWN` if the service may have it all the same.
   */
  upload(bundle: Bundle, context: BackendContext<Options>): Promise<UploadResult>;
}

/** A backend with any options. */
export type AnyBackend = Omit<Backend, 'required' | 'secrets'> & {
  readonly required?: readonly string[] | undefined;
  readonly secrets?: readonly string[] | undefined;
};

/** What a backend can have besides. Each function with a capability makes the commands that need it work. */
export interface BackendCapabilities<Options = unknown> {
  /**
   * Any Standard Schema. It validates `backends.<name>` of the configuration file, merged with `--backend-option`.
   * Options that are in `required` are optional here, so that users can log in without them.
   * @default any options
   */
  readonly options?: StandardSchemaV1<unknown, Options> | undefined;
  /** Names of options without which the backend is not configured. @default none */
  readonly required?: readonly OptionName<Options>[] | undefined;
  /** Names of options to mask everywhere, and to ask for in `auth:login`. @default none */
  readonly secrets?: readonly OptionName<Options>[] | undefined;
  /** Names of environment variables that it, or a library of its, reads: their values are masked everywhere. */
  readonly secretEnv?: readonly string[] | undefined;
  /**
   * `number`: bundle IDs are integers. The host parses what the user typed, and refuses anything else before sending a
   * request. @default IDs are strings, passed on as typed
   */
  readonly bundleIds?: 'number' | undefined;
  /** Limits of the service. @default none */
  readonly limits?: BackendLimits | undefined;
  /**
   * Checks what `required` cannot express, without using the network.
   * @returns `missing`: what to set, such as `a region, for buckets outside AWS`.
   */
  check?(context: BackendCheckContext<Options>): Promise<CheckResult>;
  /**
   * Logs the user in, for `auth:login`. The options in `required` are set, except for secrets. The host stores the
   * secrets that it returns, and passes them in as options and variables from then on.
   * @default asks for the options in `secrets`, or else for the variables in `secretEnv`
   */
  login?(context: BackendLoginContext<Options>): Promise<LoginResult>;
  /**
   * Asks the service whether it accepts the credentials, with requests that change nothing. Only called if nothing is
   * missing. @throws `ERR_UNAUTHORIZED` or `ERR_FORBIDDEN` if it does not, as `context.http` does for 401 and 403
   */
  verify?(context: BackendVerifyContext<Options>): Promise<VerifyResult>;
  /**
   * Capability `deploy`. Resolves when the server has accepted the request.
   * @throws `ERR_TARGET_BUSY` if another deployment is running: the host may call again. `ERR_BUNDLE_UNKNOWN`.
   */
  deploy?(
    request: {readonly bundleId: BundleId; readonly targetSlug: string},
    context: BackendContext<Options>,
  ): Promise<DeployResult>;
  /**
   * Capability `promote`, for services where promoting is more than deploying the same bundle again. Deploys to the
   * target `to` the bundle that the target `from` runs. @throws if that is another one by now
   * @default the host calls `deploy`
   */
  promote?(
    request: {readonly bundleId: BundleId; readonly from: string; readonly to: string},
    context: BackendContext<Options>,
  ): Promise<DeployResult>;
  /** Capability `wait`. Checks once; the host does the polling. `finished` means that the target runs the bundle. */
  getDeployment?(deployment: DeploymentRef, context: BackendContext<Options>): Promise<DeploymentState>;
  /** Capability `list`: the bundles of the project, newest first. */
  listBundles?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<BundleItem>>;
  /** Capability `history`: the deployments to a target, newest first. */
  listDeployments?(
    request: ListRange & {readonly targetSlug: string},
    context: BackendContext<Options>,
  ): Promise<ListResult<DeploymentItem>>;
  /** Capability `targets`: the targets of the project. */
  listTargets?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<TargetItem>>;
  /**
   * Capability `logs`. Resolves to what there is of a log from `cursor` on, or from its start without one. No lines and
   * a cursor: there may be more later, and the host asks again.
   */
  readLogs?(
    request: {readonly deployment: DeploymentRef; readonly cursor?: string | undefined},
    context: BackendContext<Options>,
  ): Promise<DeploymentLog>;
  /** Capability `download`. Streams the archive into `writeTo`. @throws `ERR_BUNDLE_UNKNOWN` */
  download?(request: DownloadRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `delete`. Resolves when the bundle is gone. @throws `ERR_BUNDLE_UNKNOWN` */
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
  readonly backends: readonly AnyBackend[];
}

/** The type of a plugin's `mycli:backends` hook. */
export type BackendsHook = (options: BackendsHookOptions) => Promise<BackendsHookResult>;
