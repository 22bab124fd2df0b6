import type {BackendSelection} from '../../backends/select.js';
import type {BundleMatches} from '../../backends/host-backend.js';
import type {BundleId} from '../../backends/contract.js';
import type {BundleContentOptions, BundlePlan} from '../../bundle/index.js';
import type {Bundle, BundleFormat, BundleProvenance, PackResult} from '../../bundle/types.js';
import type {CommonOptions, DeploymentOutcome, ProjectResult, ReleaseOptions} from '../options.js';
import type {Warnings} from '../results.js';
import type {UploadStates} from '../../backends/upload-state.js';
import type {BackendLocation} from '../../backends/built-in-backends.js';

/** Options of `pushRuntimeBundle`. */
export interface PushRuntimeBundleBackendOptions extends ReleaseOptions, BundleContentOptions {
  /** Target slug; equals the Api environment ID. When omitted, the bundle is uploaded but not deployed. */
  readonly targetSlug?: string | undefined;
  /**
   * Use the v2 format with the legacy backend, which takes v1 by default. Api is always v2.
   * @default the format of `archive`, else false
   */
  readonly v2?: boolean | undefined;
  /** A prebuilt archive to push instead of building one. */
  readonly archive?: string | undefined;
  /**
   * Skips the upload if the bundle is unchanged since the last push to the same project and backend, and the server
   * still has it. With a target, that bundle is deployed. Requires `pushRecords`. @default false
   */
  readonly ifChanged?: boolean | undefined;
  /** The preview that the bundle is for: a prefix of its message. @default none */
  readonly preview?: string | undefined;
  /** Stores the last push for `ifChanged`; every successful upload is recorded. @default nothing is stored */
  readonly pushRecords?: PushRecords | undefined;
  /** Keeps what plugins' backends need to resume an interrupted upload. @default nothing is kept */
  readonly uploadStates?: UploadStates | undefined;
}

/** Options of `pushBundleV2`: a v2 bundle, uploaded to the legacy origin. */
export interface PushV2Options extends CommonOptions, BundleContentOptions {
  /** Project slug to upload to. */
  readonly projectSlug: string;
  /** Address of the hosting service. @default the environment variable `MYCLI_RUNTIME_ORIGIN` */
  readonly origin?: string | undefined;
}

/** Format, digests and size of an archive. */
export interface ArchiveSummary extends PackResult {
  /** Format of the archive that the service got. */
  readonly format: BundleFormat;
  /** Number of files. */
  readonly files: number;
}

/** What `pushRuntimeBundle` resolves to, with the outcome of the deployment if there was one. */
export interface PushResult extends DeploymentOutcome, ProjectResult, Warnings {
  /** What the service calls the bundle. */
  readonly bundleId: BundleId;
  /** The target that was deployed to. Undefined without one. */
  readonly targetSlug?: string | undefined;
  /** The description of the bundle. */
  readonly message: string;
  /** Whether the upload was skipped (`ifChanged`): `bundleId` is the bundle of the last push. */
  readonly unchanged: boolean;
  /** Time that bundle was uploaded, ISO 8601; only if `unchanged`. */
  readonly pushedAt?: string | undefined;
  /** Whether a deployment was accepted. It may still fail: see `status`. */
  readonly deployed: boolean;
  /** Matches reported by the server, `{}` if none. */
  readonly matches: BundleMatches;
  /** The archive that was built or passed in, whether or not it was sent. */
  readonly archive: ArchiveSummary;
  /** Where the bundle comes from; undefined outside git and CI. */
  readonly provenance?: BundleProvenance | undefined;
  /** The backend's own responses, unmodified. */
  readonly raw: {
    /** To the upload. Undefined if nothing was uploaded. */
    readonly bundle?: unknown;
    /** To the deployment. Undefined if nothing was deployed. */
    readonly deployment?: unknown;
  };
}

/** What `pushBundleV2` resolves to. */
export type PushV2Result = Pick<
  PushResult,
  'bundleId' | 'projectSlug' | 'message' | 'warnings' | 'matches' | 'archive'
> & {
  /** The server's own answer, untouched. */
  readonly raw: unknown;
};

/** What a push would do. */
export interface PushPreview extends Warnings {
  /** The selected backend, and why. */
  readonly selection: BackendSelection;
  /** What the service would get. */
  readonly format: BundleFormat;
  /** What to pack, or the prebuilt archive. */
  readonly content:
    | {
        /** A build folder. */
        readonly kind: 'build';
        /** What would be packed. */
        readonly plan: BundlePlan;
      }
    | {
        /** A prebuilt archive. */
        readonly kind: 'archive';
        /** What is in it. */
        readonly bundle: Bundle;
      };
  /** The bundle of the last push, if `ifChanged` is set and this one is the same. */
  readonly unchanged?: UnchangedBundle | undefined;
}

/** The bundle of the last push, which a new one would only duplicate. */
export interface UnchangedBundle {
  /** Its ID. */
  readonly bundleId: BundleId;
  /** When it was uploaded, ISO 8601. */
  readonly pushedAt: string;
  /** The message of the last push, if the server reports it. */
  readonly message?: string | undefined;
  /** The archive that was uploaded. */
  readonly archive: PackResult;
}

/** Where bundles are pushed to: a project on a backend. Plain JSON without secrets. */
export interface PushPlace extends BackendLocation {
  /** The project's slug; with OAuth, the storefront's ID. */
  readonly projectSlug: string;
}

/** The last push to a place. */
export interface PushRecord {
  /** ID of the bundle on that backend. */
  readonly bundleId: BundleId;
  /** Digest of everything that identifies the bundle's content, hex. */
  readonly fingerprint: string;
  /** Total size of the bundle's files, in bytes. A bundle of another size has changed. */
  readonly fileBytes: number;
  /** Size of the uploaded archive, in bytes. */
  readonly size: number;
  /** Digest of the uploaded archive, hex. */
  readonly sha256: string;
  /** When it was uploaded, ISO 8601. */
  readonly pushedAt: string;
}

/** Stores the last push to each place. If a method rejects, the push continues as if there were no record. */
export interface PushRecords {
  /** Resolves to undefined if nothing was pushed there. */
  read(place: PushPlace): Promise<PushRecord | undefined>;
  /** Replaces the record of the place. If two pushes write at once, either record may win, but must be complete. */
  write(place: PushPlace, record: PushRecord): Promise<void>;
}
