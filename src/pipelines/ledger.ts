import type {CreatedTarget, DoomedTarget} from '../operations/targets/options.js';
import type {BuiltInUploadResult, NotedAhead} from '../backends/host-backend.js';
import type {BundleId, DeploymentItem, DeploymentRef, DeploymentStatus, PlannedWrite} from '../backends/contract.js';
import type {MemberName} from '../backends/members.js';
import type {BackendSelection} from '../backends/select.js';
import type {BundleContent, BundleFormat, PackResult} from '../bundle/types.js';
import type {RuntimeCliError} from '../errors/index.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import type {ReadSource} from '../operations/bundle-source.js';
import type {DeletionOutcome} from '../operations/delete-bundles.js';
import type {PlaceLook} from '../operations/deploy/new-place.js';
import type {Release} from '../operations/deploy/release.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {CheckOutcome} from '../operations/options.js';
import type {BuiltContent} from '../operations/push/build-push.js';
import type {FoundUpload} from '../operations/push/upload-push.js';
import type {PushContent} from '../operations/push/plan-push.js';

type MadeFact = 'created' | 'copied' | 'missing' | 'access' | 'raw';

/** What becomes known in a run. Each fact is written by the row that makes it known. */
export interface Facts extends PlaceLook {
  selection?: BackendSelection | undefined;
  /** The backend that serves: after a fallback, the other one. */
  open?: OpenBackend | undefined;
  fallback?: OpenBackend | undefined;
  format?: BundleFormat | undefined;
  /** What a push packs, or its prebuilt archive. */
  content?: PushContent | undefined;
  /** What the backend noted before the upload. */
  noted?: NotedAhead | undefined;
  /** The folder of the packed bundle. The run removes it. */
  workspace?: TemporaryDirectory | undefined;
  /** What a push sends, or with `ifChanged` nothing. */
  built?: BuiltContent | undefined;
  /** The bundle, with the digest and the size of its archive. */
  bundle?: (BundleContent & PackResult) | undefined;
  /** The answer to the upload. Undefined if nothing was uploaded. */
  uploaded?: BuiltInUploadResult | undefined;
  /** The bundle that an upload without an answer seems to have made. */
  lost?: FoundUpload | undefined;
  /** The bundle that was uploaded, is unchanged, or is to be deployed. */
  bundleId?: BundleId | undefined;
  from?: string | undefined;
  /** The bundle that the target ran before a rollback. */
  rolledBackFrom?: BundleId | undefined;
  /** The deployments of the target right before ours was requested, newest first, if a failure is rolled back. */
  before?: readonly DeploymentItem[] | undefined;
  deployment?: DeploymentRef | undefined;
  status?: DeploymentStatus | undefined;
  url?: string | undefined;
  raw?: unknown;
  check?: CheckOutcome | undefined;
  /** Why the cache was not cleared after the deployment. */
  uncleared?: RuntimeCliError | undefined;
  rollback?: Rollback | undefined;
  /** The target that is made, changed or deleted, and whether this run has made it. */
  target?: (DoomedTarget & Partial<Pick<CreatedTarget, MadeFact>>) | undefined;
  /** Whether the configuration says what the target that is made is like. */
  isDescribed?: boolean | undefined;
  /** What is to be changed, and whether a person has confirmed that, or nobody had to. */
  found?: unknown;
  isConfirmed?: boolean | undefined;
  deletion?: DeletionOutcome | undefined;
  /** What was read of the bundles to compare. */
  compared?: {readonly from?: ReadSource; readonly to?: ReadSource} | undefined;
  missingVariables?: readonly string[] | undefined;
  /** What the last step made, if the run resolves to that. */
  result?: unknown;
}

/** A rollback of a deployment that failed, and how far it is. */
export interface Rollback {
  /** Whether the target is known to run again what it ran before. */
  readonly rolledBack: boolean;
  /** The bundle that ran before, if it is known. */
  readonly bundleId?: BundleId | undefined;
  /** The deployment that rolls back, once it is accepted. */
  readonly deployment?: DeploymentRef | undefined;
  readonly status?: DeploymentStatus | undefined;
  /** Whether that bundle failed its check, too. */
  readonly isDoubtful?: boolean | undefined;
  /** Why there is nothing to roll back to, or another deployment is not undone. */
  readonly reason?: string | undefined;
  readonly error?: unknown;
}

export interface Change {
  readonly planned: PlannedWrite;
  readonly step: string;
  /** How it ended, if it did before the run, such as a deployment that is then rolled back. */
  ended?: {readonly error?: unknown} | undefined;
}

/** What is known of a run: the context of its tasks. All that tells of the run reads it. */
export interface Ledger<Request = unknown> extends Facts {
  readonly request: Request;
  /** The deployment that is to be made. Undefined if none is. */
  readonly release: Release | undefined;
  /** Each once. */
  readonly warnings: string[];
  readonly changes: Change[];
  /** The step that runs, or was the last. */
  step?: {readonly name: string; readonly title: string} | undefined;
  /** The call of the backend that may have been carried out: it was sent, and no answer has settled it. */
  sent?: {readonly call: MemberName; readonly at: Date} | undefined;
  /** The last step in which a call changed something, as its answer says. */
  changedIn?: string | undefined;
  /** The failure that ends the run, and its step. */
  failure?: {readonly step: string | undefined; readonly error: unknown} | undefined;
}

/** The URL of the target, or else of the bundle that was uploaded. */
export function urlOf({url, uploaded}: Facts): string | undefined {
  return url ?? uploaded?.url;
}

type Known<Name extends keyof Ledger> = {readonly [Each in Name]-?: NonNullable<Ledger[Each]>};

/** The ledger, once these facts are known: a row that is due before them is in the wrong place. */
export function known<Given extends Ledger, Name extends keyof Ledger>(
  ledger: Given,
  ...names: readonly Name[]
): Given & Known<Name> {
  const isKnown = (given: Given): given is Given & Known<Name> => names.every((name) => given[name] !== undefined);
  if (isKnown(ledger)) return ledger;
  throw new Error(`Not known yet: ${names.filter((name) => ledger[name] === undefined).join(', ')}.`);
}
