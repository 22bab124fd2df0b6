import type {BundleId, DeployResult, DeploymentRef} from '../../backends/contract.js';
import {explainMissingBundle} from '../list.js';
import {invoke, type OpenBackend} from '../open-backend.js';
import type {CommonOptions, DeploymentOptions} from '../options.js';
import {withLastLines} from './read-logs.js';
import {inTargetSlot} from './target-slot.js';
import {deploymentFailed} from './wait-for-deployment.js';

/** Follows a deployment of ours while it is made. */
export interface DeploymentWatch {
  /**
   * Called right before each request that starts it.
   * @throws RuntimeCliError if it must not start.
   */
  look(open: OpenBackend): Promise<void>;
  /** Called when it was accepted, even if it has failed already. */
  note(accepted: {readonly bundleId: BundleId; readonly deployment: DeploymentRef}): void;
}

/** How a deployment is requested. */
type RequestOptions = DeploymentOptions &
  Pick<CommonOptions, 'onProgress'> & {readonly watch?: DeploymentWatch | undefined};

/**
 * Requests a deployment from a backend once the target is free: with `from`, a promotion if the backend has its own.
 * @throws RuntimeCliError when it is refused, or accepted but failed at once; `signal.reason` when aborted.
 */
export async function requestDeploy(
  open: OpenBackend,
  {
    bundleId,
    targetSlug,
    from,
  }: {readonly bundleId: BundleId; readonly targetSlug: string; readonly from?: string | undefined},
  options: RequestOptions,
): Promise<DeployResult> {
  const {watch} = options;
  const send = async () => {
    await watch?.look(open);
    return from !== undefined && open.backend.promote
      ? invoke(open, 'promote', {bundleId, from, to: targetSlug})
      : invoke(open, 'deploy', {bundleId, targetSlug});
  };
  const result = await inTargetSlot(open, targetSlug, options, send).catch(async (error: unknown) => {
    throw await explainMissingBundle(error, open, bundleId);
  });
  const {deployment} = result;
  watch?.note({bundleId, deployment});
  if (result.status === 'failed') throw await withLastLines(deploymentFailed(deployment, result), open, deployment);
  return result;
}
