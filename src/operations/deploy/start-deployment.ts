import {shownUrl} from '../../backends/answers.js';
import type {NotedAhead} from '../../backends/host-backend.js';
import type {BundleId, DeployResult, DeploymentItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/members.js';
import {deployFallbackReason} from '../../backends/select.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {allowChange, invoke, quickLook} from '../call-backend.js';
import {withOtherBackend} from '../choose-backend.js';
import {checkNotOlder} from '../guard/guards.js';
import {explainMissing} from '../explain-missing.js';
import {isUnclear, liveDeployment, readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {findAwaited} from '../targets/find-targets.js';
import {requireTargetUrl} from './check-deployment.js';
import {pollUntil} from './poll.js';
import type {Release} from './release.js';

export interface DeployedBundle {
  readonly bundleId: BundleId;
  /** What the backend noted before it was uploaded. */
  readonly noted?: NotedAhead | undefined;
  /** The target that runs it, for a promotion. */
  readonly from?: string | undefined;
}

/** The answer to a request that starts a deployment. */
export interface InSlot<Answer> {
  readonly answer: Answer;
  /** The deployments of the target right before it, newest first, if a failure is to be rolled back. */
  readonly before: readonly DeploymentItem[] | undefined;
}

/** Why a refused deployment may fall back: only `latest` is on both. @throws RuntimeCliError for other bundles */
export function deployFallback(error: unknown, bundleId: BundleId, fallback: OpenBackend | undefined) {
  if (bundleId !== 'latest') throw withOtherBackend(error, fallback?.backend.name);
  return deployFallbackReason(error);
}

/** Requests the deployment of a bundle of the service, once that is allowed. */
export async function deployStored(
  open: OpenBackend,
  release: Release,
  {bundleId, from}: DeployedBundle,
): Promise<InSlot<DeployResult>> {
  const {operation, targetSlug} = release;
  await requireTargetUrl(open, release);
  await allowChange(open, {operation, targetSlug, bundleIds: [bundleId]});
  return requestDeploy(open, release, {bundleId, from});
}

/** Requests a deployment once the target is free: with `from`, a promotion if the backend has its own. */
export async function requestDeploy(
  open: OpenBackend,
  release: Release,
  {bundleId, from, noted}: DeployedBundle,
): Promise<InSlot<DeployResult>> {
  const {targetSlug} = release;
  const request = {bundleId, targetSlug, ...(noted && {noted})};
  const send = () =>
    from !== undefined && open.backend.promote
      ? invoke(open, 'promote', {bundleId, from, to: targetSlug})
      : invoke(open, 'deploy', request);
  const {answer, before} = await inTargetSlot(open, release, bundleId, send).catch(explainMissing(open, {bundleId}));
  return {answer: {...answer, url: shownUrl(answer.url)}, before};
}

/** What occupies a target: undefined if the server does not show it, as while it receives a v1 push. */
type Occupant = DeploymentItem | undefined;

/** Sends a request that starts a deployment. With `waitForSlot`, a busy target is asked again once it is free. */
export async function inTargetSlot<Result>(
  open: OpenBackend,
  release: Release,
  bundleId: BundleId | undefined,
  send: () => Promise<Result>,
): Promise<InSlot<Result>> {
  const {targetSlug, waitForSlot, rollsBack} = release;
  let occupant: Occupant;
  let refusal: RuntimeCliError | undefined;
  // What occupies it may be making it.
  let wasThere = false;
  const findOccupant = async () => {
    occupant = await newestUnderWay(open, targetSlug);
    wasThere ||= occupant !== undefined;
  };
  return pollUntil(open, {
    async look() {
      if (refusal !== undefined) {
        await findOccupant();
        if (occupant !== undefined) return undefined;
        wasThere = await findAwaited(open, {targetSlug, wasThere, before: 'it was free', code: 'ERR_REJECTED'});
      }
      try {
        // Others may have deployed during the build, the upload or the wait for the target.
        await checkNotOlder(release, open, bundleId);
        const before = rollsBack ? await readBefore(open, targetSlug) : undefined;
        return {answer: await send(), before};
      } catch (error) {
        if (!isRuntimeCliError(error) || error.code !== 'ERR_TARGET_BUSY') throw error;
        await findOccupant();
        if (!waitForSlot) throw targetBusy(release, occupant, error);
        refusal = error;
        return undefined;
      }
    },
    judge(sent, leftMs) {
      const description = describeOccupant(occupant, targetSlug);
      if (sent === undefined) open.host.outlet.progress({phase: 'slot', transferred: 0, description, leftMs});
      return sent;
    },
    late(timeout) {
      throw slotTimedOut(refusal, open, targetSlug, timeout, occupant);
    },
  });
}

/** The deployments of a target to which a failed one could be rolled back. */
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

/** The newest deployment to the target, if it has not ended. */
async function newestUnderWay(open: OpenBackend, targetSlug: string): Promise<Occupant> {
  if (!open.backend.listDeployments) return undefined;
  const [newest] = (await quickLook(open, (again) => readHistory(again, targetSlug, 10))) ?? [];
  open.signal.throwIfAborted();
  return newest !== undefined && isUnderWay(newest.status) ? newest : undefined;
}

/** `bundle 3 "main: 1a2b3c" has been deploying to staging since 2026-01-01T00:00:00Z, started by jane` */
function describeOccupant(occupant: Occupant, targetSlug: string): string {
  if (occupant === undefined) return `another deployment to ${targetSlug} is running`;
  const {bundleId, message, createdAt, createdBy} = occupant;
  const bundle = bundleId === undefined ? 'another bundle' : `bundle ${String(bundleId)}`;
  const named = message === undefined ? bundle : `${bundle} "${message}"`;
  const what =
    createdAt === undefined
      ? `${named} is being deployed to ${targetSlug}`
      : `${named} has been deploying to ${targetSlug} since ${createdAt}`;
  return oneLine(createdBy === undefined ? what : `${what}, started by ${createdBy}`);
}

/** @param error the refusal of the service, if it was asked */
export function targetBusy(
  {operation, targetSlug}: Release,
  occupant: Occupant,
  error: RuntimeCliError = createError('ERR_TARGET_BUSY', 'The target is busy.'),
): Error {
  const wait =
    operation === 'rollback'
      ? 'Try again once it has ended: until then, what to roll back to may change.'
      : 'Try again once it has ended, or pass --wait-for-slot to wait for that.';
  if (occupant === undefined) return amendError(error, {suggestions: [`Another deployment may be running. ${wait}`]});
  return amendError(error, {
    message: `The target is busy${error.status === undefined ? '' : ` (${String(error.status)})`}: ${describeOccupant(occupant, targetSlug)}.`,
    suggestions: [wait],
    details: {running: occupant},
  });
}

function slotTimedOut(
  error: RuntimeCliError | undefined,
  {flags}: OpenBackend,
  targetSlug: string,
  timeout: number,
  occupant: Occupant,
): Error {
  const why = (occupant === undefined && error?.message) || describeOccupant(occupant, targetSlug);
  return createError('ERR_WAIT_TIMEOUT', asSentence(`The target was still busy after ${String(timeout)} s: ${why}`), {
    suggestions: [
      'Nothing was deployed. Pass a longer --timeout, or check what is running:',
      [{run: ['bundle:history', ...flags(targetSlug)]}],
    ],
    status: error?.status,
    details: occupant && {running: occupant},
    cause: error,
  });
}
