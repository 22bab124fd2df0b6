import type {BundleId, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/members.js';
import {createError} from '../../errors/index.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {allowChange} from '../call-backend.js';
import {isUnclear, liveDeployment, readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import type {Release} from './release.js';
import {requestDeploy} from './start-deployment.js';

/** A deployment that failed, and those of its target right before it, newest first. */
export interface FailedDeployment {
  readonly bundleId: BundleId;
  readonly deployment: DeploymentRef;
  readonly before: readonly DeploymentItem[];
}

/** Deploys what ran before. @throws RuntimeCliError `ERR_NOT_ROLLED_BACK` if others have deployed meanwhile */
export async function deployAgain(
  open: OpenBackend,
  release: Release,
  failed: FailedDeployment,
  bundleId: BundleId,
): Promise<DeploymentRef> {
  const {targetSlug} = release;
  await allowChange(open, {operation: 'rollback', targetSlug, bundleIds: [bundleId]});
  // Others may deploy before the request, and while it waits to be repeated.
  const beforeAttempt = async () => {
    const intervention = findIntervention(await readHistory(open, targetSlug), failed);
    if (intervention !== undefined) throw createError('ERR_NOT_ROLLED_BACK', asSentence(intervention));
  };
  await beforeAttempt();
  const again = {...release, guard: undefined, waitForSlot: false, rollsBack: false};
  const {answer} = await requestDeploy(open.with({beforeAttempt}), again, {bundleId});
  return answer.deployment;
}

/** The deployment of the bundle that a target ran before ours, or why there is none to go back to. */
export function deploymentBefore(
  {bundleId: ours, before: items}: FailedDeployment,
  targetSlug: string,
): {readonly live?: DeploymentItem; readonly reason?: string} {
  const [newest] = items;
  const live = liveDeployment(items);
  if (isUnderWay(newest?.status)) return {reason: `another deployment to ${targetSlug} was running when it began`};
  if (live === undefined && items.every(({status}) => status === 'failed'))
    return {reason: `nothing ran on ${targetSlug} before`};
  if (live?.bundleId === undefined) return {reason: `the server does not report what ${targetSlug} ran before`};
  if (String(live.bundleId) === String(ours)) return {reason: `${targetSlug} ran the same bundle before`};
  return {live};
}

/** Why the one that failed is not known to be the newest, and the only one since `before`. */
function findIntervention(
  now: readonly DeploymentItem[],
  {bundleId, deployment, before}: FailedDeployment,
): string | undefined {
  const known = new Set(before.map(identityOf));
  const later = now.filter((item) => !known.has(identityOf(item)));
  const [newest] = later;
  if (newest === undefined) return 'the history of the target does not list it';
  if (isUnclear(newest)) return 'the history of the target does not say which deployment is the newest';
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
