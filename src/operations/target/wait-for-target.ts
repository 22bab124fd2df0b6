import type {TargetItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {amendError, createError, interrupted, isRuntimeCliError} from '../../errors/index.js';
import {isLost, maxLostPolls} from '../deploy/wait-for-deployment.js';
import {startPoll} from '../deploy/poll.js';
import {readHistory} from '../list.js';
import type {OpenBackend} from '../open-backend.js';
import {listTargets} from '../targets.js';

/** Making a target takes minutes. */
const defaultPollInterval = 10;

/**
 * Waits until a target is made and nothing is being published to it.
 * @throws RuntimeCliError `ERR_DEPLOYMENT_FAILED` if that failed, `ERR_WAIT_TIMEOUT`.
 */
export async function waitForTarget(open: OpenBackend, targetSlug: string): Promise<TargetItem> {
  const {signal} = open;
  const poll = startPoll(open, {pollInterval: defaultPollInterval});
  const polled = open.with({signal: poll.signal});
  let last: TargetItem | undefined;
  const orLate = (error: unknown): never => {
    const check = {suggestions: ['To check on it, run:', [commandOf(open)]], details: {targetSlug}};
    if (signal.aborted) throw interrupted(signal.reason, `The service goes on with target ${targetSlug}.`, check);
    if (poll.isLate()) throw late(open, targetSlug, last, poll.timeout);
    if (!isRuntimeCliError(error)) throw error;
    const message = `The service goes on with target ${targetSlug}, but its state cannot be read: ${error.message}`;
    throw amendError(error, {message, ...check});
  };
  for (let lost = 0; ;) {
    const seen = await look(polled, targetSlug).catch((error: unknown) => {
      const isLast = lost + 1 >= maxLostPolls;
      return !isLast && !poll.isLate() && isRuntimeCliError(error) && isLost(error) ? undefined : orLate(error);
    });
    lost = seen ? 0 : lost + 1;
    last = seen?.item ?? last;
    if (seen?.item?.state === 'failed' || seen?.item?.state === 'deleting') throw failed(open, seen.item);
    if (seen?.item && !seen.isBusy) return seen.item;
    open.host.outlet.progress({
      phase: 'wait',
      transferred: 0,
      description: last?.state ?? 'not listed yet',
      leftMs: poll.leftMs(),
    });
    await poll.pause().catch(orLate);
    if (poll.isLate()) throw late(open, targetSlug, last, poll.timeout);
  }
}

/** Looks at a target once. One that was just made may not be in the list yet. */
async function look(open: OpenBackend, targetSlug: string) {
  const item = (await listTargets(open)).find((one) => one.targetSlug === targetSlug);
  if (item?.state === 'creating' || item?.state === 'publishing') return {item, isBusy: true};
  const history = open.backend.listDeployments === undefined ? [] : await readHistory(open, targetSlug);
  return {item, isBusy: history.some(({status}) => isUnderWay(status))};
}

function commandOf(open: OpenBackend) {
  return {run: ['target:list', ...open.flags()]};
}

function failed(open: OpenBackend, {targetSlug, state}: TargetItem): Error {
  const what = state === 'deleting' ? 'is being deleted' : 'could not be made, or what was last published to it failed';
  return createError('ERR_DEPLOYMENT_FAILED', `Target ${targetSlug} ${what}.`, {
    suggestions: [['Its state: ', commandOf(open)]],
    details: {targetSlug, state},
  });
}

function late(open: OpenBackend, targetSlug: string, last: TargetItem | undefined, timeout: number): Error {
  const state = last?.state ?? 'unknown';
  const message = `Target ${targetSlug} was not ready within ${String(timeout)} s. Its last state: ${state}.`;
  return createError('ERR_WAIT_TIMEOUT', message, {
    suggestions: ['The service goes on. Pass a longer --timeout next time, or check on it:', [commandOf(open)]],
    details: {targetSlug, state},
  });
}
