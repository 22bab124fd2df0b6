import {tmpdir} from 'node:os';
import type {Writable} from 'node:stream';
import {createSweptDirectory} from './files/temporary-directory.js';
import type {AuthStrategy} from './http/index.js';
import {withOwnFiles, type BundlePlan} from './bundle/index.js';
import type {PackResult} from './bundle/types.js';
import {
  buildBundle as build,
  buildBundleInto as buildInto,
  previewBuild as previewOfBuild,
  type BuildBundleResult,
  type PreviewBuildOptions,
} from './operations/build-bundle.js';
import {
  deleteBundles as remove,
  type DeleteBundlesOptions,
  type DeleteBundlesResult,
} from './operations/delete-bundles.js';
import {deployBundle as deploy} from './operations/deploy/deploy-bundle.js';
import {bundleSource as sourceOf, type BundleSource} from './operations/bundle-source.js';
import {diffBundles as diff, type DiffBundlesOptions, type DiffBundlesResult} from './operations/diff-bundles.js';
import {
  downloadBundle as download,
  type DownloadBundleOptions,
  type DownloadBundleResult,
} from './operations/download-bundle.js';
import {withEvents} from './operations/event-feed.js';
import {runStepsSilently, waitStep, watched, type Host} from './operations/steps.js';
import {
  inspectArchive as lookIntoArchive,
  inspectBundle as lookIntoBundle,
  type ArchiveInspection,
  type BundleInspection,
  type InspectArchiveOptions,
  type InspectBundleOptions,
} from './operations/inspect-bundle.js';
import {
  listBundles as list,
  listDeployments as history,
  type ListBundlesResult,
  type ListDeploymentsResult,
} from './operations/list.js';
import type {
  BuildBundleOptions,
  DeployBundleOptions,
  DeployBundleResult,
  ListBundlesOptions,
  ListDeploymentsOptions,
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  PushV2Result,
  WaitForDeploymentOptions,
} from './operations/options.js';
import {
  pushBundleV2 as pushV2,
  previewPush as previewOfPush,
  pushRuntimeBundle as push,
} from './operations/push/push-runtime-bundle.js';
import type {PushPreview} from './operations/push/plan-push.js';
import {pruneBundles as prune, type PruneBundlesOptions, type PruneBundlesResult} from './operations/prune-bundles.js';
import {
  rollbackBundle as rollback,
  type RollbackBundleOptions,
  type RollbackBundleResult,
} from './operations/deploy/rollback-bundle.js';
import {
  promoteBundle as promote,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from './operations/deploy/promote-bundle.js';
import {
  readDeploymentLogs as readLogs,
  type ReadLogsOptions,
  type ReadLogsResult,
} from './operations/deploy/read-logs.js';
import {waitForDeployment as wait} from './operations/deploy/wait-for-deployment.js';
import {getProjectStatus as statusOf, type ProjectStatus, type ProjectStatusOptions} from './operations/targets.js';
import type {DeploymentState} from './backends/contract.js';
import {packageVersion} from './version.js';

/**
 * Builds a bundle, uploads it to the backend that `preference` selects, and deploys it if there is a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function pushRuntimeBundle(options: PushRuntimeBundleBackendOptions): Promise<PushResult> {
  return withEvents(options, processHost(), (host) => push(options, host));
}

/**
 * Does everything a push does before it sends anything that writes: verifies the push, and with `ifChanged` builds the
 * bundle and compares it with the last one pushed.
 * @throws RuntimeCliError for everything that would make the push fail before it sends anything.
 */
export function previewPush(options: PushRuntimeBundleBackendOptions): Promise<PushPreview> {
  return withEvents(options, processHost(), async (host) => {
    const preview = await previewOfPush(options, host);
    withOwnFiles(preview.content.kind === 'build' ? preview.content.plan : preview.content.bundle);
    return preview;
  });
}

/**
 * Builds a v2 bundle and uploads it to the legacy origin, without deploying it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function pushBundleV2(options: PushV2Options, auth: AuthStrategy): Promise<PushV2Result> {
  return withEvents(options, processHost(), (host) => pushV2(options, auth, host));
}

/**
 * Builds an archive file and its manifest.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function buildBundle(options: BuildBundleOptions): Promise<BuildBundleResult> {
  return withEvents(options, processHost(), async (host) => {
    const result = await build(options, host);
    withOwnFiles(result.bundle);
    return result;
  });
}

/**
 * Builds an archive into a stream, without a manifest, and ends it (stdout stays open).
 * @throws RuntimeCliError for everything a user can cause; the stream's own error; `signal.reason` when aborted.
 */
export function buildBundleInto(destination: Writable, options: PreviewBuildOptions): Promise<PackResult> {
  return withEvents(options, processHost(), (host) => buildInto(destination, options, host));
}

/**
 * Verifies a build's files, configuration and pattern matches. Writes nothing.
 * @throws RuntimeCliError for everything that would make the build fail before it writes anything.
 */
export function previewBuild(options: PreviewBuildOptions): Promise<BundlePlan> {
  return withEvents(options, processHost(), async (host) => withOwnFiles(await previewOfBuild(options, host)));
}

/**
 * Inspects an archive file: its files, configuration, matches and problems.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` when it is damaged or not a bundle; `signal.reason` when aborted.
 */
export function inspectArchive(path: string, options: InspectArchiveOptions = {}): Promise<ArchiveInspection> {
  return withEvents(options, processHost(), (host) => lookIntoArchive(path, options, host));
}

/**
 * Downloads a bundle to a temporary folder and inspects it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function inspectBundle(options: InspectBundleOptions): Promise<BundleInspection> {
  return withEvents(options, processHost(), (host) => lookIntoBundle(options, host));
}

/**
 * Compares two bundles by the digests of their files. Each is an archive, a manifest, a build directory, an uploaded
 * bundle or what a target runs.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function diffBundles(options: DiffBundlesOptions): Promise<DiffBundlesResult> {
  return withEvents(options, processHost(), (host) => diff(options, host));
}

/**
 * What a text for users names: `running:TARGET` what a target runs, `bundle:ID` an uploaded bundle. Anything else that
 * exists, or contains a slash, a backslash or a dot, is a path. The rest is the ID of an uploaded bundle, or `latest`.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` if the path does not exist.
 */
export function bundleSource(text: string): Promise<BundleSource> {
  return sourceOf(text, process.cwd());
}

/**
 * Deploys an uploaded bundle, or the latest one, to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function deployBundle(options: DeployBundleOptions): Promise<DeployBundleResult> {
  return withEvents(options, processHost(), (host) => deploy(options, host));
}

/**
 * Waits for a deployment to end.
 * @throws RuntimeCliError `ERR_DEPLOYMENT_FAILED`, `ERR_WAIT_TIMEOUT` or `ERR_OUTCOME_UNKNOWN` when it did not finish.
 */
export function waitForDeployment(options: WaitForDeploymentOptions): Promise<DeploymentState> {
  return withEvents(options, processHost(), (host) =>
    host.runSteps([waitStep], (step) => step('wait', (view) => wait(watched(options, view), host))),
  );
}

/**
 * Lists the bundles of a project.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function listBundles(options: ListBundlesOptions): Promise<ListBundlesResult> {
  return withEvents(options, processHost(), (host) => list(options, host));
}

/**
 * Lists the deployments to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function listDeployments(options: ListDeploymentsOptions): Promise<ListDeploymentsResult> {
  return withEvents(options, processHost(), (host) => history(options, host));
}

/**
 * Downloads a bundle's archive to a file, which is created only once it is complete and valid. An interrupted download
 * is kept next to it as `FILE.part`, and the next one resumes it if the server supports that.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function downloadBundle(options: DownloadBundleOptions): Promise<DownloadBundleResult> {
  return withEvents(options, processHost(), (host) => download(options, host));
}

/**
 * Deletes bundles, one after the other. It goes on if the server refuses one.
 * @throws RuntimeCliError when any was not deleted. Its `details` list which were `deleted`, which `failed` and which
 * were `notTried`.
 */
export function deleteBundles(options: DeleteBundlesOptions): Promise<DeleteBundlesResult> {
  return withEvents(options, processHost(), (host) => remove(options, host));
}

/**
 * Deletes bundles that are no longer needed: none that a target runs, is getting or could be rolled back to, and none
 * of the newest.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function pruneBundles(options: PruneBundlesOptions): Promise<PruneBundlesResult> {
  return withEvents(options, processHost(), (host) => prune(options, host));
}

/**
 * Deploys the bundle that a target ran before the current one, or the one given by `to`.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function rollbackBundle(options: RollbackBundleOptions): Promise<RollbackBundleResult> {
  return withEvents(options, processHost(), (host) => rollback(options, host));
}

/**
 * Deploys the bundle that one target runs to another. Uses the backend's own promotion if it has one.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function promoteBundle(options: PromoteBundleOptions): Promise<PromoteBundleResult> {
  return withEvents(options, processHost(), (host) => promote(options, host));
}

/**
 * Reads the log of a deployment, with `follow` until it is complete.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function readDeploymentLogs(options: ReadLogsOptions): Promise<ReadLogsResult> {
  return withEvents(options, processHost(), (host) => readLogs(options, host));
}

/**
 * Tells what each target of a project runs, where, and what is being deployed to it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function getProjectStatus(options: ProjectStatusOptions): Promise<ProjectStatus> {
  return withEvents(options, processHost(), (host) => statusOf(options, host));
}

/** What library calls use of the process, looked up at each call. */
function processHost(): Host {
  return {
    cwd: process.cwd(),
    env: process.env,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => {
        process.emitWarning(message, 'MycliWarning');
      },
    },
    userAgent: `mycli/${packageVersion()} node-${process.version}`,
    now: () => new Date(),
    runSteps: runStepsSilently,
    createTemporaryDirectory: () => createSweptDirectory(tmpdir()),
  };
}

export {renderBundlePage, type BundlePageOptions} from './html/bundle-page.js';
export type {BundleContentOptions, BundlePlan} from './bundle/index.js';
export type {PackResult} from './bundle/types.js';
export type {
  DeploymentWaitEvent,
  EventError,
  FailureEvent,
  OutcomeEvent,
  ProgressEvent,
  RetryWaitEvent,
  RuntimeEvent,
  StepEvent,
  SuccessEvent,
  WaitEvent,
  WarningEvent,
} from './operations/events.js';
export type {
  ArchiveSummary,
  BuildBundleOptions,
  CheckedDeployOptions,
  CheckOptions,
  CheckOutcome,
  CheckResult,
  CommonOptions,
  ConnectionOptions,
  DeployBundleOptions,
  DeployBundleResult,
  GuardOptions,
  GuardRules,
  ListBundlesOptions,
  ListDeploymentsOptions,
  OperationProgress,
  Phase,
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  PushV2Result,
  RollbackOnFailureOptions,
  SlotOptions,
  TargetConfirmation,
  WaitForDeploymentOptions,
  WaitOptions,
} from './operations/options.js';
export type {BuildBundleResult, PreviewBuildOptions} from './operations/build-bundle.js';
export type {PruneBundlesOptions, PruneBundlesResult, PruneRules} from './operations/prune-bundles.js';
export type {BundleDeletion, DeleteBundlesOptions, DeleteBundlesResult} from './operations/delete-bundles.js';
export type {DownloadBundleOptions, DownloadBundleResult} from './operations/download-bundle.js';
export type {
  ArchiveInspection,
  BundleInspection,
  InspectArchiveOptions,
  InspectBundleOptions,
  PatternMatches,
} from './operations/inspect-bundle.js';
export type {ArchiveContents, ArchiveLayoutOptions, BundleContents, ContentFile} from './operations/bundle-contents.js';
export type {
  OpenUploadState,
  PushPlace,
  PushRecord,
  PushRecords,
  UploadPlace,
  UploadStates,
} from './operations/push/records.js';
export type {BundleSource, ReadSourceOptions} from './operations/bundle-source.js';
export type {
  CategoryDiff,
  ConfigChange,
  ContentsDiff,
  DiffTotal,
  FileChange,
  FileDifference,
  FileState,
  FileTotal,
} from './operations/compare-contents.js';
export type {ComparedBundle, DiffBundlesOptions, DiffBundlesResult} from './operations/diff-bundles.js';
export type {ListBundlesResult, ListedDeployment, ListDeploymentsResult} from './operations/list.js';
export type {PushPreview} from './operations/push/plan-push.js';
export type {ProjectStatus, ProjectStatusOptions, TargetStatus} from './operations/targets.js';
export type {UnchangedBundle} from './operations/push/unchanged-bundle.js';
export type {ReadLogsOptions, ReadLogsResult} from './operations/deploy/read-logs.js';
export type {PromoteBundleOptions, PromoteBundleResult} from './operations/deploy/promote-bundle.js';
export type {RollbackBundleOptions, RollbackBundleResult} from './operations/deploy/rollback-bundle.js';
export type {BackendSettings} from './backends/built-ins.js';
export type {
  Backend,
  BundleId,
  BundleItem,
  BundleMatches,
  DeploymentItem,
  DeploymentRef,
  DeploymentState,
  DeploymentStatus,
  TargetItem,
} from './backends/contract.js';
export type {
  Bundle,
  BundleConfig,
  BundleFile,
  BundleFileCategory,
  BundleFormat,
  BundleProvenance,
  BundleV2MatchMode,
  BundleV2Metadata,
  PlannedBundleFile,
} from './bundle/types.js';
export {defineConfig, type ConfiguredCheck, type MycliConfig, type TargetConfig} from './config.js';
export type {SettingSource} from './bundle/config/resolve-config.js';
export type {BackendLocation} from './backends/built-ins.js';
export type {ApiRuntimeConnection} from './backends/api/backend.js';
export {
  createBackendRegistry,
  type BackendFailure,
  type BackendRegistration,
  type BackendRegistry,
} from './backends/registry.js';
export type {BackendSelection, RuntimeBackend, RuntimeBackendPreference} from './backends/select.js';
export {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from './http/index.js';
export type {
  AuthContext,
  AuthStrategy,
  HttpClient,
  HttpOptions,
  HttpRequest,
  HttpResponse,
  HttpStream,
  OAuthClientCredentialsOptions,
  RetryEvent,
  UploadProgress,
} from './http/index.js';
export type {RateLimitMiddlewareConfig} from './http/rate-limit/index.js';
export {
  CredentialsError,
  DeploymentFailedError,
  InputError,
  InterruptedError,
  isRuntimeCliError,
  NetworkError,
  NotRolledBackError,
  OutcomeUnknownError,
  RateLimitError,
  RejectedError,
  RolledBackError,
  RuntimeCliError,
  UnhealthyError,
  UsageError,
  WaitTimeoutError,
  type ErrorCode,
} from './errors/index.js';
