import type {BundleId} from '../../backends/contract.js';
import type {OpenBackend} from '../open-backend.js';
import type {DeploymentWatch} from '../deploy/request-deploy.js';
import type {CommonOptions, GuardOptions, TargetConfirmation} from '../options.js';
import type {Host} from '../host.js';
import {checkGuards, needsCommit, watchNotOlder} from './guards.js';
import {recordOfBundle, runningBundles} from './running-commit.js';

/** A deployment of a bundle that is on the service already. */
type BundleDeployment = TargetConfirmation & {readonly bundleId: BundleId};

type Options = Pick<CommonOptions, 'cwd'> & GuardOptions & {readonly projectDirectory?: string | undefined};

/**
 * Checks the guards for a bundle that is on the service already: what it says about its commit counts, not the work
 * tree.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED`.
 */
export async function guardBundle(
  confirmation: BundleDeployment,
  open: OpenBackend,
  options: Options,
  host: Host,
): Promise<void> {
  const {bundleId, targetSlug} = confirmation;
  const recorded = needsCommit(options.guard) ? await recordOfBundle(open, bundleId) : undefined;
  const source = {kind: 'bundle', name: `Bundle ${String(bundleId)}`, recorded} as const;
  await checkGuards({confirmation, source, running: () => runningBundles(open, targetSlug)}, options, host);
}

/** Checks again what the target runs right before each request that starts the deployment of a bundle. */
export function watchBundle(
  watch: DeploymentWatch | undefined,
  confirmation: BundleDeployment,
  options: Options,
  host: Host,
): DeploymentWatch | undefined {
  return watchNotOlder(watch, options, (open, guard) => guardBundle(confirmation, open, {...options, guard}, host));
}
