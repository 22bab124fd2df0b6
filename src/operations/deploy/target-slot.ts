import type {DeploymentItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {amendError, createError, interrupted, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {placeFlags} from '../../text/suggest.js';
import {readHistory} from '../list.js';
import {quickLook} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import type {DeploymentOptions} from '../options.js';
import type {Outlet} from '../outlet.js';
import {startPoll} from './poll.js';
import {asSentence, oneLine} from '../../text/sentence.js';

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
  targetSlug: string,
  options: DeploymentOptions,
  outlet: Outlet,
  send: () => Promise<Result>,
): Promise<Result> {
  const {signal} = open;
  const poll = startPoll(options, signal);
  for (let unexplained = 0; ;) {
    try {
      return await send();
    } catch (error) {
      if (!isRuntimeCliError(error) || error.code !== 'ERR_TARGET_BUSY') throw error;
      let occupant = await findOccupant(open, targetSlug);
      unexplained = occupant === 'none' ? unexplained + 1 : 0;
      if (!options.waitForSlot || unexplained === maxUnexplained) throw targetBusy(error, targetSlug, occupant);
      do {
        const description = describeOccupant(occupant, targetSlug);
        outlet.progress({phase: 'slot', transferred: 0, description, leftMs: poll.leftMs()});
        if (poll.isLate()) throw slotTimedOut(error, open, targetSlug, poll.timeout, occupant);
        try {
          await poll.pause();
          occupant = await findOccupant(open, targetSlug);
        } catch (reason) {
          throw signal.aborted
            ? interrupted(reason, 'Nothing was deployed.', {details: {deploymentRequested: false}})
            : reason;
        }
      } while (typeof occupant === 'object');
    }
  }
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

function targetBusy(error: RuntimeCliError, targetSlug: string, occupant: Occupant): Error {
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
  {backend, projectSlug, commandFlags}: OpenBackend,
  targetSlug: string,
  timeout: number,
  occupant: Occupant,
): Error {
  const flags = placeFlags({projectSlug, targetSlug, backend: backend.name}, commandFlags);
  const why = typeof occupant === 'string' ? error.message : describeOccupant(occupant, targetSlug);
  return createError('ERR_WAIT_TIMEOUT', asSentence(`The target was still busy after ${String(timeout)} s: ${why}`), {
    suggestions: [
      'Nothing was deployed. Pass a longer --timeout, or check what is running:',
      [{run: ['bundle:history', ...flags]}],
    ],
    status: error.status,
    details: typeof occupant === 'string' ? undefined : {running: occupant},
    cause: error,
  });
}
