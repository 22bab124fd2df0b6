import type {BundleFormat} from '../../bundle/types.js';
import type {BundleId, DeploymentRef, DeploymentStatus} from './requests.js';

/** What changes a target. */
export type DeployOperation = 'push' | 'deploy' | 'promote' | 'rollback';

/** What commands change on a service. */
export type WriteOperation =
  | DeployOperation
  | 'delete'
  | 'create-target'
  | 'delete-target'
  | 'update-target'
  | 'set-variables'
  | 'invalidate';

/** What each is called in a sentence. */
export const writeNouns: Readonly<Record<WriteOperation, string>> = {
  push: 'push',
  deploy: 'deployment',
  promote: 'promotion',
  rollback: 'rollback',
  delete: 'deletion',
  'create-target': 'creation of the target',
  'delete-target': 'deletion of the target',
  'update-target': 'change of the target',
  'set-variables': 'change of variables',
  invalidate: 'invalidation',
};

/** Something that a command is about to change on a service. */
export interface PlannedWrite {
  /** `push`: uploads `bundle` unless it is undefined, and deploys it if there is a target. */
  readonly operation: WriteOperation;
  /** Name of the backend. */
  readonly backend: string;
  /** The project that is changed, or whose target is. */
  readonly projectSlug: string;
  /** The target that is deployed to or changed. Undefined if there is none. */
  readonly targetSlug?: string | undefined;
  /** The bundles to deploy or delete. Empty if the bundle is yet to be uploaded. */
  readonly bundleIds: readonly BundleId[];
  /** `set-variables`: the names of the variables. Their values are secrets. */
  readonly variables?: readonly string[] | undefined;
  /** The bundle to upload. Undefined if nothing is uploaded. */
  readonly bundle?:
    | {
        /** Format of the archive. */
        readonly format: BundleFormat;
        /** Description of the bundle, for users. */
        readonly message: string;
        /** Size of the archive, in bytes. Undefined if it is not built, as with `--dry-run`. */
        readonly size?: number | undefined;
        /** Digest of the archive, hex. Undefined if it is packed while it is sent, or not built. */
        readonly sha256?: string | undefined;
      }
    | undefined;
}

/**
 * The type of a plugin's `mycli:before-write` hook, which is called before anything is sent that changes something. If
 * it returns a `veto`, rejects, or does not resolve within 60 s, nothing is changed and the command fails.
 * @param write `dryRun`: nothing will be written, whatever the hook returns. `signal`: aborted when the answer is no
 * longer awaited.
 * @returns Nothing to allow the change.
 */
export type BeforeWriteHook = (
  write: PlannedWrite & {readonly dryRun: boolean; readonly signal: AbortSignal},
) => Promise<
  | {
      /** Why the change must not be made, as a sentence for users. */
      readonly veto: string;
    }
  | undefined
>;

/** The outcome of an allowed change. */
export interface WriteOutcome extends PlannedWrite {
  /**
   * `succeeded`: what the command was to do is done; without `--wait`, a deployment has only been accepted. `unknown`:
   * it may have been carried out, or continues. `interrupted`: a signal ended the command.
   */
  readonly outcome: 'succeeded' | 'failed' | 'unknown' | 'interrupted';
  /** Set unless it succeeded. */
  readonly error?:
    | {
        /** Stable code to branch on, listed in the error reference. */
        readonly code: string;
        /** One sentence that says what happened, for users. */
        readonly message: string;
      }
    | undefined;
  /** The uploaded bundle, the one to deploy, or the deleted ones. */
  readonly bundleIds: readonly BundleId[];
  /** The deployment, if one was accepted. */
  readonly deployment?: DeploymentRef | undefined;
  /** Its status when it was last checked. */
  readonly status?: DeploymentStatus | undefined;
  /** http(s) URL of the target or of the bundle, if the backend reports one. */
  readonly url?: string | undefined;
}

/**
 * The type of a plugin's `mycli:after` hook, which is called once after each change that was allowed, with its outcome.
 * It has 5 s. Its failures are warnings, and change neither the outcome nor the exit code.
 */
export type AfterHook = (outcome: WriteOutcome & {readonly signal: AbortSignal}) => Promise<void>;
