import type {BundleId} from '../../backends/contract.js';
import type {OpenBackend} from '../open-backend.js';
import type {CommonOptions, GuardOptions, TargetConfirmation} from '../options.js';
import type {Host, StepView} from '../steps.js';
import {checkGuards, needsCommit} from './guards.js';
import {recordOfBundle, runningBundles} from './running-commit.js';

/** A deployment of a bundle that is on the service already. */
type BundleDeployment = TargetConfirmation & {readonly bundleId: BundleId};

/**
 * Checks the guards for a bundle that is on the service already: what it says about its commit counts, not the work
 * tree.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED`.
 */
export async function guardBundle(
  confirmation: BundleDeployment,
  open: OpenBackend,
  options: Pick<CommonOptions, 'cwd'> & GuardOptions & {readonly projectDirectory?: string | undefined},
  host: Host,
  view: StepView,
): Promise<void> {
  const {bundleId, targetSlug} = confirmation;
  const recorded = needsCommit(options.guard) ? await recordOfBundle(open, bundleId) : undefined;
  const source = {kind: 'bundle', name: `Bundle ${String(bundleId)}`, recorded} as const;
  await checkGuards({confirmation, source, running: () => runningBundles(open, targetSlug)}, options, host, view);
}
