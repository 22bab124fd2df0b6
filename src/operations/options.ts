import type {BackendSettings} from '../backends/built-in-backends.js';
import type {BundleId, DeploymentRef, DeploymentStatus, WriteOperation} from '../backends/contract.js';
import type {BackendRegistry} from '../backends/registry.js';
import type {RuntimeBackend, RuntimeBackendPreference} from '../backends/names.js';
import type {RateLimitMiddlewareConfig} from '../http/rate-limit/index.js';
import type {MycliConfig} from '../config.js';
import type {FollowUps} from '../settings/types.js';
import type {RuntimeEvent} from './events.js';
import type {Warnings} from './results.js';

/** What an operation does. `slot`: another deployment has to end first. `check`: the deployed site is checked. */
export type Phase = 'build' | 'upload' | 'slot' | 'wait' | 'check' | 'download';

/** Progress of an operation. */
export interface OperationProgress {
  /** What is going on. */
  readonly phase: Phase;
  /** Bytes, or percent of a deployment. */
  readonly transferred: number;
  /** Absent if it is not known. */
  readonly total?: number | undefined;
  /** Upload only: 1 for the first attempt. A retry starts again at 0. */
  readonly attempt?: number | undefined;
  /** `wait`: the state of the deployment. */
  readonly status?: DeploymentStatus | undefined;
  /** `wait`: the state in words. `slot`: what runs, since when, by whom. `check`: the URL, and why it is retried. */
  readonly description?: string | undefined;
  /** `wait` and `slot`: milliseconds until waiting ends. Absent without a time limit. */
  readonly leftMs?: number | undefined;
  /** `upload` and `download`: milliseconds without a byte after which the attempt is given up. */
  readonly idleMs?: number | undefined;
}

/** Options of every operation. */
export interface CommonOptions extends Pick<
  MycliConfig,
  'requestTimeout' | 'connectTimeout' | 'idleTimeout' | 'uploadRetries'
> {
  /** Cancels the operation, which rejects with `signal.reason` and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called with progress. The last `upload` one has `transferred` equal to `total`. What it throws is ignored. */
  readonly onProgress?: ((progress: OperationProgress) => void) | undefined;
  /** Called with everything that happens, the outcome last. What it throws is ignored. */
  readonly onEvent?: ((event: RuntimeEvent) => void) | undefined;
  /** Rules for retrying rate-limited requests. Each wait is an event. */
  readonly rateLimit?: RateLimitMiddlewareConfig | undefined;
  /** Base directory for relative paths. @default the process's working directory */
  readonly cwd?: string | undefined;
}

/** The available backends and how to reach them. */
export interface ConnectionOptions extends BackendSettings {
  /** The backends to choose from. @default the built-in ones */
  readonly backends?: BackendRegistry | undefined;
}

/** Options of every operation on a project. */
export interface ProjectOptions extends CommonOptions, ConnectionOptions {
  /** The backend preference (`--runtime-backend`). */
  readonly preference: RuntimeBackendPreference;
  /** Project slug; equals the Api storefront ID. */
  readonly projectSlug: string;
}

/** Options of every operation on a target. */
export interface TargetOptions extends ProjectOptions {
  /** The target that the call is about. */
  readonly targetSlug: string;
}

/** Where a result comes from. */
export interface ProjectResult {
  /** The backend that served the call. */
  readonly backend: RuntimeBackend;
  /** The project that the call was about. */
  readonly projectSlug: string;
}

/** Where a result about a target comes from. */
export interface TargetResult extends ProjectResult {
  /** The target that the call was about. */
  readonly targetSlug: string;
}

/** How long to wait for a deployment. */
export type WaitOptions = Pick<MycliConfig, 'pollInterval' | 'timeout'>;

/** Options of calls with a dry run. */
export interface DryRunOptions {
  /** Checks everything that needs no change, and changes nothing. @default false */
  readonly dryRun?: boolean | undefined;
}

/** What to do before a deployment, after it, and about one that fails. */
export interface DeploymentOptions extends FollowUps, Pick<MycliConfig, 'wait' | 'waitForSlot' | keyof WaitOptions> {}

/** How a check ended. */
export interface CheckedAddress {
  /** Without its query. */
  readonly url: string;
  /** Whether its last answer was as expected. */
  readonly passed: boolean;
  /** Number of requests, without redirects. */
  readonly attempts: number;
  /** HTTP status of the last response; undefined if there was none. */
  readonly status?: number | undefined;
  /** Why it did not pass. */
  readonly reason?: string | undefined;
}

/** How the checks of a deployment ended. */
export interface CheckOutcome {
  /** Whether all of them passed. */
  readonly passed: boolean;
  /** The checks that were made: none after the first that did not pass. */
  readonly checks: readonly CheckedAddress[];
}

/** What must hold before something is deployed to a target. What is not set is not checked. */
export type GuardRules = NonNullable<MycliConfig['guard']>;

/** What a person is asked to confirm. */
export interface TargetConfirmation {
  /** What is about to be done. */
  readonly operation: Exclude<WriteOperation, 'delete'>;
  /** The project of the target. */
  readonly projectSlug: string;
  /** The target that would be changed. */
  readonly targetSlug: string;
  /** Undefined for a push, and where no bundle is deployed. */
  readonly bundleId?: BundleId | undefined;
}

/** A target or a project that a call is about to create, because the service has none of that name. */
export interface NewPlace {
  /** Which of them. */
  readonly kind: 'target' | 'project';
  /** Its name. */
  readonly slug: string;
  /** Existing ones with nearly the same name, the nearest first. */
  readonly meant: readonly string[];
}

/** What must hold before something is deployed to a target. */
export interface GuardOptions extends Pick<MycliConfig, 'production'> {
  /**
   * Checked before anything is built or changed. Only `ciOnly` and `confirm` apply to a rollback,
   * and where nothing is deployed. @default nothing
   */
  readonly guard?: GuardRules | undefined;
  /**
   * Asks a person to type the name of the target, for `guard.confirm`. Resolves to what was typed.
   * @default no one can be asked, so `guard.confirm` refuses
   */
  readonly confirmTarget?: ((confirmation: TargetConfirmation) => Promise<string>) | undefined;
}

/** What a call says about a target or a project that it creates. */
export interface NewPlaceOptions extends Pick<MycliConfig, 'create'> {
  /**
   * Called before a call creates its target or its project, if the backend lists them: only for the project, if the
   * call is there to create a target. If it rejects, nothing is changed. Not called if `create` is set.
   * @default nobody is asked
   */
  readonly confirmNew?: ((found: NewPlace) => Promise<void>) | undefined;
}

/** What a push and a deployment have in common. */
export interface ReleaseOptions extends ProjectOptions, DeploymentOptions, GuardOptions, NewPlaceOptions {
  /** Called when `auto` falls back from Api to legacy. */
  readonly onFallback?: ((reason: string) => void) | undefined;
  /** Called with the backend about to serve the call, and again after a fallback. */
  readonly onResolve?: ((backend: RuntimeBackend) => void) | undefined;
}

/** Options of `deployBundle`. */
export interface DeployBundleOptions extends ReleaseOptions {
  /** Directory in the git work tree, for `guard`. @default the working directory */
  readonly projectDirectory?: string | undefined;
  /** Target slug; equals the Api environment ID. */
  readonly targetSlug: string;
  /** ID of an uploaded bundle, or `latest`: the newest usable one by creation time. */
  readonly bundleId: BundleId;
}

/** Options of `rollbackBundle`. */
export interface RollbackBundleOptions extends Omit<
  DeployBundleOptions,
  'bundleId' | 'onFallback' | 'onResolve' | 'waitForSlot' | 'rollbackOnFailure' | 'create' | 'confirmNew'
> {
  /**
   * The bundle to roll back to; `latest` is the newest usable one. @default the last other bundle that ran, without
   * those that were rolled back or failed their check
   */
  readonly to?: BundleId | undefined;
}

/** Options of `promoteBundle`. */
export interface PromoteBundleOptions extends Omit<DeployBundleOptions, 'bundleId' | 'onFallback' | 'onResolve'> {
  /** Slug of the target whose bundle is deployed. */
  readonly from: string;
}

/** Options of `waitForDeployment`. */
export interface WaitForDeploymentOptions extends CommonOptions, ConnectionOptions, WaitOptions {
  /** The backend that made the deployment. */
  readonly backend: RuntimeBackend;
  /** The project of the deployment. */
  readonly projectSlug: string;
  /** The reference returned by a push or a deployment. */
  readonly deployment: DeploymentRef;
}

/** A deployment, if there was one, and its known outcome. */
export interface DeploymentOutcome {
  /** Undefined if the service reports none. */
  readonly deploymentId?: string | number | undefined;
  /**
   * http(s) URL of the target, or of a preview of a bundle that was pushed without one, if the backend reports it. It
   * shows the bundle once `status` is `finished`. Otherwise, `getProjectStatus` may know the target's.
   */
  readonly url?: string | undefined;
  /** The deployment, for `waitForDeployment`. */
  readonly deployment?: DeploymentRef | undefined;
  /** Status at the last poll: `finished` after waiting, otherwise usually `queued`, which does not mean success. */
  readonly status?: DeploymentStatus | undefined;
  /** How its checks ended, if there were any. */
  readonly check?: CheckOutcome | undefined;
}

/** What `deployBundle` resolves to. */
export interface DeployBundleResult extends DeploymentOutcome, TargetResult, Warnings {
  /** The deployed bundle, with `latest` resolved to its ID. */
  readonly bundleId: BundleId;
  readonly deployment: DeploymentRef;
  readonly status: DeploymentStatus;
  /** The backend's own answer, untouched. */
  readonly raw?: unknown;
}

/** What `rollbackBundle` resolves to. */
export interface RollbackBundleResult extends DeployBundleResult {
  /** The bundle that ran before. Undefined if it is the same one, or not known. */
  readonly rolledBackFrom?: BundleId | undefined;
}

/** What `promoteBundle` resolves to. */
export interface PromoteBundleResult extends DeployBundleResult {
  /** The target that ran the bundle. */
  readonly promotedFrom: string;
}
