import type {TargetItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {isLost, maxLostPolls} from '../deploy/wait-for-deployment.js';
import {startPoll} from '../deploy/poll.js';
import {readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {readTargets, refuseDeleted} from './find-targets.js';

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
  /** What ends the waiting: the caller, the time, or too many failures. */
  const fail = (error: unknown): never => {
    const state = last?.state ?? 'unknown';
    const check = {suggestions: ['To check on it, run:', [commandOf(open)]], details: {targetSlug, state}};
    const goesOn = `The service goes on with target ${targetSlug}`;
    signal.throwIfAborted();
    if (poll.isLate()) {
      const message = `Target ${targetSlug} was not ready within ${String(poll.timeout)} s. Its last state: ${state}.`;
      const suggestions = [
        'The service goes on. Pass a longer --timeout next time, or check on it:',
        [commandOf(open)],
      ];
      throw createError('ERR_WAIT_TIMEOUT', message, {...check, suggestions});
    }
    if (!isRuntimeCliError(error)) throw error;
    throw amendError(error, {message: `${goesOn}, but its state cannot be read: ${error.message}`, ...check});
  };
  for (let lost = 0; ;) {
    const seen = await look(polled, targetSlug).catch((error: unknown) => {
      const isLast = lost + 1 >= maxLostPolls;
      return !isLast && !poll.isLate() && isRuntimeCliError(error) && isLost(error) ? undefined : fail(error);
    });
    lost = seen ? 0 : lost + 1;
    if (seen) refuseDeleted(open, seen.item, {targetSlug, wasThere: last !== undefined, before: 'it was ready'});
    last = seen?.item ?? last;
    if (seen?.item?.state === 'failed') throw failed(open, seen.item);
    if (seen?.item && !seen.isBusy) return seen.item;
    const description = last?.state ?? 'not listed yet';
    open.host.outlet.progress({phase: 'wait', transferred: 0, description, leftMs: poll.leftMs()});
    await poll.pause().catch(fail);
    if (poll.isLate()) fail(undefined);
  }
}

/** Looks at a target once. One that was just made may not be in the list yet. */
async function look(open: OpenBackend, targetSlug: string) {
  const item = (await readTargets(open)).find((one) => one.targetSlug === targetSlug);
  if (item === undefined || item.state === 'creating' || item.state === 'publishing') return {item, isBusy: true};
  const history = open.backend.listDeployments === undefined ? [] : await readHistory(open, targetSlug);
  return {item, isBusy: history.some(({status}) => isUnderWay(status))};
}

function commandOf(open: OpenBackend) {
  return {run: ['target:list', ...open.flags()]};
}

function failed(open: OpenBackend, {targetSlug, state}: TargetItem): Error {
  const message = `Target ${targetSlug} could not be made, or what was last published to it failed.`;
  return createError('ERR_DEPLOYMENT_FAILED', message, {
    suggestions: [['Its state: ', commandOf(open)]],
    details: {targetSlug, state},
  });
}
