import type {
  BundleInspection,
  DeleteBundlesResult,
  DiffBundlesResult,
  DownloadBundleResult,
  ListBundlesResult,
  ListDeploymentsResult,
  PruneBundlesResult,
} from '../../operations/bundle-options.js';
import type {
  AppliedTarget,
  CreatedTarget,
  DeletedPreview,
  DeletedTarget,
  DeployedPreview,
  InvalidateResult,
  ListPreviewsResult,
  ListProjectsResult,
  ListTargetsResult,
  ListVariablesResult,
  ProjectStatus,
  PrunePreviewsResult,
  SetVariablesResult,
  TargetDiff,
  TargetStatus,
} from '../../operations/targets/options.js';
import type {BundleId, DeploymentItem, LogEntry} from '../../backends/contract.js';
import type {BackendFailure} from '../../backends/registry.js';
import type {RuntimeBackend} from '../../backends/names.js';
import type {BundlePlan} from '../../bundle/index.js';
import type {Bundle, BundleFile, BundleFileCategory, BundleFormat} from '../../bundle/types.js';
import type {ArchiveInspection} from '../../bundle/contents/inspect-archive.js';
import type {DeployBundleResult, PromoteBundleResult, RollbackBundleResult} from '../../operations/options.js';
import type {ArchiveSummary, PushResult} from '../../operations/push/options.js';
import type {SafetyMode} from '../../operations/guard/safety.js';
import type {FoundTarget} from '../../operations/targets/find-targets.js';
import type {LocalRuntime} from '../../local-runtime/runtime-options.js';
import type {MycliConfig, TargetConfig} from '../../config.js';
import type {DoctorCheck} from '../setup/doctor.js';
import type {BackendDescription, ServiceCredentials} from '../setup/check-credentials.js';
import type {BackendEntry, CredentialEntry, CredentialKind} from '../settings/credential-file.js';
import type {EventError} from '../../operations/events.js';
import type {ExplainedSetting} from '../settings/settings.js';

// The output of `--json`, one type per command: dist/schemas is generated from these types and their docstrings.
// `bundle:push` is `BundlePushDocument`, and so on. The output adds `schemaVersion`, and the warnings so far.

/** The error, printed instead of the command's own document. Also printed for an invalid command line. */
export interface ErrorDocument {
  readonly error: EventError;
}

/** The stored credentials. */
export interface AuthLoginDocument {
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

/** How to complete mycli in a shell. */
export interface CompletionDocument {
  readonly shell: 'bash' | 'zsh' | 'fish' | 'powershell';
  /** What to source. */
  readonly script: string;
}

/** The result of each check, none of which failed. If one fails, they are in `error.details.checks`. */
export interface DoctorDocument {
  readonly checks: readonly DoctorCheck[];
}

/** The project that was set up. */
export interface InitDocument {
  /** The configuration file that was written. */
  readonly file: string;
  /** What is in it. */
  readonly config: MycliConfig;
  /** Name of the detected framework. */
  readonly framework?: string | undefined;
  /** Kind of the credentials that were stored; null if none were. */
  readonly stored: AuthLoginDocument['kind'] | null;
  /** Commands to run next. */
  readonly next: readonly string[];
}

/** The removed credentials. */
export interface AuthLogoutDocument {
  /** Origins, and backends of plugins, whose credentials were removed. */
  readonly removed: readonly string[];
}

/** Where the new API key is. */
export interface AuthRotateDocument {
  /** The service that it is for. */
  readonly origin: string;
  /** File that contains the credentials. */
  readonly file: string;
}

/** Stored credentials, without their secrets. */
export interface AuthStatusDocument {
  /** File that contains the credentials. */
  readonly file: string;
  readonly credentials: readonly CredentialEntry[];
  /** What is stored for plugins' backends. */
  readonly plugins: readonly BackendEntry[];
  /** The credentials a push from here would use, for each built-in backend with a URL, or for the plugin's backend. */
  readonly backends: readonly Omit<ServiceCredentials, 'failed'>[];
}

/** The plugin that was written. */
export interface BackendCreateDocument {
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
}

/** The available backends. */
export interface BackendListDocument {
  readonly backends: readonly BackendDescription[];
  /** Backends that could not be registered, and plugins that failed to provide theirs. */
  readonly failures: readonly BackendFailure[];
}

/** The settings that have a value. */
export interface ConfigShowDocument {
  /** Path of the configuration file; null if there is none. */
  readonly configFile: string | null;
  /** The restrictions of `MYCLI_SAFETY`, if it is set. */
  readonly safety?: readonly SafetyMode[] | undefined;
  readonly settings: readonly ExplainedSetting[];
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

/** The built archive, or the plan of a dry run. Not printed with `--output -`. */
export type BundleBuildDocument = BuiltBundle | BuildDryRun;

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

/** The pushed bundle, or the plan of a dry run. */
export type BundlePushDocument = PushResult | PushDryRun;

/** The deployed bundle. */
export type BundleDeployDocument = DeployBundleResult;

/** The bundle deployed by the rollback. */
export type BundleRollbackDocument = RollbackBundleResult;

/** The bundle deployed by the promotion. */
export type BundlePromoteDocument = PromoteBundleResult;

/** One page of a project's bundles. */
export type BundleListDocument = ListBundlesResult;

/** A deployment in a list. */
export interface DeploymentEntry extends Omit<DeploymentItem, 'deployment'> {
  /** Its ID, if the server has one. */
  readonly deploymentId?: string | number | undefined;
}

/** A deployment in a history. */
interface HistoryEntry extends DeploymentEntry, Pick<ListDeploymentsResult['deployments'][number], 'live'> {}

/** What each target of a project runs. */
export interface StatusDocument extends Omit<ProjectStatus, 'targets'> {
  /** In the order of the server's list. */
  readonly targets: readonly (Omit<TargetStatus, 'live' | 'underway' | 'failed'> & {
    /** The deployment whose bundle runs, if there is one and the server reports it. */
    readonly live?: DeploymentEntry | undefined;
    /** The deployment that is queued or in progress. */
    readonly underway?: DeploymentEntry | undefined;
    /** The newest deployment, if it failed. */
    readonly failed?: DeploymentEntry | undefined;
  })[];
}

/** The URL of a target. */
export interface OpenDocument extends FoundTarget {
  /** Whether a browser was started. */
  readonly opened: boolean;
}

/** One page of a target's deployments. */
export interface BundleHistoryDocument extends Omit<ListDeploymentsResult, 'deployments'> {
  /** Newest first. */
  readonly deployments: readonly HistoryEntry[];
}

/** The downloaded archive. */
export type BundleDownloadDocument = DownloadBundleResult;

/** The difference between two bundles. */
export type BundleDiffDocument = DiffBundlesResult;

/** The deleted bundles. */
export type BundleDeleteDocument = DeleteBundlesResult;

/** The pruned bundles, or with `--dry-run` those that would be. */
export type BundlePruneDocument = PruneBundlesResult;

/** Contents of an archive file or, with its backend, project and ID, of an uploaded bundle. */
export type BundleInspectDocument = ArchiveInspection & Partial<BundleInspection>;

/** The targets of a project. */
export type TargetListDocument = ListTargetsResult;

/** The created target, or with `--dry-run` the one that would be. */
export interface TargetCreateDocument extends CreatedTarget {
  /** Whether nothing was created because of `--dry-run`. */
  readonly dryRun: boolean;
}

/** The projects that the credentials reach. */
export type ProjectListDocument = ListProjectsResult;

/** In what a target differs from its configuration, or with `--init` what was written about it. */
export interface TargetDiffDocument extends TargetDiff {
  /** With `--init`: what the target is like. */
  readonly configuration?: TargetConfig | undefined;
  /** With `--init`: the configuration file that has it now. Absent if the file is code, where you have to add it. */
  readonly file?: string | undefined;
}

/** In what a target differed from its configuration, and how much of that was changed. */
export type TargetApplyDocument = AppliedTarget;

/** The deleted target, or with `--dry-run` the one that would be. */
export type TargetDeleteDocument = DeletedTarget;

/** The patterns that the service is dropping from its cache, or with `--dry-run` would. */
export type TargetInvalidateDocument = InvalidateResult;

/** The variables of a target, without their values. */
export type EnvListDocument = ListVariablesResult;

/** What an app has logged: one document a line, without an end. */
export type LogsDocument = LogEntry;

/** The names of the variables that were set, or with `--dry-run` would be. */
export type EnvSetDocument = SetVariablesResult;

/** The names of the variables that were removed, or with `--dry-run` would be. */
export type EnvUnsetDocument = SetVariablesResult;

/** The names in a dotenv file, compared with the variables of a target. */
export interface EnvDiffDocument extends Omit<ListVariablesResult, 'variables'> {
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

/** The push to the target of a branch, or the plan of a dry run. */
export type PreviewUpDocument = DeployedPreview | PreviewDryRun;

/** The deleted target of a branch, if there was one, or with `--dry-run` the one that would be. */
export type PreviewDownDocument = DeletedPreview;

/** The previews of a project. */
export type PreviewListDocument = ListPreviewsResult;

/** The deleted previews, or with `--dry-run` those that would be. */
export type PreviewPruneDocument = PrunePreviewsResult;

/** The running local runtime, on one line as soon as it is ready. */
export type RuntimeStartDocument = Pick<LocalRuntime, 'origin' | 'appsOrigin' | 'dataDirectory' | 'credentials'>;
