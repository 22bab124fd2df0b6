import type {StandardSchemaV1} from '@standard-schema/spec';
import type {Bundle, BundleFormat} from '../bundle/types.js';
import type {
  BackendCheckContext,
  BackendContext,
  BackendLoginContext,
  BackendVerifyContext,
  CheckResult,
  LoginResult,
  VerifyResult,
} from './contract/context.js';
import type {
  AccessItem,
  BundleId,
  BundleItem,
  ChangeAccessRequest,
  ChangeRedirectRequest,
  CreateTargetRequest,
  CreateTargetResult,
  DeployRequest,
  DeployResult,
  DeploymentItem,
  DeploymentRef,
  DeploymentState,
  DownloadRequest,
  InvalidateRequest,
  ListRange,
  ListResult,
  LogEntry,
  ProjectItem,
  RedirectItem,
  SetVariablesRequest,
  TargetDetails,
  TargetItem,
  TargetRange,
  TargetRequest,
  UpdateTargetRequest,
  UploadResult,
  VariableItem,
} from './contract/requests.js';

export type * from './contract/context.js';
export type * from './contract/requests.js';
export type {
  AfterHook,
  BeforeWriteHook,
  DeployOperation,
  PlannedWrite,
  WriteOperation,
  WriteOutcome,
} from './contract/hooks.js';
export type {Redirect, TargetProxy, TargetSettings} from '../config.js';
export type {
  Bundle,
  BundleConfig,
  BundleEntry,
  BundleFile,
  BundleFileCategory,
  BundleFormat,
  BundleProvenance,
  BundleV2MatchMode,
  BundleV2Metadata,
} from '../bundle/types.js';
export type {
  BodyOptions,
  ByteSource,
  FailedAttempt,
  HttpClient,
  HttpOptions,
  HttpRequest,
  HttpResponse,
  Logger,
  OpenedStream,
  RequestBodies,
} from '../http/types.js';
export type {Environment} from '../text/platform.js';

/** Names of options. */
export type OptionName<Options> = unknown extends Options ? string : Extract<keyof Options, string>;

/**
 * A service that accepts bundles: a plain object, recognized by its shape, because host and plugin may load different
 * copies of any package. This much is required. `BackendCapabilities` has the optional members. Other members are
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
   * @throws `ERR_OUTCOME_UNKNOWN` if the service may have it anyway.
   */
  upload(bundle: Bundle, context: BackendContext<Options>): Promise<UploadResult>;
}

/** A backend with any options. */
export type AnyBackend = Omit<Backend, 'required' | 'secrets'> & {
  /** Names of options without which it is not configured. */
  readonly required?: readonly string[] | undefined;
  /** Names of options to mask everywhere. */
  readonly secrets?: readonly string[] | undefined;
};

/** The optional members of a backend. Each function with a capability makes the commands that need it work. */
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
  /** Names of environment variables that the backend or its libraries read: their values are masked everywhere. */
  readonly secretEnv?: readonly string[] | undefined;
  /**
   * `number`: bundle IDs are integers. The host parses what the user typed, and refuses anything else before sending a
   * request. @default IDs are strings, passed on as typed
   */
  readonly bundleIds?: 'number' | undefined;
  /** `assigned`: the service chooses a new target's slug, and the host finds it by name. @default users choose it */
  readonly targetSlugs?: 'assigned' | undefined;
  /**
   * Which slugs the service takes: regular expressions, each for all of a slug. The host refuses others before it
   * builds or sends anything. @default slugs without blanks, `/`, `\\`, `?`, `&`, `#` and `%` (special in URLs)
   */
  readonly slugs?:
    | {
        /** For slugs of projects. @default as above */
        readonly project?: string | undefined;
        /** For slugs of targets. @default as above */
        readonly target?: string | undefined;
      }
    | undefined;
  /** `false`: `createTarget` ignores `copyFrom`, so the host refuses to copy a target. @default it makes copies */
  readonly copiesTargets?: false | undefined;
  /**
   * Whether the cursors of its lists are offsets: the host can start anywhere, and an item may be in two parts if
   * another one is added meanwhile. @default false
   */
  readonly offsetCursors?: boolean | undefined;
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
  deploy?(request: DeployRequest, context: BackendContext<Options>): Promise<DeployResult>;
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
  listDeployments?(request: TargetRange, context: BackendContext<Options>): Promise<ListResult<DeploymentItem>>;
  /** Capability `targets`: the targets of the project, also those that are being created or deleted. */
  listTargets?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<TargetItem>>;
  /**
   * Capability `create-target`. Resolves when the service has accepted the request; the host waits for the target to be
   * `ready` in `listTargets`. An existing slug is an error. @throws `ERR_OUTCOME_UNKNOWN` if the service may create the
   * target anyway: the host looks for it, and never requests it twice.
   */
  createTarget?(request: CreateTargetRequest, context: BackendContext<Options>): Promise<CreateTargetResult>;
  /** Capability `delete-target`. Resolves when the service has accepted the request. An unknown target is an error. */
  deleteTarget?(request: TargetRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `projects`: the projects that the credentials reach. */
  listProjects?(range: ListRange, context: BackendContext<Options>): Promise<ListResult<ProjectItem>>;
  /** Capability `target-settings`: the settings of a target. */
  readTarget?(request: TargetRequest, context: BackendContext<Options>): Promise<TargetDetails>;
  /**
   * Capability `update-target`. Changes the named settings in one request, and leaves the others alone. The service may
   * publish the target again.
   */
  updateTarget?(request: UpdateTargetRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `redirects`: the redirects of a target, in any order. */
  listRedirects?(request: TargetRange, context: BackendContext<Options>): Promise<ListResult<RedirectItem>>;
  /** Capability `change-redirects`. Adds, replaces or removes one redirect. The host makes up to four calls at once. */
  changeRedirect?(request: ChangeRedirectRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `access`: the headers that let visitors in, without their values. An empty list: everyone gets in. */
  listAccess?(request: TargetRange, context: BackendContext<Options>): Promise<ListResult<AccessItem>>;
  /** Capability `change-access`. Adds an access header, or removes one. */
  changeAccess?(request: ChangeAccessRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `variables`: the environment variables of a target, without their values. */
  listVariables?(request: TargetRange, context: BackendContext<Options>): Promise<ListResult<VariableItem>>;
  /**
   * Capability `set-variables`. Changes the named variables in one request, and leaves the others alone. The service
   * may publish the target again. The values are masked in the errors and the log of the call.
   */
  setVariables?(request: SetVariablesRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `invalidate`. Resolves when the service has accepted the request to clear its cache for the pattern. */
  invalidate?(request: InvalidateRequest, context: BackendContext<Options>): Promise<void>;
  /**
   * Capability `tail-logs`. Yields what the app of a target logs from now on, while its connection to the service
   * lasts. The host calls again when it ends, or fails with `ERR_NETWORK` or `ERR_TIMEOUT`. Ends with the signal.
   */
  tailLogs?(request: TargetRequest, context: BackendContext<Options>): AsyncIterable<LogEntry>;
  /** Capability `download`. Streams the archive into `writeTo`. @throws `ERR_BUNDLE_UNKNOWN` */
  download?(request: DownloadRequest, context: BackendContext<Options>): Promise<void>;
  /** Capability `delete`. Resolves when the bundle is gone. @throws `ERR_BUNDLE_UNKNOWN` */
  deleteBundle?(request: {readonly bundleId: BundleId}, context: BackendContext<Options>): Promise<void>;
}

/** What the `mycli:backends` hook of a plugin is called with. */
export interface BackendsHookOptions {
  /** The mycli that calls the hook. */
  readonly host: {
    /** Version of mycli. */
    readonly version: string;
    /** The version of this contract that the host requires. */
    readonly apiVersion: number;
  };
}

/** What the `mycli:backends` hook of a plugin returns. */
export interface BackendsHookResult {
  /** All backends of the plugin. */
  readonly backends: readonly AnyBackend[];
}

/** The type of a plugin's `mycli:backends` hook. */
export type BackendsHook = (options: BackendsHookOptions) => Promise<BackendsHookResult>;

/** An ability of a backend, besides uploading. It follows from the member that implements it. */
export type BackendCapability =
  | 'deploy'
  | 'promote'
  | 'wait'
  | 'list'
  | 'history'
  | 'targets'
  | 'create-target'
  | 'delete-target'
  | 'projects'
  | 'target-settings'
  | 'update-target'
  | 'redirects'
  | 'change-redirects'
  | 'access'
  | 'change-access'
  | 'variables'
  | 'set-variables'
  | 'invalidate'
  | 'tail-logs'
  | 'download'
  | 'delete';

/** Limits of the service. The host checks them before it builds or sends anything. */
export interface BackendLimits {
  /** Maximum bytes of an archive. Checked before the upload. */
  readonly maxBundleBytes?: number | undefined;
  /** Maximum number of files in a bundle. Checked before the bundle is built. */
  readonly maxFiles?: number | undefined;
}
