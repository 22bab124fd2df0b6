import type {BundleId, DeploymentItem} from '../../backends/contract.js';
import type {BackendFailure} from '../../backends/registry.js';
import type {RuntimeBackend} from '../../backends/select.js';
import type {BundlePlan} from '../../bundle/index.js';
import type {Bundle, BundleFileCategory, BundleFormat} from '../../bundle/types.js';
import type {DeleteBundlesResult} from '../../operations/delete-bundles.js';
import type {DownloadBundleResult} from '../../operations/download-bundle.js';
import type {ArchiveInspection} from '../../operations/inspect-bundle.js';
import type {ListBundlesResult} from '../../operations/list-bundles.js';
import type {ListDeploymentsResult} from '../../operations/list-deployments.js';
import type {ArchiveSummary, DeployBundleResult, PushResult} from '../../operations/options.js';
import type {RollbackBundleResult} from '../../operations/rollback-bundle.js';
import type {CredentialEntry} from '../credentials/describe-credentials.js';
import type {CredentialKind} from '../credentials/login-target.js';
import type {BackendDescription} from '../backends/describe-backends.js';
import type {ErrorReport} from '../errors/error-report.js';
import type {ExplainedSetting} from '../settings/explain-settings.js';

// What `--json` prints, a type for each command: docs/reference/json is made of these and their docstrings. `bundle:push`
// is `BundlePushDocument`, and so on.

/** What every document has. */
interface Envelope {
  /** Rises when a key that was there is gone, or means something else. New keys do not raise it. */
  readonly schemaVersion: 1;
  /** What people were warned of on stderr. */
  readonly warnings?: readonly string[] | undefined;
}

/** A document as a command makes it: the output adds what every document has. */
export type Body<Document> = Document extends unknown ? Omit<Document, 'schemaVersion'> : never;

/** What a command prints in place of its own document when it fails, and what is printed for a wrong command line. */
export interface ErrorDocument extends Envelope {
  readonly error: ErrorReport;
}

/** What `auth:login` stored. */
export interface AuthLoginDocument extends Envelope {
  /** The origin that the credentials are for. */
  readonly origin: string;
  readonly kind: CredentialKind;
  /** File that they stand in. */
  readonly file: string;
}

/** What `auth:logout` forgot. */
export interface AuthLogoutDocument extends Envelope {
  /** Origins whose credentials are forgotten. */
  readonly removed: readonly string[];
}

/** Stored credentials, without a secret. */
export interface AuthStatusDocument extends Envelope {
  /** File that credentials are stored in. */
  readonly file: string;
  readonly credentials: readonly CredentialEntry[];
  /** What a push from here would use, for each built-in backend with an address. */
  readonly backends: readonly {
    /** `legacy` or `api`. */
    readonly backend: string;
    /** Its address. */
    readonly origin: string;
    /** Where the secret comes from; null: there is none. */
    readonly source: string | null;
  }[];
}

/** The backends that there are. */
export interface BackendListDocument extends Envelope {
  readonly backends: readonly BackendDescription[];
  /** Backends that could not be registered, and plugins that failed to tell theirs. */
  readonly failures: readonly BackendFailure[];
}

/** The settings that have a value. */
export interface ConfigShowDocument extends Envelope {
  /** Path of the configuration file; null: there is none. */
  readonly configFile: string | null;
  readonly settings: readonly ExplainedSetting[];
}

/** What would be packed. */
interface PlannedBundle extends Pick<
  BundlePlan,
  'buildDirectory' | 'rootDir' | 'configPath' | 'matchMode' | 'message' | 'config' | 'sources' | 'totalBytes'
> {
  readonly files: readonly {
    /** Relative to the build directory. */
    readonly path: string;
    /** Bytes. */
    readonly size: number;
    readonly category: BundleFileCategory;
  }[];
}

/** What `bundle:build --dry-run` would pack. */
interface BuildDryRun extends Envelope, PlannedBundle {
  /** Nothing was written. */
  readonly dryRun: true;
  readonly format: BundleFormat;
}

/** The archive that was written. */
interface BuiltBundle extends Envelope, Pick<Bundle, 'message' | 'rootDir' | 'configPath' | 'matchMode' | 'config'> {
  /** The archive. */
  readonly archive: ArchiveSummary & {
    /** Absolute path of the archive. */
    readonly path: string;
    /** Absolute path of the manifest. */
    readonly manifest: string;
  };
  readonly warnings: readonly string[];
}

/** What was built, or would be. Nothing is printed with `--output -`. */
export type BundleBuildDocument = BuiltBundle | BuildDryRun;

/** What was pushed. */
interface PushedBundle extends Envelope, Omit<PushResult, 'raw'> {
  readonly warnings: readonly string[];
  /** The backend's own answers, untouched. A backend may have none. */
  readonly raw: {readonly bundle?: unknown; readonly deployment?: unknown};
}

/** Where a dry run of a push would go. */
interface PushDryRun extends Envelope {
  /** Nothing was sent. */
  readonly dryRun: true;
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  readonly format: BundleFormat;
  /** With `--if-changed`: whether this is the bundle that was pushed last. */
  readonly unchanged?: boolean | undefined;
  /** The bundle that was pushed last, when this is the same. */
  readonly bundleId?: BundleId | undefined;
  /** When that was, ISO 8601. */
  readonly pushedAt?: string | undefined;
}

/** What `bundle:push --dry-run` would pack and push. */
interface PushBuildDryRun extends PushDryRun, PlannedBundle {}

/** What `bundle:push --dry-run --archive FILE` would push. */
interface PushArchiveDryRun extends PushDryRun {
  /** Absolute path of the archive. */
  readonly archive: string;
}

/** What was pushed, or would be. */
export type BundlePushDocument = PushedBundle | PushBuildDryRun | PushArchiveDryRun;

/** What was deployed. */
export interface BundleDeployDocument extends Envelope, Omit<DeployBundleResult, 'raw'> {
  readonly warnings: readonly string[];
  /** The backend's own answer, untouched. A backend may have none. */
  readonly raw?: unknown;
}

/** What was deployed in place of what ran. */
export interface BundleRollbackDocument extends BundleDeployDocument, Pick<RollbackBundleResult, 'rolledBackFrom'> {}

/** A part of the bundles of a project. */
export interface BundleListDocument extends Envelope, ListBundlesResult {}

/** A deployment in a list. */
interface ListedDeployment extends Omit<DeploymentItem, 'deployment'> {
  /** Its id, when the server has one. */
  readonly deploymentId?: string | number | undefined;
}

/** A part of the deployments to a target. */
export interface BundleHistoryDocument extends Envelope, Omit<ListDeploymentsResult, 'deployments'> {
  /** Newest first. */
  readonly deployments: readonly ListedDeployment[];
}

/** The archive that was downloaded. */
export interface BundleDownloadDocument extends Envelope, DownloadBundleResult {}

/** Which bundles were deleted. */
export interface BundleDeleteDocument extends Envelope, DeleteBundlesResult {}

/** What an archive, or the archive of an uploaded bundle, holds. */
export interface BundleInspectDocument extends Envelope, ArchiveInspection {
  /** Of an uploaded bundle: the backend that it came from. */
  readonly backend?: RuntimeBackend | undefined;
  /** Of an uploaded bundle. */
  readonly projectSlug?: string | undefined;
  /** Of an uploaded bundle. */
  readonly bundleId?: BundleId | undefined;
}

/** Where the local runtime is, in one line as soon as it is ready. */
export interface RuntimeStartDocument extends Envelope {
  /** Its address. */
  readonly origin: string;
  /** Absolute path of the data folder. */
  readonly dataDirectory: string;
  /** Made for development, with the first start in a data folder. */
  readonly credentials: {
    /** Legacy backend. */
    readonly apiKey: string;
    /** Api backend. */
    readonly organizationId: string;
    /** Api backend. */
    readonly clientId: string;
    /** Api backend. */
    readonly clientSecret: string;
    /** Api backend. */
    readonly tokenUrl: string;
  };
}
