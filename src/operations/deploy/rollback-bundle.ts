import type {BundleId, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/members.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {placeFlags} from '../../text/suggest.js';
import {allowChange, quickLook, unlessUnreadable} from '../call-backend.js';
import type {FailedCheck} from '../host.js';
import {isNameless, isUnclear, liveDeployment, readBundles, readHistory, resolveBundleId} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {verifyTarget} from '../targets/find-targets.js';
import {failedChecks, hasFailedCheck} from './check-deployment.js';
import type {Release} from './release.js';
import {requestDeploy} from './start-deployment.js';

export interface RollbackPlan {
  readonly bundleId: BundleId;
  /** The finished deployment that the target runs, if it is known. */
  readonly current?: DeploymentItem | undefined;
  /** The deployment to roll back to; undefined if the bundle was given. */
  readonly previous?: DeploymentItem | undefined;
  /** Warnings about bundles that ran later, but are skipped. */
  readonly warnings: readonly string[];
}

/** `bundle 3 "main: 1a2b3c", deployed 2026-01-01T00:00:00Z; currently bundle 4` */
export function describeRollback({bundleId, current, previous}: RollbackPlan): string {
  const message = previous?.message === undefined ? '' : ` "${oneLine(previous.message)}"`;
  const when = previous?.createdAt === undefined ? '' : `, deployed ${previous.createdAt}`;
  const now = current === undefined ? '' : `; currently bundle ${String(current.bundleId)}`;
  return `bundle ${String(bundleId)}${message}${when}${now}`;
}

/** Finds the bundle to roll back to. Changes nothing. */
export async function planRollback(
  open: OpenBackend,
  targetSlug: string,
  to: BundleId | undefined,
): Promise<RollbackPlan> {
  if (to !== undefined) {
    const bundleId = await resolveBundleId(open, to);
    const history = open.backend.listDeployments && (await quickLook(open, (once) => readHistory(once, targetSlug)));
    const current = history && liveDeployment(history);
    return {bundleId, current: String(current?.bundleId) === String(bundleId) ? undefined : current, warnings: []};
  }
  const items = await readHistory(open, targetSlug, Infinity);
  await verifyTarget(open, targetSlug, items);
  const failed = await failedChecks(open, targetSlug);
  const existing = await deployableIds(open);
  const {current, previous, unclear, warnings} = previousDeployment(items, failed, existing);
  if (previous !== undefined) return {bundleId: previous.bundleId, current, previous, warnings};
  const {projectSlug} = open;
  const none = `The target "${targetSlug}" has no finished deployment`;
  const message = !items.some((item) => item.status === 'finished' || isUnclear(item))
    ? `${none} to roll back to.`
    : current === undefined
      ? `The server does not report which bundle the target "${targetSlug}" runs.`
      : unclear !== undefined
        ? `The server does not report what the target "${targetSlug}" ran before bundle ${String(current.bundleId)}.`
        : `${none} of a bundle other than ${String(current.bundleId)} to roll back to.`;
  const push = {run: ['bundle:push', ...placeFlags({projectSlug, targetSlug})]};
  const list = {run: ['bundle:list', ...placeFlags({projectSlug})]};
  const hasOthers = existing === undefined || [...existing].some((id) => id !== current?.bundleId);
  throw createError('ERR_REJECTED', message, {
    suggestions: [
      ...warnings,
      ...(hasOthers ? [['Pass --to ID. Run ', list, ' to list the bundles.']] : []),
      ['To deploy something else, push it: ', push],
    ],
  });
}

/** The bundles that can be deployed; undefined if the list cannot be read, since the server knows anyway. */
export async function deployableIds(open: OpenBackend): Promise<ReadonlySet<BundleId> | undefined> {
  if (open.backend.listBundles === undefined) return undefined;
  const bundles = await unlessUnreadable(open, readBundles(open));
  return bundles && new Set(bundles.items.filter(({status}) => status !== 'deleting').map(({bundleId}) => bundleId));
}

/**
 * Whether a rollback would find a bundle: a look that nobody hears of. Undefined if it fails.
 * @param ours a deployment that has finished. If a later one is live, that is warned of, and not to be rolled back.
 */
export async function canRollBack(
  open: OpenBackend,
  targetSlug: string,
  ours?: DeploymentRef,
): Promise<boolean | undefined> {
  if (open.backend.listDeployments === undefined) return false;
  const [items, existing] = await Promise.all([
    quickLook(open, (once) => readHistory(once, targetSlug)),
    quickLook(open, deployableIds),
  ]);
  if (items === undefined) return undefined;
  const {current, previous} = previousDeployment(items, await failedChecks(open, targetSlug), existing);
  const id = ours?.deploymentId;
  const own = id === undefined ? -1 : items.findIndex((item) => String(item.deployment.deploymentId) === String(id));
  if (current === undefined || own <= items.indexOf(current)) return previous !== undefined;
  open.host.outlet.warn(`${targetSlug} runs bundle ${String(current.bundleId)}, which was deployed after this one.`);
  return false;
}

type KnownDeployment = DeploymentItem & {readonly bundleId: BundleId};

/**
 * The running deployment, and the latest before it of another bundle that can and should run again. `unclear`: one that
 * may be that one: the server does not say.
 */
export function previousDeployment(
  items: readonly DeploymentItem[],
  failed: readonly FailedCheck[],
  existing?: ReadonlySet<BundleId>,
) {
  const finished = items.filter(
    (item): item is KnownDeployment => item.status === 'finished' && item.bundleId !== undefined,
  );
  const [current] = finished;
  if (current === undefined || liveDeployment(items) !== current) return {warnings: []};
  const ran = finished.map(({bundleId}) => bundleId);
  const skipped = new Map<BundleId, string>();
  const before = items.slice(items.indexOf(current) + 1);
  const unclear = before.find(isNameless);
  const previous = finished.find((item) => {
    const {bundleId} = item;
    if (bundleId === current.bundleId) return false;
    if (existing?.has(bundleId) === false) skipped.set(bundleId, 'was deleted');
    else if (wasRolledBack(bundleId, ran)) skipped.set(bundleId, 'was rolled back from');
    else if (hasFailedCheck(item, failed)) skipped.set(bundleId, 'failed its check');
    else return true;
    return false;
  });
  const warnings = [...skipped].map(([id, why]) => {
    const advice = existing?.has(id) === false ? '' : ` To deploy it, pass --to ${String(id)}.`;
    return `Skipped bundle ${String(id)}, which ${why}.${advice}`;
  });
  if (unclear !== undefined && (previous === undefined || before.indexOf(unclear) < before.indexOf(previous)))
    return {current, unclear, warnings};
  return {current, previous, warnings};
}

/** Whether what followed the latest deployment of a bundle had run before it. `ran`: newest first. */
export function wasRolledBack(bundleId: BundleId, ran: readonly BundleId[]): boolean {
  const successor = ran[ran.indexOf(bundleId) - 1];
  return successor !== undefined && ran.lastIndexOf(successor) > ran.lastIndexOf(bundleId);
}

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

/** Whether a deployment that ends with this error failed, or its check did, for certain. */
export function provesFailure(error: unknown): boolean {
  return isRuntimeCliError(error) && ['ERR_DEPLOYMENT_FAILED', 'ERR_UNHEALTHY'].includes(error.code);
}

/** The deployment of the bundle that a target ran before ours, or why there is none to go back to. */
export function deploymentBefore(
  {bundleId: ours, before: items}: Pick<FailedDeployment, 'bundleId' | 'before'>,
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
  if (later.length === now.length && known.size > 0) return 'the target was deleted, and made again, meanwhile';
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
