import type {Writable} from 'node:stream';
import type {Redirect, TargetSettings} from '../../config.js';

/** ID of an uploaded bundle. IDs never cross backends. */
export type BundleId = string | number;

/** Status of a deployment. */
export type DeploymentStatus = 'queued' | 'in_progress' | 'finished' | 'failed';

/** Identifies a deployment to the backend that made it. Plain JSON, opaque to the host. */
export interface DeploymentRef {
  /** ID shown to users and programs, if the server has one. */
  readonly deploymentId?: string | number | undefined;
  readonly [key: string]: unknown;
}

/** State of a target. `publishing`: it gets a bundle or variables. `failed`: creating or publishing it failed. */
export type TargetState = 'creating' | 'ready' | 'publishing' | 'failed' | 'deleting';

/** An answer of the service. */
export interface ServiceAnswer {
  /** The server's own response, unmodified, for `--json`. Plain JSON. @default undefined */
  readonly raw?: unknown;
}

/** A request about a target. */
export interface TargetRequest {
  /** A target of the project of the context. */
  readonly targetSlug: string;
}

/** A bundle to deploy. */
export interface DeployRequest extends TargetRequest {
  /** Of the same project. */
  readonly bundleId: BundleId;
}

/** What to clear from the cache of a target. */
export interface InvalidateRequest extends TargetRequest {
  /** Starts with a slash; `*` stands for anything. */
  readonly pattern: string;
}

/** Answer to an upload. */
export interface UploadResult extends ServiceAnswer {
  /** What the service calls the bundle from now on. */
  readonly bundleId: BundleId;
  /** For users, one sentence each. */
  readonly warnings?: readonly string[] | undefined;
  /** http(s) URL of a preview of the bundle. */
  readonly url?: string | undefined;
  /** How many bytes of the archive an interrupted push had sent, shown to the user. @default 0 */
  readonly resumedBytes?: number | undefined;
}

/** Answer to a request to deploy. */
export interface DeployResult extends ServiceAnswer {
  /** What the host passes to `getDeployment`. */
  readonly deployment: DeploymentRef;
  /** `finished` only if the target runs the bundle. */
  readonly status: DeploymentStatus;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  /** For users, one sentence each. */
  readonly warnings?: readonly string[] | undefined;
}

/** State of a deployment. */
export interface DeploymentState extends ServiceAnswer {
  /** `finished` only if the target runs the bundle. */
  readonly status: DeploymentStatus;
  /** What the service says about it, such as why it failed. */
  readonly description?: string | undefined;
  /** 0 to 100. */
  readonly percentage?: number | undefined;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  /** http(s) URL of a log of the deployment. */
  readonly logUrl?: string | undefined;
}

/** A bundle in a list. */
export interface BundleItem {
  /** As `upload` returned it. */
  readonly bundleId: BundleId;
  /** Its description, as it was pushed. */
  readonly message?: string | undefined;
  /** `ready`: deployable. `deleting`: being deleted. `unknown`: not reported by the server. */
  readonly status: 'ready' | 'preparing' | 'broken' | 'deleting' | 'unknown';
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  /** Who uploaded it, for users. */
  readonly createdBy?: string | undefined;
  /** Targets that run the bundle. */
  readonly inUseBy?: readonly string[] | undefined;
  /** Digest of the archive as it was uploaded, hex. */
  readonly sha256?: string | undefined;
  /** What else the service knows about it, for `--json`. Plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A deployment in a list. */
export interface DeploymentItem {
  /** What the host passes to `getDeployment`. */
  readonly deployment: DeploymentRef;
  /** Undefined if the server does not report it. */
  readonly bundleId?: BundleId | undefined;
  /** `unknown`: the server reports a status that is not defined. */
  readonly status: DeploymentStatus | 'unknown';
  /** The description of its bundle. */
  readonly message?: string | undefined;
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  /** Who requested it, for users. */
  readonly createdBy?: string | undefined;
  /** What the server says about it, such as why it failed. */
  readonly description?: string | undefined;
  /** http(s) URL of a log of the deployment. */
  readonly logUrl?: string | undefined;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
}

/** A target in a list. */
export interface TargetItem {
  /** The name of the target in requests. */
  readonly targetSlug: string;
  /** Its name for people. */
  readonly name?: string | undefined;
  /** Undefined if the server does not report it. */
  readonly state?: TargetState | undefined;
  /** Whether customers see it. Undefined if the server does not report it. */
  readonly production?: boolean | undefined;
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
}

/** A target to create. */
export interface CreateTargetRequest extends TargetRequest {
  /** Its name for people. @default the slug */
  readonly name?: string | undefined;
  /** Another target of the project, to copy variables and settings from. What it runs may be deployed, too. */
  readonly copyFrom?: string | undefined;
  /** Settings to start with. The host changes those that a new target can't have once the target is ready. */
  readonly settings?: TargetSettings | undefined;
}

/** Answer to a request to create a target, with its slug. */
export interface CreateTargetResult extends TargetItem, ServiceAnswer {
  /** For users, one sentence each. */
  readonly warnings?: readonly string[] | undefined;
}

/** An environment variable of a target. Its value stays on the service. */
export interface VariableItem {
  /** As the app reads it. */
  readonly name: string;
  /** Whether the target runs with it, in the words of the service. */
  readonly status?: string | undefined;
  /** ISO 8601. */
  readonly updatedAt?: string | undefined;
  /** Who changed it last, for users. */
  readonly updatedBy?: string | undefined;
}

/** Variables to change, at least one. */
export interface SetVariablesRequest extends TargetRequest {
  /** Values by name. */
  readonly set: Readonly<Record<string, string>>;
  /** Names of variables to remove. A missing one is not an error. */
  readonly unset: readonly string[];
}

/** What an app has logged. */
export interface LogEntry {
  /** Without a line break at its end. */
  readonly message: string;
  /** ISO 8601. */
  readonly time?: string | undefined;
  /** As the app writes it: `INFO`. */
  readonly level?: string | undefined;
  /** ID of the request that it belongs to. */
  readonly requestId?: string | undefined;
}

/** Which part of a list the host asks for. */
export interface ListRange {
  /** How many items it wants. A part may have fewer or more. */
  readonly limit: number;
  /** The `cursor` of the part before it. Undefined: the first part. */
  readonly cursor?: string | undefined;
}

/** Which part of a list of a target it asks for. */
export interface TargetRange extends ListRange, TargetRequest {}

/** Part of a list, newest first. A short list, or one that is in memory, may be one part. */
export interface ListResult<Item> extends ServiceAnswer {
  /** May be fewer than were asked for. */
  readonly items: readonly Item[];
  /** Where the next part starts, such as an offset, or a token of the service. Without one, the list ends here. */
  readonly cursor?: string | undefined;
  /** The length of the whole list, if the server reports it. */
  readonly total?: number | undefined;
}

/** A project in a list. */
export interface ProjectItem {
  /** The name of the project in requests. */
  readonly projectSlug: string;
  /** Its name for people. */
  readonly name?: string | undefined;
}

/** What is set for a target. */
export interface TargetDetails extends ServiceAnswer {
  /** What the server does not report is left out. */
  readonly settings: TargetSettings;
  /** Names of settings, or `primary`, that its targets do not have. @default none */
  readonly unsupported?: readonly string[] | undefined;
  /** Whether it is the primary target of its project. Undefined if the server does not report it. */
  readonly primary?: boolean | undefined;
}

/** Settings to change, or a target to make the primary one of its project. */
export interface UpdateTargetRequest extends TargetRequest {
  /** Only these change. */
  readonly settings: TargetSettings;
  /** Set if `settings` is empty. */
  readonly primary?: true | undefined;
}

/** A redirect in a list. */
export interface RedirectItem extends Redirect {
  /** What the service calls it, if `from` is not enough. */
  readonly redirectId?: string | undefined;
}

/** A change of a redirect, which is known by its `from`. */
export interface ChangeRedirectRequest extends TargetRequest {
  /** What to do with the redirect. */
  readonly change: 'add' | 'replace' | 'remove';
  /** To add or replace: the new redirect. To remove: the redirect as it was listed. */
  readonly redirect: RedirectItem;
}

/** A header that lets visitors into a target. Its value stays on the service. */
export interface AccessItem {
  /** ID to remove it with. */
  readonly accessId: string;
}

/** An access header to add, with its value, which is a secret, or one to remove. */
export type ChangeAccessRequest = TargetRequest &
  (
    | {
        /** Value of the header to add: a secret. */
        readonly add: string;
        /** Not given with `add`. */
        readonly remove?: undefined;
      }
    | {
        /** `accessId` of the header to remove. */
        readonly remove: string;
        /** Not given with `remove`. */
        readonly add?: undefined;
      }
  );

/** What an interrupted download left behind. */
export interface DownloadResume {
  /** How many bytes of the archive are already there; more than 0. */
  readonly offset: number;
  /** The validator that `onStart` was called with. */
  readonly validator: string;
}

/** What is known about a download when its first byte arrives. */
export interface DownloadStart {
  /** Where in the archive the bytes start: at the offset of `resume`, or at 0. */
  readonly offset: number;
  /** Size of the whole archive, in bytes. */
  readonly total?: number | undefined;
  /**
   * Changes when the archive does, like a strong ETag. Without one, an interrupted download starts over. It also
   * starts over if the validator differs from that of `resume`.
   */
  readonly validator?: string | undefined;
  /** Digest of the whole archive as it was uploaded, hex. The host verifies the download against it. */
  readonly sha256?: string | undefined;
}

/** What to download. */
export interface DownloadRequest {
  /** The bundle whose archive is downloaded. */
  readonly bundleId: BundleId;
  /** Gets the bytes of the archive. The host ends it. */
  readonly writeTo: Writable;
  /** What to resume. A backend that cannot streams the whole archive. */
  readonly resume?: DownloadResume | undefined;
  /** Call it before the first byte. Without a call, the host expects the whole archive. */
  readonly onStart?: ((start: DownloadStart) => void) | undefined;
}
