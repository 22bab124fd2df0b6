import type {BundleId, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {
  amendError,
  createError,
  interrupted,
  isRuntimeCliError,
  type ErrorCode,
  type RuntimeCliError,
} from '../../errors/index.js';
import {asClause, asSentence, oneLine} from '../../text/sentence.js';
import {placeFlags} from '../../text/suggest.js';
import {advises} from '../../errors/suggestion.js';
import {failedChecks, hasFailedCheck} from './check-deployment.js';
import {isUnclear, liveDeployment, readHistory} from '../list.js';
import type {OpenBackend} from '../open-backend.js';
import type {DeploymentOptions} from '../options.js';
import type {RunHost} from '../host.js';
import {requestDeploy, type DeploymentWatch} from './deploy-bundle.js';
import {waitForDeployment} from './wait-for-deployment.js';

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

/** What a target ran before a deployment, and that deployment. */
export class RollbackWatch implements DeploymentWatch {
  /** The target's deployments before ours, newest first, and where they were read. */
  before: {readonly open: OpenBackend; readonly items: readonly DeploymentItem[]} | undefined;
  ours: {readonly bundleId: BundleId; readonly deployment: DeploymentRef} | undefined;

  constructor(readonly targetSlug: string) {}

  async look(open: OpenBackend): Promise<void> {
    this.before = {open, items: await readBefore(open, this.targetSlug)};
  }

  note(accepted: NonNullable<RollbackWatch['ours']>): void {
    this.ours = accepted;
  }
}

/** Follows a deployment to be able to roll it back. Undefined unless that was asked for. */
export function watchForRollback({
  rollbackOnFailure,
  targetSlug,
}: DeploymentOptions & {readonly targetSlug?: string | undefined}): RollbackWatch | undefined {
  return rollbackOnFailure && targetSlug !== undefined ? new RollbackWatch(targetSlug) : undefined;
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

/** A deployment that failed, and what its target ran before. */
interface FailedDeployment {
  readonly failure: RuntimeCliError;
  readonly before: NonNullable<RollbackWatch['before']>;
  readonly ours: NonNullable<RollbackWatch['ours']>;
}

/** A deployment to roll back: one that failed, or whose check did. Undefined for any other failure. */
export function failedDeployment(
  failure: unknown,
  {before, ours}: Partial<RollbackWatch> = {},
): FailedDeployment | undefined {
  if (before === undefined || ours === undefined || !isRuntimeCliError(failure)) return undefined;
  if (failure.code !== 'ERR_DEPLOYMENT_FAILED' && failure.code !== 'ERR_UNHEALTHY') return undefined;
  return {failure, before, ours};
}

/** Says of a deployment that may still finish that it was not rolled back, if that was asked for. */
export function explainUnfinished(error: unknown, {before, ours}: Partial<RollbackWatch> = {}): unknown {
  if (before === undefined || ours === undefined || !isRuntimeCliError(error)) return error;
  if (error.code !== 'ERR_WAIT_TIMEOUT' && error.code !== 'ERR_OUTCOME_UNKNOWN') return error;
  return amendError(error, {message: `${error.message} It was not rolled back, because it may still finish.`});
}

/** After these, a request to roll back may have been carried out. */
const unclearCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_OUTCOME_UNKNOWN',
  'ERR_WAIT_TIMEOUT',
  'ERR_SERVER',
  'ERR_RESPONSE_INVALID',
]);

/** A rollback, and how far it is. */
interface Rollback {
  readonly failed: FailedDeployment;
  readonly place: {readonly backend: string; readonly projectSlug: string; readonly targetSlug: string};
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
  targetSlug: string,
  options: DeploymentOptions,
  host: RunHost,
): Promise<{readonly bundleId: BundleId; readonly error: Error}> {
  const {failure, before, ours} = failed;
  const {open} = before;
  const place = {backend: open.backend.name, projectSlug: open.projectSlug, targetSlug};
  host.writes?.conclude({error: failure});
  const {live, reason = ''} = deploymentBefore(before.items, ours.bundleId, targetSlug);
  const bundleId = live?.bundleId;
  if (live === undefined || bundleId === undefined) throw notRolledBack({failed, place}, reason);
  const rollback = await deployAgain({failed, place, bundleId}, bundleId, options, host);
  host.writes?.conclude({});
  const doubt = hasFailedCheck(live, await failedChecks(open, targetSlug, host)) ? ', which also failed its check' : '';
  const now = `The target ${targetSlug} was rolled back and runs bundle ${String(bundleId)} again${doubt}.`;
  const error = createError('ERR_ROLLED_BACK', `${asSentence(failure.message)} ${now}`, {
    suggestions: failure.advice,
    details: detailsOf(rollback, {rolledBack: true}),
    cause: failure,
  });
  return {bundleId, error};
}

/** Deploys the bundle that ran before, and waits for it, unless others have deployed meanwhile. */
async function deployAgain(
  planned: Rollback,
  bundleId: BundleId,
  options: DeploymentOptions,
  host: RunHost,
): Promise<Rollback> {
  const {before, ours} = planned.failed;
  const {open} = before;
  const {targetSlug} = planned.place;
  let rollback = planned;
  // Others may deploy before the request, and while it waits to be repeated.
  const beforeAttempt = async () => {
    const came = cameBetween(before.items, await readHistory(open, targetSlug), ours);
    if (came !== undefined) throw notRolledBack(planned, came);
    rollback = {...planned, isRequested: true};
  };
  try {
    await host.writes?.before({operation: 'rollback', ...planned.place, bundleIds: [bundleId]});
    await beforeAttempt();
    const asking = open.with({beforeAttempt});
    const request = {bundleId, targetSlug};
    const {deployment, status} = await requestDeploy(asking, request, {...options, waitForSlot: false}, host.outlet);
    rollback = {...rollback, deployment};
    host.writes?.learn({deployment, status});
    const state = await waitForDeployment(open, deployment, options, host.outlet);
    host.writes?.learn({status: state.status});
    return rollback;
  } catch (error) {
    if (open.signal.aborted) throw interruptedRollback(open.signal.reason, rollback);
    host.writes?.conclude({error});
    if (!isRuntimeCliError(error) || error.code === 'ERR_NOT_ROLLED_BACK') throw error;
    throw notRolledBack(rollback, error.message, error);
  }
}

/** What failed, where, and what came of the rollback. */
function detailsOf(
  {failed: {failure, ours}, place, bundleId, deployment}: Rollback,
  outcome: Pick<RollbackOutcome, 'rolledBack' | 'reason'>,
) {
  const {code, message, details} = failure;
  const rollback: RollbackOutcome = {bundleId, deployment, ...outcome};
  return {...ours, ...place, ...details, failure: {code, message}, rollback};
}

function notRolledBack(rollback: Rollback, reason: string, cause?: RuntimeCliError): RuntimeCliError {
  const {failed, place, bundleId, isRequested = false, deployment} = rollback;
  const {failure, before} = failed;
  const flags = placeFlags(place, before.open.commandFlags);
  const isUnclear =
    cause !== undefined &&
    (deployment === undefined ? isRequested && unclearCodes.has(cause.code) : cause.code !== 'ERR_DEPLOYMENT_FAILED');
  const started = deployment === undefined ? 'may have started' : 'was accepted and may still finish';
  const state = isUnclear ? `Its rollback to bundle ${String(bundleId)} ${started}` : 'It was not rolled back';
  // Where another deployment came after ours, that is not ours to undo.
  const canRetry = bundleId !== undefined && cause !== undefined && !isUnclear;
  return createError('ERR_NOT_ROLLED_BACK', `${asSentence(failure.message)} ${state}: ${asClause(reason)}.`, {
    suggestions: [
      ...failure.advice,
      ...(advises('bundle:history', failure.advice)
        ? []
        : [[`Check what ${place.targetSlug} runs: `, {run: ['bundle:history', ...flags]}] as const]),
      ...(canRetry ? [['To roll back, run: ', {run: ['bundle:deploy', bundleId, ...flags]}] as const] : []),
    ],
    details: detailsOf(rollback, {rolledBack: false, reason}),
    cause: cause ?? failure,
  });
}

function interruptedRollback(reason: unknown, rollback: Rollback): unknown {
  const {failed, bundleId, isRequested = false, deployment} = rollback;
  const {message, advice} = failed.failure;
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
function cameBetween(
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
