export * from './library.js';
export type {BundleContentOptions, BundlePlan} from './bundle/index.js';
export type {PackResult} from './bundle/types.js';
export type * from './operations/events.js';
export type * from './operations/bundle-options.js';
export type * from './operations/options.js';
export type {CheckedAddress as CheckResult} from './operations/options.js';
export type * from './operations/push/options.js';
export type * from './operations/targets/options.js';
// By the names of their functions.
export type {PreviewBuildOptions as BuildBundleIntoOptions} from './operations/bundle-options.js';
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
export type {ProjectStatusOptions as GetProjectStatusOptions} from './operations/targets/options.js';
export type {CheckOptions} from './settings/types.js';
export type {ArchiveInspection, PatternMatches} from './bundle/contents/bundle-contents.js';
export type {
  ArchiveContents,
  ArchiveLayoutOptions,
  BundleContents,
  ContentFile,
} from './bundle/contents/bundle-contents.js';
export type {UploadPlace, UploadStates} from './backends/upload-state.js';
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
