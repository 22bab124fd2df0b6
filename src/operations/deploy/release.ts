import type {
  BackendCapability,
  BundleId,
  DeployOperation,
  DeploymentItem,
  DeploymentRef,
  DeploymentStatus,
} from '../../backends/contract.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {problemsOf, rejectProblems, slugProblems} from '../../settings/definitions.js';
import {checkSchema} from '../../settings/schemas.js';
import type {CheckOptions} from '../../settings/types.js';
import {refuseUnsafe} from '../guard/safety.js';
import type {Host} from '../host.js';
import {isUnclear, liveDeployment, readHistory} from '../list.js';
import type {OpenBackend} from '../open-backend.js';
import type {CheckOutcome, DeploymentOptions, GuardOptions, ReleaseOptions} from '../options.js';
import type {PushRuntimeBundleBackendOptions} from '../push/options.js';
import {invalidatedPatterns} from '../target/invalidate.js';

/** The verified options of an operation that may deploy. What follows a deployment waits for it. */
export type Verified<Options> = Options & {readonly wait: boolean};

/** What guards compare: the work tree, and what is built in it or from it. */
type SourceOptions = Pick<
  PushRuntimeBundleBackendOptions,
  'archive' | 'buildDirectory' | 'cwd' | 'projectDirectory' | 'projectSlug'
>;

/** A deployment that an operation is to make: what must hold before it, and what follows it. It has no credentials. */
export interface Release extends GuardOptions, SourceOptions, Pick<DeploymentOptions, 'waitForSlot'> {
  readonly operation: DeployOperation;
  readonly targetSlug: string;
  readonly wait: boolean;
  readonly checks: readonly CheckOptions[];
  /** Patterns of what to drop from the cache. */
  readonly invalidate: readonly string[];
  /** What ran before, to roll back to if the deployment fails. Undefined unless that was asked for. */
  readonly watch: RollbackWatch | undefined;
}

/** A deployment that a backend has accepted. */
export interface AcceptedDeployment {
  readonly open: OpenBackend;
  readonly bundleId: BundleId;
  readonly targetSlug: string;
  readonly deployment: DeploymentRef;
  /** At the last look. */
  readonly status: DeploymentStatus;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  /** The backend's own answer. */
  readonly raw?: unknown;
  readonly check?: CheckOutcome | undefined;
}

export function checksOf({check = []}: DeploymentOptions): readonly CheckOptions[] {
  return [check].flat();
}

/** Verifies what is to follow a deployment, and whether `MYCLI_SAFETY` allows the operation. */
export function verifyRelease<Options extends ReleaseOptions & {readonly targetSlug?: string | undefined}>(
  operation: DeployOperation,
  options: Options,
  host: Host,
): Verified<Options> {
  const checks = checksOf(options);
  const {wait, rollbackOnFailure = false, invalidate = []} = options;
  if (invalidate.length > 0) invalidatedPatterns({patterns: invalidate});
  const [name] = [
    ...(checks.length > 0 ? ['check'] : []),
    ...(rollbackOnFailure ? ['rollbackOnFailure'] : []),
    ...(invalidate.length > 0 ? ['invalidate'] : []),
  ];
  rejectProblems([
    ...checks.flatMap((check, index) =>
      problemsOf(Array.isArray(options.check) ? `check.${index}` : 'check', check, checkSchema),
    ),
    ...(name !== undefined && wait === false
      ? [{option: name, message: 'waits for the deployment, but wait is false'}]
      : []),
  ]);
  refuseUnsafe({...options, operation}, host);
  return {...options, wait: wait === true || name !== undefined};
}

export function releaseOf(
  operation: DeployOperation,
  options: Verified<DeploymentOptions> & GuardOptions & SourceOptions & {readonly targetSlug: string},
): Release {
  const {projectSlug, targetSlug, cwd, projectDirectory, buildDirectory, archive} = options;
  const {guard, confirmTarget, wait, waitForSlot, rollbackOnFailure, invalidate = []} = options;
  return {
    ...{operation, projectSlug, targetSlug, cwd, projectDirectory, buildDirectory, archive},
    ...{guard, confirmTarget, wait, waitForSlot},
    checks: checksOf(options),
    invalidate: invalidate.length === 0 ? [] : invalidatedPatterns({patterns: invalidate}),
    watch: rollbackOnFailure ? new RollbackWatch(targetSlug) : undefined,
  };
}

/** @param from the target that a promotion starts from */
export function verifyPromotion(from: string, targetSlug: string): void {
  rejectProblems(slugProblems('from', from));
  if (from !== targetSlug) return;
  throw createError('ERR_OPTION_INVALID', `--from and --target are both ${from}, so there is nothing to promote.`, {
    suggestions: ['Pass the target that runs the bundle with --from, and the one to deploy it to with --target.'],
    details: {problems: [{option: 'from', message: 'must not be the target itself'}]},
  });
}

/** What a backend must be capable of for what follows a deployment. */
export function followUpCapabilities({wait, rollbackOnFailure}: DeploymentOptions): readonly BackendCapability[] {
  return [...(wait ? (['wait'] as const) : []), ...(rollbackOnFailure ? (['deploy', 'history'] as const) : [])];
}

/** What a target ran before a deployment, and that deployment. */
export class RollbackWatch {
  /** The target's deployments before ours, newest first, and where they were read. */
  before: {readonly open: OpenBackend; readonly items: readonly DeploymentItem[]} | undefined;
  ours: {readonly bundleId: BundleId; readonly deployment: DeploymentRef} | undefined;

  constructor(readonly targetSlug: string) {}

  /** Called right before each request that starts the deployment. */
  async look(open: OpenBackend): Promise<void> {
    this.before = {open, items: await readBefore(open, this.targetSlug)};
  }

  /** Called when it was accepted, even if it has failed already. */
  note(accepted: NonNullable<RollbackWatch['ours']>): void {
    this.ours = accepted;
  }
}

async function readBefore(open: OpenBackend, targetSlug: string): Promise<readonly DeploymentItem[]> {
  try {
    const items = await readHistory(open, targetSlug);
    if (liveDeployment(items) === undefined && items.some(isUnclear))
      throw createError('ERR_RESPONSE_INVALID', 'The server does not report it.');
    return items;
  } catch (error) {
    if (open.signal.aborted || !isRuntimeCliError(error)) throw error;
    // The first deployment creates the target.
    if (error.status === 404) return [];
    throw amendError(error, {
      message: `What ${targetSlug} runs cannot be read, so a deployment could not be rolled back: ${error.message}`,
      suggestions: ['Nothing was deployed. To deploy anyway, remove --rollback-on-failure.'],
    });
  }
}
