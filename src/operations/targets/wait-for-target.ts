import type {TargetItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/members.js';
import {amendError, createError} from '../../errors/index.js';
import {pollUntil} from '../deploy/poll.js';
import {readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {readTargets, refuseDeleted} from './find-targets.js';

/** Making a target takes minutes. */
const defaultPollInterval = 10;

export async function waitForTarget(open: OpenBackend, targetSlug: string): Promise<TargetItem> {
  let last: TargetItem | undefined;
  const check = () => ({
    suggestions: ['To check on it, run:', [commandOf(open)]],
    details: {targetSlug, state: last?.state ?? 'unknown'},
  });
  const ready = await pollUntil(open, {
    defaults: {pollInterval: defaultPollInterval},
    look: (polled) => look(polled, targetSlug),
    judge({item, isBusy}, leftMs) {
      refuseDeleted(open, item, {targetSlug, wasThere: last !== undefined, before: 'it was ready'});
      last = item ?? last;
      if (item && (item.state === 'failed' || !isBusy)) return item;
      const description = last?.state ?? 'not listed yet';
      open.host.outlet.progress({phase: 'wait', transferred: 0, description, leftMs});
      return undefined;
    },
    unreadable(failure) {
      const message = `The service continues with target ${targetSlug}, but its state cannot be read: ${failure.message}`;
      return amendError(failure, {message, ...check()});
    },
    late(timeout) {
      const {details} = check();
      const message = `Target ${targetSlug} was not ready within ${String(timeout)} s. Its last state: ${details.state}.`;
      const advice = 'The service continues. Pass a longer --timeout next time, or check on it:';
      throw createError('ERR_WAIT_TIMEOUT', message, {suggestions: [advice, [commandOf(open)]], details});
    },
  });
  if (ready.state === 'failed') throw failed(open, ready);
  return ready;
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
  const message = `Target ${targetSlug} could not be created, or its last deployment failed.`;
  return createError('ERR_DEPLOYMENT_FAILED', message, {
    suggestions: [['Its state: ', commandOf(open)]],
    details: {targetSlug, state},
  });
}
