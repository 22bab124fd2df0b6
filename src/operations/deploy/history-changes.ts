import type {BundleId, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {oneLine} from '../../errors/sentence.js';
import {liveDeployment} from '../list.js';

/** The bundle that a target ran before ours, or why there is none to go back to. */
export function bundleBefore(
  items: readonly DeploymentItem[],
  ours: BundleId,
  targetSlug: string,
):
  | {readonly bundleId: BundleId; readonly reason?: undefined}
  | {readonly bundleId?: undefined; readonly reason: string} {
  const [newest] = items;
  const live = liveDeployment(items);
  if (newest?.status === 'queued' || newest?.status === 'in_progress')
    return {reason: `another deployment to ${targetSlug} was running when it began`};
  if (live === undefined && items.every(({status}) => status === 'failed'))
    return {reason: `nothing ran on ${targetSlug} before`};
  if (live?.bundleId === undefined) return {reason: `the server does not report what ${targetSlug} ran before`};
  if (String(live.bundleId) === String(ours)) return {reason: `${targetSlug} ran the same bundle before`};
  return {bundleId: live.bundleId};
}

/** Why our deployment is not known to be the newest, and the only one since `before`. */
export function cameBetween(
  before: readonly DeploymentItem[],
  now: readonly DeploymentItem[],
  {bundleId, deployment}: {readonly bundleId: BundleId; readonly deployment: DeploymentRef},
): string | undefined {
  const known = before.map(identityOf);
  const later = now.filter((item) => {
    const at = known.indexOf(identityOf(item));
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
  const [newest] = later;
  if (newest === undefined) return 'the history of the target does not list it';
  const {deploymentId} = newest.deployment;
  const hasOtherId =
    deploymentId !== undefined &&
    deployment.deploymentId !== undefined &&
    String(deploymentId) !== String(deployment.deploymentId);
  const hasOtherBundle = newest.bundleId !== undefined && String(newest.bundleId) !== String(bundleId);
  if (later.length === 1 && !hasOtherId && !hasOtherBundle) return undefined;
  const what = newest.bundleId === undefined ? '' : ` of bundle ${String(newest.bundleId)}`;
  const by = newest.createdBy === undefined ? '' : ` by ${newest.createdBy}`;
  return oneLine(`another deployment${what}${by} came after it`);
}

function identityOf({deployment, createdAt, bundleId}: DeploymentItem): string {
  return JSON.stringify([deployment, createdAt, bundleId]);
}
