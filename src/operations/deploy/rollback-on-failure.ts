import type {BundleId, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {amendError, createError, interrupted, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {asClause, asSentence, oneLine} from '../../text/sentence.js';
import {advises} from '../../errors/suggestion.js';
import {allowChange, mayBeDone} from '../call-backend.js';
import {failedChecks, hasFailedCheck} from './check-deployment.js';
import {isUnclear, liveDeployment, readHistory} from '../list-bundles.js';
import type {Release, RollbackWatch} from './release.js';
import {requestDeploy} from './start-deployment.js';
import {pollDeployment} from './wait-for-deployment.js';

/** How a failed deployment was rolled back, or why not: `details.rollback` of the error. */
interface RollbackOutcome {
  /** Whether the target is known to run again what it ran before. */
  readonly rolledBack: boolean;
  /** The bundle that ran before, if it is known. */
  readonly bundleId?: BundleId | undefined;
  /** The deployment that rolled back, if one was accepted. */
  readonly deployment?: DeploymentRef | undefined;
  /** Why it was not rolled back. */
  readonly reason?: string | undefined;
}

/** A deployment that failed, and what its target ran before. */
interface FailedDeployment {
  readonly failure: RuntimeCliError;
  readonly before: NonNullable<RollbackWatch['before']>;
  readonly ours: NonNullable<RollbackWatch['ours']>;
}

/** A deployment to roll back: one that failed, or whose check did. Undefined for any other failure. */
export function failedDeployment(failure: unknown, {watch}: Release): FailedDeployment | undefined {
  const {before, ours} = watch ?? {};
  if (before === undefined || ours === undefined || !isRuntimeCliError(failure)) return undefined;
  if (failure.code !== 'ERR_DEPLOYMENT_FAILED' && failure.code !== 'ERR_UNHEALTHY') return undefined;
  return {failure, before, ours};
}

/** Says of a deployment that may still finish that it was not rolled back, if that was asked for. */
export function explainUnfinished(error: unknown, release: Release | undefined): unknown {
  if (release?.watch?.before === undefined || release.watch.ours === undefined) return error;
  if (!isRuntimeCliError(error)) return error;
  if (error.code !== 'ERR_WAIT_TIMEOUT' && error.code !== 'ERR_OUTCOME_UNKNOWN') return error;
  return amendError(error, {message: `${error.message} It was not rolled back, because it may still finish.`});
}

/** A rollback, and how far it is. */
interface Rollback extends FailedDeployment {
  readonly release: Release;
  /** The bundle that ran before, if it is known. */
  readonly bundleId?: BundleId | undefined;
  readonly isRequested?: boolean;
  /** The deployment of that bundle, once it is accepted. */
  readonly deployment?: DeploymentRef | undefined;
}

/**
 * Deploys what a target ran before a deployment that failed. Resolves to that bundle, and to the error of the failed
 * deployment.
 */
export async function rollBack(
  failed: FailedDeployment,
  release: Release,
): Promise<{readonly bundleId: BundleId; readonly error: Error}> {
  const {failure, before, ours} = failed;
  const {open} = before;
  const {targetSlug} = release;
  open.host.writes?.conclude({error: failure});
  const {live, reason = ''} = deploymentBefore(before.items, ours.bundleId, targetSlug);
  const bundleId = live?.bundleId;
  if (live === undefined || bundleId === undefined) throw notRolledBack({...failed, release}, reason);
  const rollback = await deployAgain({...failed, release, bundleId}, bundleId);
  open.host.writes?.conclude({});
  const doubt = hasFailedCheck(live, await failedChecks(open, targetSlug)) ? ', which also failed its check' : '';
  const now = `The target ${targetSlug} was rolled back and runs bundle ${String(bundleId)} again${doubt}.`;
  const error = createError('ERR_ROLLED_BACK', `${asSentence(failure.message)} ${now}`, {
    suggestions: failure.advice,
    details: detailsOf(rollback, {rolledBack: true}),
    cause: failure,
  });
  return {bundleId, error};
}

/** Deploys the bundle that ran before, and waits for it, unless others have deployed meanwhile. */
async function deployAgain(planned: Rollback, bundleId: BundleId): Promise<Rollback> {
  const {before, ours, release} = planned;
  const {open} = before;
  const {writes} = open.host;
  const {targetSlug} = release;
  let rollback = planned;
  // Others may deploy before the request, and while it waits to be repeated.
  const beforeAttempt = async () => {
    const intervention = findIntervention(before.items, await readHistory(open, targetSlug), ours);
    if (intervention !== undefined) throw notRolledBack(planned, intervention);
    rollback = {...planned, isRequested: true};
  };
  try {
    await allowChange(open, {operation: 'rollback', targetSlug, bundleIds: [bundleId]});
    await beforeAttempt();
    const again = {...release, guard: undefined, waitForSlot: false, watch: undefined};
    const {deployment} = await requestDeploy(open.with({beforeAttempt}), again, {bundleId});
    rollback = {...rollback, deployment};
    const state = await pollDeployment(open, deployment);
    writes?.learn({status: state.status});
    return rollback;
  } catch (error) {
    if (open.signal.aborted) throw interruptedRollback(open.signal.reason, rollback);
    writes?.conclude({error});
    if (!isRuntimeCliError(error) || error.code === 'ERR_NOT_ROLLED_BACK') throw error;
    throw notRolledBack(rollback, error.message, error);
  }
}

/** What failed, where, and what came of the rollback. */
function detailsOf(rollback: Rollback, outcome: Pick<RollbackOutcome, 'rolledBack' | 'reason'>) {
  const {failure, before, ours, release, bundleId, deployment} = rollback;
  const {code, message, details} = failure;
  const place = {...before.open.project, targetSlug: release.targetSlug};
  const result: RollbackOutcome = {bundleId, deployment, ...outcome};
  return {...ours, ...place, ...details, failure: {code, message}, rollback: result};
}

function notRolledBack(rollback: Rollback, reason: string, cause?: RuntimeCliError): RuntimeCliError {
  const {failure, before, release, bundleId, isRequested = false, deployment} = rollback;
  const {targetSlug} = release;
  const flags = before.open.flags(targetSlug);
  const isUnclear =
    cause !== undefined &&
    (deployment === undefined ? isRequested && mayBeDone(cause) : cause.code !== 'ERR_DEPLOYMENT_FAILED');
  const started = deployment === undefined ? 'may have started' : 'was accepted and may still finish';
  const state = isUnclear ? `Its rollback to bundle ${String(bundleId)} ${started}` : 'It was not rolled back';
  // Where another deployment came after ours, that is not ours to undo.
  const canRetry = bundleId !== undefined && cause !== undefined && !isUnclear;
  return createError('ERR_NOT_ROLLED_BACK', `${asSentence(failure.message)} ${state}: ${asClause(reason)}.`, {
    suggestions: [
      ...failure.advice,
      ...(advises('bundle:history', failure.advice)
        ? []
        : [[`Check what ${targetSlug} runs: `, {run: ['bundle:history', ...flags]}] as const]),
      ...(canRetry ? [['To roll back, run: ', {run: ['bundle:deploy', bundleId, ...flags]}] as const] : []),
    ],
    details: detailsOf(rollback, {rolledBack: false, reason}),
    cause: cause ?? failure,
  });
}

function interruptedRollback(reason: unknown, rollback: Rollback): unknown {
  const {failure, bundleId, isRequested = false, deployment} = rollback;
  const {message, advice} = failure;
  const started = deployment === undefined ? 'may have started' : 'continues';
  const state = isRequested ? `Its rollback to bundle ${String(bundleId)} ${started}.` : 'It was not rolled back.';
  const details = detailsOf(rollback, {rolledBack: false});
  return interrupted(reason, `${asSentence(message)} ${state}`, {suggestions: advice, details});
}

/** The deployment of the bundle that a target ran before ours, or why there is none to go back to. */
function deploymentBefore(
  items: readonly DeploymentItem[],
  ours: BundleId,
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

/** Why our deployment is not known to be the newest, and the only one since `before`. */
function findIntervention(
  before: readonly DeploymentItem[],
  now: readonly DeploymentItem[],
  {bundleId, deployment}: NonNullable<RollbackWatch['ours']>,
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
