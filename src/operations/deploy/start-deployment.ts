import {shownUrl} from '../../backends/answers.js';
import type {NotedAhead} from '../../backends/host-backend.js';
import type {BundleId, DeployResult, DeploymentItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {deployFallbackReason} from '../../backends/select.js';
import {amendError, createError, interrupted, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {allowChange, invoke, quickLook} from '../call-backend.js';
import {withFallback, withOtherBackend, type ChosenBackend} from '../choose-backend.js';
import {checkNotOlder} from '../guard/guards.js';
import {explainMissingBundle, isUnclear, liveDeployment, readHistory, resolveBundleId} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {findAwaited} from '../targets/find-targets.js';
import {requireTargetUrl} from './check-deployment.js';
import {startPoll, type Poll} from './poll.js';
import type {AcceptedDeployment, Release} from './release.js';
import {deploymentFailed, pollDeployment} from './wait-for-deployment.js';

/** The bundle of a deployment. */
export interface DeployedBundle {
  readonly bundleId: BundleId;
  /** What the backend noted before it was uploaded. */
  readonly noted?: NotedAhead | undefined;
  /** The target that runs it, for a promotion. */
  readonly from?: string | undefined;
}

/** A bundle that is to be deployed, and the backend that has it. */
export interface FoundBundle extends ChosenBackend, DeployedBundle {
  readonly release: Release;
}

/**
 * Requests the deployment of a bundle of the service. With `auto`, only `latest` falls back from Api to legacy (on 401,
 * 403 and `invalid_scope`), because the backend that deploys resolves it, and reports it before the request. IDs never
 * cross backends.
 */
export async function startDeployment(found: FoundBundle): Promise<AcceptedDeployment> {
  const deployWith = (open: OpenBackend) => deployFrom(open, found);
  const reasonFor = (error: unknown) => {
    if (found.bundleId !== 'latest') throw withOtherBackend(error, found.fallback?.backend.name);
    return deployFallbackReason(error);
  };
  return withFallback(found, {reasonFor, first: deployWith, second: deployWith});
}

async function deployFrom(open: OpenBackend, found: FoundBundle): Promise<AcceptedDeployment> {
  const {release, from} = found;
  const {operation, targetSlug} = release;
  const {host} = open;
  const bundleId = await resolveBundleId(open, found.bundleId);
  if (found.bundleId === 'latest') host.outlet.note(`Latest bundle: ${String(bundleId)}`);
  await requireTargetUrl(open, release);
  await allowChange(open, {operation, targetSlug, bundleIds: [bundleId]});
  return requestDeploy(open, release, {bundleId, from});
}

/** Takes note of a deployment that a backend has accepted. */
export function acceptDeployment(
  open: OpenBackend,
  release: Release,
  bundleId: BundleId,
  {deployment, status, warnings = [], raw, ...result}: DeployResult,
): AcceptedDeployment {
  const {outlet, writes} = open.host;
  const url = shownUrl(result.url);
  if (release.watch) release.watch.ours = {bundleId, deployment};
  writes?.learn({deployment, status, url});
  warnings.forEach((warning) => outlet.warn(warning));
  return {open, release, bundleId, deployment, status, url, raw};
}

/** Waits for an accepted deployment to end. */
export async function waitForAccepted<Accepted extends AcceptedDeployment>(deployed: Accepted): Promise<Accepted> {
  const {open, bundleId, deployment} = deployed;
  const state = await pollDeployment(open, deployment).catch((error: unknown) => {
    throw isRuntimeCliError(error) && !isOwnReason(error, open) ? amendError(error, {details: {bundleId}}) : error;
  });
  const {status} = state;
  const url = shownUrl(state.url) ?? deployed.url;
  open.host.writes?.learn(url === undefined ? {status} : {status, url});
  return {...deployed, status, url};
}

/** Whether a caller has aborted with a reason of its own, which is passed on unchanged. */
export function isOwnReason({code}: RuntimeCliError, {signal}: OpenBackend): boolean {
  return signal.aborted && code !== 'ERR_INTERRUPTED';
}

/**
 * Requests a deployment from a backend once the target is free: with `from`, a promotion if the backend has its own.
 */
export async function requestDeploy(
  open: OpenBackend,
  release: Release,
  {bundleId, from, noted}: DeployedBundle,
): Promise<AcceptedDeployment> {
  const {targetSlug} = release;
  const request = {bundleId, targetSlug, ...(noted && {noted})};
  const send = () =>
    from !== undefined && open.backend.promote
      ? invoke(open, 'promote', {bundleId, from, to: targetSlug})
      : invoke(open, 'deploy', request);
  const result = await inTargetSlot(open, release, bundleId, send).catch(async (error: unknown) => {
    throw await explainMissingBundle(error, open, bundleId);
  });
  const accepted = acceptDeployment(open, release, bundleId, result);
  if (result.status === 'failed') throw await deploymentFailed(open, accepted.deployment, result);
  return accepted;
}

/** Consecutive refusals without a running deployment before we assume that they mean something else. */
const maxUnexplained = 5;

/** What occupies a target: `none` as far as the server shows, `unknown` if it does not list deployments. */
type Occupant = DeploymentItem | 'none' | 'unknown';

/**
 * Sends a request that starts a deployment. A target accepts one at a time, and is busy while another is running. It
 * has done nothing then, so the request can be sent again. With `waitForSlot`, that happens once the other has ended.
 */
export async function inTargetSlot<Result>(
  open: OpenBackend,
  release: Release,
  bundleId: BundleId | undefined,
  send: () => Promise<Result>,
): Promise<Result> {
  const {targetSlug, waitForSlot} = release;
  const poll = startPoll(open);
  for (let unexplained = 0; ;) {
    try {
      // Others may have deployed during the build, the upload or the wait for the target.
      await checkNotOlder(release, open, bundleId);
      if (release.watch) release.watch.before = {open, items: await readBefore(open, targetSlug)};
      return await send();
    } catch (error) {
      if (!isRuntimeCliError(error) || error.code !== 'ERR_TARGET_BUSY') throw error;
      const occupant = await findOccupant(open, targetSlug);
      unexplained = occupant === 'none' ? unexplained + 1 : 0;
      if (!waitForSlot || unexplained === maxUnexplained) throw targetBusy(targetSlug, occupant, error);
      await waitUntilFree(open, targetSlug, {poll, occupant, error});
    }
  }
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

/** Waits until a deployment to a target has ended, or for one pause if the server lists none. */
async function waitUntilFree(
  open: OpenBackend,
  targetSlug: string,
  {poll, error, ...seen}: {readonly poll: Poll; readonly error: RuntimeCliError; readonly occupant: Occupant},
): Promise<void> {
  const {signal, host} = open;
  const details = {deploymentRequested: false};
  let {occupant} = seen;
  do {
    const description = describeOccupant(occupant, targetSlug);
    host.outlet.progress({phase: 'slot', transferred: 0, description, leftMs: poll.leftMs()});
    if (poll.isLate()) throw slotTimedOut(error, open, targetSlug, poll.timeout, occupant);
    try {
      await poll.pause();
      occupant = await findOccupant(open, targetSlug);
      if (typeof occupant !== 'object')
        await findAwaited(open, {targetSlug, wasThere: true, before: 'it was free', details});
    } catch (reason) {
      throw signal.aborted ? interrupted(reason, 'Nothing was deployed.', {details}) : reason;
    }
  } while (typeof occupant === 'object');
}

/** The newest deployment to the target, if it has not ended. */
async function findOccupant(open: OpenBackend, targetSlug: string): Promise<Occupant> {
  if (!open.backend.listDeployments) return 'unknown';
  const items = await quickLook(open, (again) => readHistory(again, targetSlug, 10));
  open.signal.throwIfAborted();
  const [newest] = items ?? [];
  if (items === undefined || newest?.status === 'unknown') return 'unknown';
  return newest !== undefined && isUnderWay(newest.status) ? newest : 'none';
}

/** `bundle 3 "main: 1a2b3c" has been deploying to staging since 2026-01-01T00:00:00Z, started by jane` */
function describeOccupant(occupant: Occupant, targetSlug: string): string {
  if (typeof occupant === 'string') return `another deployment to ${targetSlug} is running`;
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
  targetSlug: string,
  occupant: Occupant,
  error: RuntimeCliError = createError('ERR_TARGET_BUSY', 'The target is busy.'),
): Error {
  const wait = 'Try again once it has ended. With --wait-for-slot, bundle:push and bundle:deploy wait for that.';
  if (typeof occupant === 'string')
    return amendError(error, {suggestions: [`Another deployment may be running. ${wait}`]});
  return amendError(error, {
    message: `The target is busy${error.status === undefined ? '' : ` (${String(error.status)})`}: ${describeOccupant(occupant, targetSlug)}.`,
    suggestions: [wait],
    details: {running: occupant},
  });
}

function slotTimedOut(
  error: RuntimeCliError,
  {flags}: OpenBackend,
  targetSlug: string,
  timeout: number,
  occupant: Occupant,
): Error {
  const why = typeof occupant === 'string' ? error.message : describeOccupant(occupant, targetSlug);
  return createError('ERR_WAIT_TIMEOUT', asSentence(`The target was still busy after ${String(timeout)} s: ${why}`), {
    suggestions: [
      'Nothing was deployed. Pass a longer --timeout, or check what is running:',
      [{run: ['bundle:history', ...flags(targetSlug)]}],
    ],
    status: error.status,
    details: typeof occupant === 'string' ? undefined : {running: occupant},
    cause: error,
  });
}
