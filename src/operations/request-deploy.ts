import type {BundleId, DeployResult} from '../backends/contract.js';
import {callBackSafely} from './callbacks.js';
import {invoke, type OpenBackend} from './open-backend.js';
import type {CommonOptions, SlotOptions, WaitOptions} from './options.js';
import {inTargetSlot} from './target-slot.js';
import {deploymentFailed} from './wait-for-deployment.js';

/**
 * Asks a backend to deploy a bundle, when the target is free. The progress of the phase is that of the request that is
 * accepted.
 * @throws RuntimeCliError when it is refused, or accepted and failed at once; `signal.reason` when aborted.
 */
export async function requestDeploy(
  open: OpenBackend,
  request: {readonly bundleId: BundleId; readonly targetSlug: string},
  options: SlotOptions & WaitOptions & Pick<CommonOptions, 'onProgress'>,
): Promise<DeployResult> {
  const show = (transferred: number) => {
    callBackSafely(() => options.onProgress?.({phase: 'deploy', transferred, total: 1}));
  };
  show(0);
  const result = await inTargetSlot(open, request.targetSlug, options, () => invoke(open, 'deploy', request));
  show(1);
  if (result.status === 'failed') throw deploymentFailed(result.deployment, result);
  return result;
}
