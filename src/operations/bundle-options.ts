import type {BundleId, BundleItem, DeploymentItem} from '../backends/contract.js';
import type {RuntimeBackend, RuntimeBackendPreference} from '../backends/names.js';
import type {ArchiveInspection, ArchiveLayoutOptions} from '../bundle/contents/bundle-contents.js';
import type {ContentsDiff} from '../bundle/contents/compare-contents.js';
import type {BundleContentOptions} from '../bundle/index.js';
import type {Bundle, BundleFormat, PackResult} from '../bundle/types.js';
import type {RuntimeCliError} from '../errors/index.js';
import type {
  CommonOptions,
  ConnectionOptions,
  DryRunOptions,
  ProjectOptions,
  ProjectResult,
  TargetOptions,
  TargetResult,
} from './options.js';
import type {DryRunResult, Warnings} from './results.js';

/** Options of `listBundles`. */
export interface ListBundlesOptions extends ProjectOptions {
  /** Maximum number of entries; `Infinity` for all. @default 25 */
  readonly limit?: number | undefined;
  /** Number of newest entries to skip. @default 0 */
  readonly offset?: number | undefined;
}

/** Options of `listDeployments`. */
export interface ListDeploymentsOptions extends ListBundlesOptions, TargetOptions {}

/** Options of `buildBundle`. */
export interface BuildBundleOptions extends CommonOptions, BundleContentOptions {
  /** @default 'v2' */
  readonly format?: BundleFormat | undefined;
  /** Names the archive's entries. Required for v1. */
  readonly projectSlug?: string | undefined;
  /** Path of the archive. Its manifest is written to `<output>.json`. */
  readonly output: string;
  /** Overwrites any existing file. @default false: overwrites only bundle archives and manifests */
  readonly force?: boolean | undefined;
}

/** What `buildBundle` resolves to. */
export interface BuildBundleResult extends Warnings {
  /** The archive, and how to read it. */
  readonly bundle: Bundle;
  /** Path of the manifest. */
  readonly manifest: string;
}

/** Options of a build whose archive goes to a stream, or nowhere. */
export interface PreviewBuildOptions extends Omit<BuildBundleOptions, 'output'> {
  /** Path of the archive. It is checked, but not written. */
  readonly output?: string | undefined;
}

/** One page of a project's bundles. */
export interface ListBundlesResult extends ProjectResult {
  /** Newest first. */
  readonly bundles: readonly BundleItem[];
  /** Total number, if the server reports it. */
  readonly total?: number | undefined;
}

/** A deployment in a list, and whether the target runs its bundle. */
export interface ListedDeployment extends DeploymentItem {
  /** Whether it is the one whose bundle the target runs. False for all of them if the server does not report it. */
  readonly live: boolean;
}

/** One page of a target's deployments. */
export interface ListDeploymentsResult extends TargetResult {
  /** Newest first. */
  readonly deployments: readonly ListedDeployment[];
  /** Total number, if the server reports it. */
  readonly total?: number | undefined;
}

/** Options of `downloadBundle`. */
export interface DownloadBundleOptions extends ProjectOptions {
  /** ID of an uploaded bundle, `latest` (the newest usable one by creation time) or `running:TARGET` (what it runs). */
  readonly bundleId: BundleId;
  /** File to write. @default `bundle-<id>.tar.gz` (for a v1 bundle `bundle-<id>.tar`) in the working directory */
  readonly output?: string | undefined;
  /** Overwrites an existing file. @default false */
  readonly force?: boolean | undefined;
}

/** What `downloadBundle` resolves to. */
export interface DownloadBundleResult extends ProjectResult, PackResult {
  /** With `latest` and `running:TARGET` resolved. */
  readonly bundleId: BundleId;
  /** Absolute path of the archive. */
  readonly path: string;
  /** Number of files. */
  readonly files: number;
  /** Bytes kept from an earlier download. */
  readonly resumedFrom: number;
  /**
   * Whether the digest matches the one that the backend reports, or the one in the manifest next to the file
   * (`FILE.json`). The built-in backends report none, so without its manifest only the archive's structure was checked.
   */
  readonly verified: boolean;
}

/** Options of `inspectArchive`. */
export interface InspectArchiveOptions extends Pick<CommonOptions, 'signal' | 'onEvent'>, ArchiveLayoutOptions {}

/** Options of `inspectBundle`. */
export type InspectBundleOptions = Omit<DownloadBundleOptions, 'output' | 'force'> & InspectArchiveOptions;

/** The contents of an uploaded bundle. */
export interface BundleInspection extends ArchiveInspection, ProjectResult {
  /** With `latest` and `running:TARGET` resolved. */
  readonly bundleId: BundleId;
}

/** Where a bundle is. */
export type BundleSource =
  | {
      /** An archive file, or a build folder. */
      readonly kind: 'archive' | 'folder';
      /** Relative to the working directory. */
      readonly path: string;
    }
  | {
      /** An uploaded bundle. */
      readonly kind: 'bundle';
      /** Its ID, or `latest`: the newest usable one by creation time. */
      readonly bundleId: BundleId;
    }
  | {
      /** The bundle that a target runs. */
      readonly kind: 'running';
      /** The target's slug. */
      readonly targetSlug: string;
    };

/** What reading sources needs. */
export interface ReadSourceOptions
  extends CommonOptions, ConnectionOptions, Omit<BundleContentOptions, 'buildDirectory'> {
  /** Required for uploaded bundles. @default 'auto' */
  readonly preference?: RuntimeBackendPreference | undefined;
  /** Required for uploaded bundles. */
  readonly projectSlug?: string | undefined;
}

/** One of two compared bundles. */
export interface ComparedBundle {
  /** A short name: `bundle 42`, or a path. */
  readonly name: string;
  /** As in its archive. */
  readonly format: BundleFormat;
  /** Bytes of the archive; undefined for a build folder. */
  readonly size?: number | undefined;
  /** Digest of the archive, hex; undefined for a build folder. */
  readonly sha256?: string | undefined;
  /** For an uploaded bundle. */
  readonly backend?: RuntimeBackend | undefined;
  /** For an uploaded bundle. */
  readonly projectSlug?: string | undefined;
  /** For an uploaded bundle. */
  readonly bundleId?: BundleId | undefined;
}

/** Options of `diffBundles`. The options for a bundle's content apply to the build folders to compare. */
export interface DiffBundlesOptions extends ReadSourceOptions {
  /** The bundle before. */
  readonly from: BundleSource;
  /** The bundle after. */
  readonly to: BundleSource;
  /** Names of the environment variables that a target must have, if a bundle is what it runs. @default none */
  readonly variables?: readonly string[] | undefined;
}

/** What `diffBundles` resolves to. */
export interface DiffBundlesResult extends ContentsDiff, Warnings {
  /** The bundle that `from` names. */
  readonly before: ComparedBundle;
  /** The bundle that `to` names. */
  readonly after: ComparedBundle;
  /** The `variables` that the target lacks. Undefined without a target, and if they can't be listed. */
  readonly missingVariables?: readonly string[] | undefined;
}

/** The outcome for one bundle. */
export interface BundleDeletion {
  /** The bundle that was to be deleted. */
  readonly bundleId: BundleId;
  /** Why it was not deleted. */
  readonly error?: RuntimeCliError | undefined;
}

/** Options of `deleteBundles`. */
export interface DeleteBundlesOptions extends ProjectOptions {
  /** At least one; `latest` is the newest usable one. Duplicates count once. */
  readonly bundleIds: readonly BundleId[];
  /** Called with the bundles that the backend lists, before any is deleted. If it rejects, nothing is deleted. */
  readonly confirm?:
    | ((backend: RuntimeBackend, bundleIds: readonly BundleId[], listed: readonly BundleItem[]) => Promise<void>)
    | undefined;
  /** Called with the outcome for each bundle. */
  readonly onDeletion?: ((deletion: BundleDeletion) => void) | undefined;
}

/** What `deleteBundles` resolves to if every bundle was deleted. */
export interface DeleteBundlesResult extends ProjectResult {
  /** In the order in which they were deleted. */
  readonly deleted: readonly BundleId[];
}

/** Which bundles `pruneBundles` deletes: those that meet all of these. */
export interface PruneRules {
  /**
   * How many bundles to keep: this many of the newest that match, and for each target this many that it ran before and
   * could be rolled back to. At least 1. @default 10
   */
  readonly keep?: number | undefined;
  /** Only bundles created at least this long ago, in milliseconds. @default any age */
  readonly olderThanMs?: number | undefined;
  /** Only bundles whose whole message matches: `*` stands for any text, `?` for one character. @default any message */
  readonly match?: string | undefined;
}

/** Options of `pruneBundles`. */
export interface PruneBundlesOptions extends ProjectOptions, DryRunOptions, PruneRules {
  /** Called with what is to be deleted. If it rejects, nothing is deleted. */
  readonly confirm?: ((backend: RuntimeBackend, bundles: readonly BundleItem[]) => Promise<void>) | undefined;
}

/** What `pruneBundles` resolves to. */
export interface PruneBundlesResult extends DeleteBundlesResult, DryRunResult {
  /** What was found to delete, newest first. */
  readonly found: readonly BundleItem[];
  /** How many other bundles the project has. */
  readonly kept: number;
}
