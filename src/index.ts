export * from './library.js';
export type {BundleContentOptions, BundlePlan} from './bundle/index.js';
export type {PackResult} from './bundle/types.js';
export type * from './operations/events.js';
export type * from './operations/options.js';
export type {CheckedAddress as CheckResult} from './operations/options.js';
export type * from './operations/push/options.js';
// By the names of their functions.
export type {PreviewBuildOptions as BuildBundleIntoOptions} from './operations/build-bundle.js';
export type {
  ProjectOptions as ListPreviewsOptions,
  ProjectOptions as ListTargetsOptions,
  TargetOptions as ListVariablesOptions,
} from './operations/options.js';
export type {
  PushRuntimeBundleBackendOptions as PreviewPushOptions,
  PushRuntimeBundleBackendOptions as PushRuntimeBundleOptions,
  PushV2Options as PushBundleV2Options,
  PushV2Result as PushBundleV2Result,
} from './operations/push/options.js';
export type {ProjectStatusOptions as GetProjectStatusOptions} from './operations/targets/find-targets.js';
export type {CheckOptions} from './settings/types.js';
export type {BuildBundleResult, PreviewBuildOptions} from './operations/build-bundle.js';
export type {PruneBundlesOptions, PruneBundlesResult, PruneRules} from './operations/prune-bundles.js';
export type {BundleDeletion, DeleteBundlesOptions, DeleteBundlesResult} from './operations/delete-bundles.js';
export type {
  DownloadBundleOptions,
  DownloadBundleResult,
  BundleInspection,
  InspectArchiveOptions,
  InspectBundleOptions,
} from './operations/download-bundle.js';
export type {ArchiveInspection, PatternMatches} from './bundle/contents/inspect-archive.js';
export type {
  ArchiveContents,
  ArchiveLayoutOptions,
  BundleContents,
  ContentFile,
} from './bundle/contents/bundle-contents.js';
export type * from './operations/push/records.js';
export type {UploadPlace, UploadStates} from './backends/upload-state.js';
export type {BundleSource, ComparedBundle, ReadSourceOptions} from './operations/bundle-source.js';
export type {
  CategoryDiff,
  ConfigChange,
  ContentsDiff,
  DiffTotal,
  FileChange,
  FileDifference,
  FileState,
  FileTotal,
} from './bundle/contents/compare-contents.js';
export type {DiffBundlesOptions, DiffBundlesResult} from './pipelines/diff.js';
export type {ListBundlesResult, ListedDeployment, ListDeploymentsResult} from './operations/list-bundles.js';
export type {PushPreview} from './operations/push/plan-push.js';
export type {ProjectStatus, ProjectStatusOptions, TargetStatus} from './operations/targets/find-targets.js';
export type {AppliedTarget, ApplyTargetOptions} from './operations/targets/apply-target.js';
export type {
  DiffTargetOptions,
  TargetConfiguration,
  TargetDiff,
  TargetDifference,
} from './operations/targets/compare-target.js';
export type {ListProjectsOptions, ListProjectsResult} from './pipelines/configure.js';
export type {CreatedTarget, CreateTargetOptions} from './operations/targets/create-target.js';
export type {DeletedTarget, DeleteTargetOptions, DoomedTarget} from './operations/targets/delete-target.js';
export type {
  ChangedTarget,
  InvalidateOptions,
  InvalidateResult,
  SetVariablesOptions,
  SetVariablesResult,
  TargetChangeOptions,
} from './operations/targets/changes.js';
export type {
  DeletedPreview,
  DeletePreviewOptions,
  DeployedPreview,
  DeployPreviewOptions,
  DoomedPreview,
  PreviewItem,
  PrunePreviewsOptions,
} from './operations/targets/previews.js';
export type {ListPreviewsResult, PrunePreviewsResult} from './pipelines/previews.js';
export type {TailLogsOptions} from './operations/targets/tail-logs.js';
export type {ListTargetsResult, ListVariablesResult} from './pipelines/targets.js';
export type {UnchangedBundle} from './operations/push/unchanged-bundle.js';
export type {BackendSettings} from './backends/built-in-backends.js';
export type {BundleMatches} from './backends/host-backend.js';
export type {
  Backend,
  BundleId,
  BundleItem,
  DeployOperation,
  DeploymentItem,
  DeploymentRef,
  DeploymentState,
  DeploymentStatus,
  LogEntry,
  ProjectItem,
  TargetItem,
  TargetState,
  VariableItem,
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
export {
  defineConfig,
  type ConfiguredCheck,
  type MycliConfig,
  type Redirect,
  type SharedConfig,
  type TargetConfig,
  type TargetProxy,
  type TargetSettings,
} from './config.js';
export type {SettingSource} from './bundle/config/resolve-config.js';
export type {BackendLocation} from './backends/built-in-backends.js';
export type {ApiRuntimeConnection} from './backends/host-backend.js';
export {
  createBackendRegistry,
  type BackendFailure,
  type BackendRegistration,
  type BackendRegistry,
  type PluginBackend,
} from './backends/registry.js';
export type {RuntimeBackend, RuntimeBackendPreference} from './backends/names.js';
export type {BackendSelection} from './backends/select.js';
export {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from './http/auth/strategies.js';
export type {OAuthClientCredentialsOptions} from './http/auth/strategies.js';
export type {ClientKey} from './http/auth/client-assertion.js';
export type {
  AuthContext,
  AuthStrategy,
  HttpClient,
  HttpOptions,
  HttpRequest,
  HttpResponse,
  HttpStream,
  RetryEvent,
  UploadProgress,
} from './http/types.js';
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
  type CommandToRun,
  type Suggestion,
  WaitTimeoutError,
  type ErrorCode,
} from './errors/index.js';
