import type * as bundles from '../../operations/bundle-options.js';
import type * as targets from '../../operations/targets/options.js';
import type {BundleId, DeploymentItem, LogEntry} from '../../backends/contract.js';
import type {BackendFailure} from '../../backends/registry.js';
import type {RuntimeBackend} from '../../backends/names.js';
import type {BundlePlan} from '../../bundle/index.js';
import type {Bundle, BundleFile, BundleFileCategory, BundleFormat} from '../../bundle/types.js';
import type {ArchiveInspection} from '../../bundle/contents/bundle-contents.js';
import type {DeployBundleResult, PromoteBundleResult, RollbackBundleResult} from '../../operations/options.js';
import type {ArchiveSummary, PushResult} from '../../operations/push/options.js';
import type {SafetyMode} from '../../operations/guard/safety.js';
import type {FoundTarget} from '../../operations/targets/find-targets.js';
import type {LocalRuntime} from '../../local-runtime/runtime-options.js';
import type {MycliConfig, TargetConfig} from '../../config.js';
import type {BackendDescription, ServiceCredentials} from '../setup/check-credentials.js';
import type {BackendEntry, CredentialEntry, CredentialKind} from '../settings/credential-file.js';
import type {EventError} from '../../operations/events.js';
import type {ExplainedSetting} from '../settings/settings.js';

/** The error, printed instead of the command's own document. Also printed for an invalid command line. */
export interface ErrorDocument {
  readonly error: EventError;
}

/**
 * The output of `--json`, by command: dist/schemas is generated from these types and their docstrings. The output adds
 * `schemaVersion`, and the warnings so far.
 */
export interface Documents {
  /** The stored credentials. */
  readonly 'auth:login': StoredLogin;
  /** The removed credentials. */
  readonly 'auth:logout': {
    /** Origins, and backends of plugins, whose credentials were removed. */
    readonly removed: readonly string[];
  };
  /** Where the new API key is. */
  readonly 'auth:rotate': {
    /** The service that it is for. */
    readonly origin: string;
    /** File that contains the credentials. */
    readonly file: string;
  };
  /** Stored credentials, without their secrets. */
  readonly 'auth:status': {
    /** File that contains the credentials. */
    readonly file: string;
    readonly credentials: readonly CredentialEntry[];
    /** What is stored for plugins' backends. */
    readonly plugins: readonly BackendEntry[];
    /** The credentials a push from here would use, for each built-in backend with a URL, or for a plugin's. */
    readonly backends: readonly Omit<ServiceCredentials, 'failed'>[];
  };
  /** The plugin that was written. */
  readonly 'backend:create': {
    /** Name of its backend. */
    readonly backend: string;
    /** Name of its package. */
    readonly package: string;
    /** Its folder; absolute. */
    readonly directory: string;
    /** The files that were written, relative to the folder. */
    readonly files: readonly string[];
    /** Commands to run next. */
    readonly next: readonly string[];
  };
  /** The available backends. */
  readonly 'backend:list': {
    readonly backends: readonly BackendDescription[];
    /** Backends that could not be registered, and plugins that failed to provide theirs. */
    readonly failures: readonly BackendFailure[];
  };
  /** The built archive, or the plan of a dry run. Not printed with `--output -`. */
  readonly 'bundle:build': BuiltBundle | BuildDryRun;
  /** The deleted bundles. */
  readonly 'bundle:delete': bundles.DeleteBundlesResult;
  /** The deployed bundle. */
  readonly 'bundle:deploy': DeployBundleResult;
  /** The difference between two bundles. */
  readonly 'bundle:diff': bundles.DiffBundlesResult;
  /** The downloaded archive. */
  readonly 'bundle:download': bundles.DownloadBundleResult;
  /** One page of a target's deployments. */
  readonly 'bundle:history': DeploymentHistory;
  /** Contents of an archive file or, with its backend, project and ID, of an uploaded bundle. */
  readonly 'bundle:inspect': ArchiveInspection & Partial<bundles.BundleInspection>;
  /** One page of a project's bundles. */
  readonly 'bundle:list': bundles.ListBundlesResult;
  /** The bundle deployed by the promotion. */
  readonly 'bundle:promote': PromoteBundleResult;
  /** The pruned bundles, or with `--dry-run` those that would be. */
  readonly 'bundle:prune': bundles.PruneBundlesResult;
  /** The pushed bundle, or the plan of a dry run. */
  readonly 'bundle:push': PushResult | PushDryRun;
  /** The bundle deployed by the rollback. */
  readonly 'bundle:rollback': RollbackBundleResult;
  /** How to complete mycli in a shell. */
  readonly completion: {
    readonly shell: 'bash' | 'zsh' | 'fish' | 'powershell';
    /** What to source. */
    readonly script: string;
  };
  /** The settings that have a value. */
  readonly 'config:show': {
    /** Path of the configuration file; null if there is none. */
    readonly configFile: string | null;
    /** The restrictions of `MYCLI_SAFETY`, if it is set. */
    readonly safety?: readonly SafetyMode[] | undefined;
    readonly settings: readonly ExplainedSetting[];
  };
  /** The result of each check, none of which failed. If one fails, they are in `error.details.checks`. */
  readonly doctor: {
    readonly checks: readonly DoctorCheck[];
  };
  /** The names in a dotenv file, compared with the variables of a target. */
  readonly 'env:diff': VariableNamesDiff;
  /** The variables of a target, without their values. */
  readonly 'env:list': targets.ListVariablesResult;
  /** The names of the variables that were set, or with `--dry-run` would be. */
  readonly 'env:set': targets.SetVariablesResult;
  /** The names of the variables that were removed, or with `--dry-run` would be. */
  readonly 'env:unset': targets.SetVariablesResult;
  /** The project that was set up. */
  readonly init: {
    /** The configuration file that was written. */
    readonly file: string;
    /** What is in it. */
    readonly config: MycliConfig;
    /** Name of the detected framework. */
    readonly framework?: string | undefined;
    /** Kind of the credentials that were stored; null if none were. */
    readonly stored: StoredLogin['kind'] | null;
    /** Commands to run next. */
    readonly next: readonly string[];
  };
  /** What an app has logged: one document a line, without an end. */
  readonly logs: LogEntry;
  /** The URL of a target. */
  readonly open: OpenedTarget;
  /** The deleted target of a branch, if there was one, or with `--dry-run` the one that would be. */
  readonly 'preview:down': targets.DeletedPreview;
  /** The previews of a project. */
  readonly 'preview:list': targets.ListPreviewsResult;
  /** The deleted previews, or with `--dry-run` those that would be. */
  readonly 'preview:prune': targets.PrunePreviewsResult;
  /** The push to the target of a branch, or the plan of a dry run. */
  readonly 'preview:up': targets.DeployedPreview | PreviewDryRun;
  /** The projects that the credentials reach. */
  readonly 'project:list': targets.ListProjectsResult;
  /** The running local runtime, on one line as soon as it is ready. */
  readonly 'runtime:start': Pick<LocalRuntime, 'origin' | 'appsOrigin' | 'dataDirectory' | 'credentials'>;
  /** What each target of a project runs. */
  readonly status: StatusOfTargets;
  /** The differences between a target and its configuration, and how many of them were resolved. */
  readonly 'target:apply': targets.AppliedTarget;
  /** The created target, or with `--dry-run` the one that would be. */
  readonly 'target:create': NewTarget;
  /** The deleted target, or with `--dry-run` the one that would be. */
  readonly 'target:delete': targets.DeletedTarget;
  /** The differences between a target and its configuration, or with `--init` its state and where that was written. */
  readonly 'target:diff': DiffedTarget;
  /** The patterns that the service is dropping from its cache, or with `--dry-run` would. */
  readonly 'target:invalidate': targets.InvalidateResult;
  /** The targets of a project. */
  readonly 'target:list': targets.ListTargetsResult;
}

/** The outcome of a check. */
export interface DoctorCheck {
  /** `node`, `configuration`, `build`, `safety`, `credentials`, `variables`, `proxy`, `certificates` or `plugins`. */
  readonly name: string;
  /** `skipped`: something that the check needs is missing. */
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** One sentence about the outcome. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestions: readonly string[];
}

export interface StoredLogin {
  /** Origin the credentials are for. Absent for a plugin's backend. */
  readonly origin?: string | undefined;
  /** `options`: secrets of a plugin's backend. */
  readonly kind: CredentialKind | 'options';
  /** The plugin's backend that the secrets are for. */
  readonly backend?: string | undefined;
  /** Whose they are, if the plugin's backend reports it. */
  readonly account?: string | undefined;
  /** Names of the options and variables that were stored. */
  readonly options?: readonly string[] | undefined;
  /** File that contains the credentials. */
  readonly file: string;
  /** Whether the service accepted them. False if it was not asked. */
  readonly verified: boolean;
  /** When the access token expires, ISO 8601. A new one is fetched when needed. */
  readonly expiresAt?: string | undefined;
}

type OnlyForPacking = 'laterFiles' | 'projectSlug' | 'emptyFolders' | 'warnings' | 'modifiedAt' | 'compressionLevel';

/** The files and configuration that would be packed. */
interface PlannedBundle extends Omit<BundlePlan, 'files' | OnlyForPacking> {
  readonly files: readonly (Pick<BundleFile, 'path' | 'size'> & {readonly category: BundleFileCategory})[];
}

/** What `bundle:build --dry-run` would pack. */
interface BuildDryRun extends PlannedBundle {
  /** Nothing was written. */
  readonly dryRun: true;
}

/** The written archive. */
interface BuiltBundle extends Pick<
  Bundle,
  'message' | 'rootDir' | 'configPath' | 'matchMode' | 'config' | 'provenance'
> {
  /** The archive. */
  readonly archive: ArchiveSummary & {
    /** Absolute path of the archive. */
    readonly path: string;
    /** Absolute path of the manifest. */
    readonly manifest: string;
  };
  readonly warnings: readonly string[];
}

/** Destination of a dry run of a push. */
interface PushDestination {
  /** Nothing was sent. */
  readonly dryRun: true;
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  readonly format: BundleFormat;
  /** With `--if-changed`: whether the bundle is the same as the last push. */
  readonly unchanged?: boolean | undefined;
  /** ID of the last pushed bundle, if it is the same. */
  readonly bundleId?: BundleId | undefined;
  /** Time of the last push, ISO 8601. */
  readonly pushedAt?: string | undefined;
}

/** What `bundle:push --dry-run` would pack and push. */
interface PushBuildDryRun extends PushDestination, PlannedBundle {}

/** What `bundle:push --dry-run --archive FILE` would push. */
interface PushArchiveDryRun extends PushDestination {
  /** Absolute path of the archive. */
  readonly archive: string;
}

/** What a push would do. */
export type PushDryRun = PushBuildDryRun | PushArchiveDryRun;

/** A deployment in a list. */
export interface DeploymentEntry extends Omit<DeploymentItem, 'deployment'> {
  /** Its ID, if the server has one. */
  readonly deploymentId?: string | number | undefined;
}

interface HistoryEntry extends DeploymentEntry, Pick<bundles.ListDeploymentsResult['deployments'][number], 'live'> {}

export interface StatusOfTargets extends Omit<targets.ProjectStatus, 'targets'> {
  /** In the order of the server's list. */
  readonly targets: readonly (Omit<targets.TargetStatus, 'live' | 'underway' | 'failed'> & {
    /** The deployment whose bundle runs, if there is one and the server reports it. */
    readonly live?: DeploymentEntry | undefined;
    /** The deployment that is queued or in progress. */
    readonly underway?: DeploymentEntry | undefined;
    /** The newest deployment, if it failed. */
    readonly failed?: DeploymentEntry | undefined;
  })[];
}

interface OpenedTarget extends FoundTarget {
  /** Whether a browser was started. */
  readonly opened: boolean;
}

export interface DeploymentHistory extends Omit<bundles.ListDeploymentsResult, 'deployments'> {
  /** Newest first. */
  readonly deployments: readonly HistoryEntry[];
}

export interface NewTarget extends targets.CreatedTarget {
  /** Whether nothing was created because of `--dry-run`. */
  readonly dryRun: boolean;
  /** What the configuration says of it. Absent if it says nothing. */
  readonly configuration?: targets.TargetConfiguration | undefined;
}

export interface DiffedTarget extends targets.TargetDiff {
  /** With `--init`: the state of the target. */
  readonly configuration?: TargetConfig | undefined;
  /** With `--init`: the configuration file it was written to. Absent if the file is code, where you have to add it. */
  readonly file?: string | undefined;
}

export interface VariableNamesDiff extends Omit<targets.ListVariablesResult, 'variables'> {
  /** Those that the target lacks. */
  readonly missing: readonly string[];
  /** Those that only the target has. */
  readonly extra: readonly string[];
  /** Those of both. Their values may differ: the service does not tell them. */
  readonly shared: readonly string[];
}

/** What `preview:up --dry-run` would push. */
type PreviewDryRun = PushDryRun & {
  readonly branch: string;
  /** Whether the target would be created. */
  readonly creates: boolean;
};
