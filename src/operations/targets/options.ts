import type {
  BundleId,
  DeploymentItem,
  ProjectItem,
  Redirect,
  TargetItem,
  TargetSettings,
  VariableItem,
} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/names.js';
import type {
  DryRunOptions,
  GuardOptions,
  NewPlaceOptions,
  ProjectOptions,
  ProjectResult,
  ReleaseOptions,
  TargetOptions,
  TargetResult,
  WaitOptions,
} from '../options.js';
import type {DryRunResult, Warnings} from '../results.js';
import type {PushResult, PushRuntimeBundleBackendOptions} from '../push/options.js';

/** Options of each change of a target. */
export interface TargetChangeOptions extends DryRunOptions, TargetOptions, GuardOptions {}

/** What each change of a target resolves to. */
export interface ChangedTarget extends TargetResult, DryRunResult, Warnings {}

/** Options of `invalidate`. */
export interface InvalidateOptions extends TargetChangeOptions {
  /** Paths to clear from the cache; each starts with a slash, and `*` stands for anything. @default ['/*'] */
  readonly patterns?: readonly string[] | undefined;
}

/** What `invalidate` resolves to, once the service has accepted it. It takes minutes. */
export interface InvalidateResult extends ChangedTarget {
  /** The paths whose caches were cleared, as in `/images/*`. */
  readonly patterns: readonly string[];
}

/** Options of `setVariables`. At least one variable is set or removed. */
export interface SetVariablesOptions extends TargetChangeOptions, WaitOptions {
  /** Values by name. They are masked in errors and messages of the call. @default {} */
  readonly set?: Readonly<Record<string, string>> | undefined;
  /** Names of variables to remove. @default [] */
  readonly unset?: readonly string[] | undefined;
  /** Waits until the target is published with them. The interval is 10 s by default. @default false */
  readonly wait?: boolean | undefined;
}

/** What `setVariables` resolves to. */
export interface SetVariablesResult extends ChangedTarget {
  /** Names of the variables that were set. */
  readonly set: readonly string[];
  /** Names of the variables that were removed. */
  readonly unset: readonly string[];
}

/** What `listTargets` resolves to. */
export interface ListTargetsResult extends ProjectResult {
  /** In the order of the server's list. */
  readonly targets: readonly TargetItem[];
}

/** What `listVariables` resolves to. */
export interface ListVariablesResult extends TargetResult {
  /** By name. Values stay on the service. */
  readonly variables: readonly VariableItem[];
}

/** Options of `getProjectStatus`. */
export interface ProjectStatusOptions extends ProjectOptions {
  /** The target to look at. @default every target, if the backend can list them */
  readonly targetSlug?: string | undefined;
  /** Every target, if the backend can list them, else `targetSlug`. @default false if there is a `targetSlug` */
  readonly allTargets?: boolean | undefined;
}

/** What a target runs, and what is happening to it. */
export interface TargetStatus extends Pick<TargetItem, 'targetSlug' | 'state' | 'url'> {
  /** The deployment whose bundle runs, if there is one and the server reports it. */
  readonly live?: DeploymentItem | undefined;
  /** The deployment that is queued or in progress. */
  readonly underway?: DeploymentItem | undefined;
  /** The newest deployment, if it failed. */
  readonly failed?: DeploymentItem | undefined;
}

/** What `getProjectStatus` resolves to. */
export interface ProjectStatus extends ProjectResult {
  /** In the order of the server's list. */
  readonly targets: readonly TargetStatus[];
}

/** Options of `listProjects`. */
export type ListProjectsOptions = Omit<ProjectOptions, 'projectSlug'>;

/** What `listProjects` resolves to. */
export interface ListProjectsResult {
  /** The backend that was asked. */
  readonly backend: RuntimeBackend;
  /** In the order of the server's list. */
  readonly projects: readonly ProjectItem[];
}

/** The configuration of a target. What is not set is neither compared nor changed. */
export interface TargetConfiguration {
  /** Its settings; those that are not named stay as they are. */
  readonly settings?: TargetSettings | undefined;
  /** Redirects that it must have. */
  readonly redirects?: readonly Redirect[] | undefined;
  /** Removes the redirects that are not among `redirects`. @default false */
  readonly prune?: boolean | undefined;
  /** Whether visitors need an access header. */
  readonly access?: boolean | undefined;
  /** Makes it the primary target of its project. `false` has no effect: make another target the primary one. */
  readonly primary?: boolean | undefined;
  /** Names of the environment variables that it must have. */
  readonly variables?: readonly string[] | undefined;
}

/** Options of `diffTarget`. */
export interface DiffTargetOptions extends TargetOptions {
  /** The configuration of the target. */
  readonly configuration: TargetConfiguration;
}

/** A difference between a target and its configuration. */
export interface TargetDifference {
  /** What differs. */
  readonly kind: 'setting' | 'redirect' | 'access' | 'primary' | 'variable';
  /** The name of the setting or the variable, or the path that is redirected; otherwise as `kind`. */
  readonly name: string;
  /** What the target has. Undefined if it lacks it. */
  readonly before?: unknown;
  /** What the configuration has. Undefined if it is to be removed. Values of variables are not known. */
  readonly after?: unknown;
}

/** What `diffTarget` resolves to. */
export interface TargetDiff extends TargetResult, Warnings {
  /** Whether nothing differs. */
  readonly identical: boolean;
  /** What differs. Empty if nothing does. */
  readonly differences: readonly TargetDifference[];
}

/** Options of `applyTarget`. */
export interface ApplyTargetOptions extends DiffTargetOptions, DryRunOptions, WaitOptions, GuardOptions {
  /** Creates a new access header, and removes the old ones once it works. @default false */
  readonly rotate?: boolean | undefined;
  /** Waits until the target is published with its settings. The interval is 10 s by default. @default false */
  readonly wait?: boolean | undefined;
  /** Called before anything is changed. If it rejects, nothing is changed. */
  readonly confirm?: ((backend: RuntimeBackend, diff: TargetDiff) => Promise<void>) | undefined;
  /** Called with the value of a new access header as soon as there is one: what follows may fail. */
  readonly onAccess?: ((value: string) => void) | undefined;
}

/** What `applyTarget` resolves to. */
export interface AppliedTarget extends TargetDiff, DryRunResult {
  /** How many of the differences are gone. 0 for a dry run. */
  readonly applied: number;
  /** Value of the new access header, which can't be read again. */
  readonly access?: string | undefined;
}

/** Options of `createTarget`. */
export interface CreateTargetOptions extends DryRunOptions, TargetOptions, WaitOptions, GuardOptions, NewPlaceOptions {
  /** At most 64 lowercase letters, digits and inner hyphens. With Api, a name: the result has the slug. */
  readonly targetSlug: string;
  /** Its name for people. @default the slug */
  readonly name?: string | undefined;
  /** A target to copy variables and settings from. What it runs may be deployed, too. @default none */
  readonly copyFrom?: string | undefined;
  /** Directory in the git work tree, for `guard`, which applies to copies. @default the working directory */
  readonly projectDirectory?: string | undefined;
  /** Applied once the target is ready. Without waiting, call `applyTarget` later. @default {} */
  readonly configuration?: TargetConfiguration | undefined;
  /** Called with the value of its access header as soon as there is one: what follows may fail. */
  readonly onAccess?: ((value: string) => void) | undefined;
  /** Resolves to the existing target, if there is one. @default false: that is an error */
  readonly ifMissing?: boolean | undefined;
  /** Waits until it is ready. The interval is 10 s by default. @default true */
  readonly wait?: boolean | undefined;
}

/** What a copy has of the target that was copied. What could not be read is left out. */
export interface CopiedTarget {
  /** Slug of the target that was copied. */
  readonly from: string;
  /** ID of the bundle that both run. */
  readonly bundleId?: BundleId | undefined;
  /** Names of the variables that both have. */
  readonly variables: readonly string[];
  /** Paths that both redirect. */
  readonly redirects: readonly string[];
  /** The settings that are alike, and not the service's default. */
  readonly settings: TargetSettings;
}

/** What `createTarget` resolves to. */
export interface CreatedTarget extends TargetItem, ProjectResult, Warnings {
  /** Whether this call created the target. */
  readonly created: boolean;
  /** With `copyFrom`, after waiting: what it has of its source; for a dry run, what it would have. */
  readonly copied?: CopiedTarget | undefined;
  /** After waiting: variables that its source or configuration has, but it lacks, because values can't be read. */
  readonly missing?: readonly string[] | undefined;
  /** With `copyFrom`, after waiting: paths that its source redirects, but it does not. */
  readonly missingRedirects?: readonly string[] | undefined;
  /** Value of its new access header, which can't be read again. */
  readonly access?: string | undefined;
  /** The backend's own answer, untouched. */
  readonly raw?: unknown;
}

/** Options of `deleteTarget`. */
export interface DeleteTargetOptions extends TargetChangeOptions {
  /** Deletes it even if it is production by its name, by `production` or for the service. @default false */
  readonly force?: boolean | undefined;
  /** Resolves if there is no such target. @default false: that is an error */
  readonly ifExists?: boolean | undefined;
  /** Called before it is deleted. If it rejects, nothing is deleted. */
  readonly confirm?: ((backend: RuntimeBackend, target: DoomedTarget) => Promise<void>) | undefined;
}

/** A target that is to be deleted. */
export interface DoomedTarget extends TargetItem {
  /** What it runs, if it runs something and the backend reports it. */
  readonly running?:
    | {
        /** ID of the bundle. */
        readonly bundleId: BundleId;
        /** Its message, if the backend reports it. */
        readonly message?: string | undefined;
      }
    | undefined;
}

/** What `deleteTarget` resolves to. */
export interface DeletedTarget extends ChangedTarget, Pick<DoomedTarget, 'running'> {
  /** False if it was not there, and for a dry run. */
  readonly deleted: boolean;
}

/** Options of `tailLogs`. */
export interface TailLogsOptions extends TargetOptions {
  /** Called before each new connection, with why the last one ended. */
  readonly onReconnect?: ((reason: string) => void) | undefined;
}

/** Options of `deployPreview`: of a push that waits, and with `pushRecords` skips the upload of an unchanged bundle. */
export interface DeployPreviewOptions extends Omit<
  PushRuntimeBundleBackendOptions,
  'targetSlug' | 'wait' | 'waitForSlot' | 'ifChanged' | 'preview'
> {
  /** The branch whose target is deployed to, and created if it is missing. */
  readonly branch: string;
  /** A target to copy the variables and settings of a new preview from. @default none */
  readonly copyFrom?: string | undefined;
  /** The configuration of a new preview. With an access header, checks of the call send it. @default {} */
  readonly configuration?: TargetConfiguration | undefined;
  /** Called with the value of that header as soon as there is one: what follows may fail. */
  readonly onAccess?: ((value: string) => void) | undefined;
  /** The options that depend on the target, by its slug, which is known once it is found. @default none */
  readonly optionsOf?: ((targetSlug: string) => Promise<Partial<ReleaseOptions>>) | undefined;
}

/** What `deployPreview` resolves to. */
export interface DeployedPreview extends PushResult, Pick<CreatedTarget, 'created' | 'access'> {
  /** The branch of the preview. */
  readonly branch: string;
  readonly targetSlug: string;
}

/** Options of `deletePreview`. */
export interface DeletePreviewOptions extends ProjectOptions, GuardOptions, Pick<DeleteTargetOptions, 'dryRun'> {
  /** The branch whose preview is deleted. */
  readonly branch: string;
  /** The guards of a target, and whether it is production, by its slug. @default the guards of the call */
  readonly guardsOf?: ((targetSlug: string) => Promise<GuardOptions>) | undefined;
  /** Called before anything is deleted. If it rejects, nothing is deleted. */
  readonly confirm?: ((backend: RuntimeBackend, preview: DoomedPreview) => Promise<void>) | undefined;
  /** Maximum seconds to wait until the target is gone and its bundles can be deleted. @default 60 */
  readonly timeout?: number | undefined;
}

/** What `deletePreview` resolves to. */
export interface DeletedPreview extends Omit<DeletedTarget, 'targetSlug'> {
  /** The branch of the preview. */
  readonly branch: string;
  /** Undefined if there was no preview of the branch. */
  readonly targetSlug?: string | undefined;
  /**
   * The deleted bundles, or for a dry run those that would be: those that `deployPreview` has uploaded and no other
   * target has run. Empty if the backend deletes none.
   */
  readonly bundles: readonly BundleId[];
}

/** A preview that is to be deleted, with its bundles. */
export interface DoomedPreview extends DoomedTarget {
  /** Those that `deployPreview` has uploaded and no other target has run. */
  readonly bundles: readonly BundleId[];
}

/** A preview in a list. */
export interface PreviewItem extends TargetItem {
  /** Undefined if `deployPreview` did not create its target. */
  readonly branch?: string | undefined;
  /** When something was last deployed to it, or else when it was created, ISO 8601. */
  readonly updatedAt?: string | undefined;
}

/** Options of `prunePreviews`. */
export interface PrunePreviewsOptions extends Omit<DeletePreviewOptions, 'branch' | 'confirm'> {
  /** Deletes previews whose last deployment is at least this old, in milliseconds. Those of unknown age stay. */
  readonly olderThanMs: number;
  /** Called before anything is deleted. If it rejects, nothing is deleted. */
  readonly confirm?:
    | ((backend: RuntimeBackend, previews: readonly (PreviewItem & DoomedPreview)[]) => Promise<void>)
    | undefined;
}

/** What `listPreviews` resolves to. */
export interface ListPreviewsResult extends ProjectResult {
  /** In the order of the server's list. */
  readonly previews: readonly PreviewItem[];
}

/** What `prunePreviews` resolves to. */
export interface PrunePreviewsResult extends ProjectResult, DryRunResult, Warnings {
  /** Those that were old enough. */
  readonly found: readonly PreviewItem[];
  /** The slugs of the deleted ones. Empty for a dry run. */
  readonly deleted: readonly string[];
}
