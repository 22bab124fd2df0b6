import type {BackendCapability, DeployOperation} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {followUpsOf, problemsOf, rejectProblems, slugProblems} from '../../settings/definitions.js';
import {checkSchema} from '../../settings/schemas.js';
import type {CheckOptions} from '../../settings/types.js';
import {refuseUnsafe} from '../guard/safety.js';
import type {Host} from '../host.js';
import type {DeploymentOptions, GuardOptions, ReleaseOptions} from '../options.js';
import type {PushRuntimeBundleBackendOptions} from '../push/options.js';
import {invalidatedPatterns} from '../targets/changes.js';

/** What guards compare: the work tree, and what is built in it or from it. */
type SourceOptions = Pick<
  PushRuntimeBundleBackendOptions,
  'archive' | 'buildDirectory' | 'cwd' | 'projectDirectory' | 'projectSlug'
>;

/** A deployment that an operation is to make: what must hold before it, and what follows it. It has no credentials. */
export interface Release extends GuardOptions, SourceOptions, Pick<DeploymentOptions, 'waitForSlot'> {
  /** `create-target`: of a copy, which runs what its source runs. */
  readonly operation: DeployOperation | 'create-target';
  readonly targetSlug: string;
  /** What follows a deployment waits for it. */
  readonly wait: boolean;
  readonly checks: readonly CheckOptions[];
  /** Patterns of what to drop from the cache. */
  readonly invalidate: readonly string[];
  /** Whether a failure is to be rolled back. */
  readonly rollsBack: boolean;
}

/** Verifies what is to be deployed and to follow, and whether `MYCLI_SAFETY` allows it. */
export function planRelease(
  operation: Release['operation'],
  options: ReleaseOptions & SourceOptions & {readonly targetSlug: string},
  host: Host,
): Release {
  const {projectSlug, targetSlug, cwd, projectDirectory, buildDirectory, archive} = options;
  const {guard, confirmTarget, wait, waitForSlot, check = [], rollbackOnFailure, invalidate = []} = options;
  const checks = [check].flat();
  const patterns = invalidate.length === 0 ? [] : invalidatedPatterns({patterns: invalidate});
  const [followUp] = followUpsOf(options);
  rejectProblems([
    ...checks.flatMap((one, index) =>
      problemsOf(Array.isArray(check) ? `check.${String(index)}` : 'check', one, checkSchema),
    ),
    ...(followUp !== undefined && wait === false
      ? [{option: followUp, message: 'waits for the deployment, but wait is false'}]
      : []),
  ]);
  refuseUnsafe({...options, operation}, host);
  return {
    ...{operation, projectSlug, targetSlug, cwd, projectDirectory, buildDirectory, archive},
    ...{guard, confirmTarget, waitForSlot, checks, invalidate: patterns},
    wait: wait === true || followUp !== undefined,
    rollsBack: rollbackOnFailure === true,
  };
}

/**
 * @param from the target that a promotion starts from
 * @param name what has set the target
 */
export function verifyPromotion(from: string, targetSlug: string, name = '--target'): void {
  rejectProblems(slugProblems('from', from));
  if (from !== targetSlug) return;
  throw createError('ERR_OPTION_INVALID', `--from and ${name} are both ${from}, so there is nothing to promote.`, {
    suggestions: ['Pass the target that runs the bundle with --from, and the one to deploy it to with --target.'],
    details: {problems: [{option: 'from', message: 'must not be the target itself'}]},
  });
}

/** What a backend must be capable of for what follows a deployment. */
export function followUpCapabilities({wait, rollsBack}: Release): readonly BackendCapability[] {
  return [...(wait ? (['wait'] as const) : []), ...(rollsBack ? (['deploy', 'history'] as const) : [])];
}
