import type {BundleItem} from '../../backends/contract.js';
import {amendError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {pause} from '../deploy/poll.js';
import {readBundles} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {createdTime} from '../pages.js';

/** How long to look for a bundle whose upload was not answered: the network may be away. In milliseconds. */
const longestSearchMs = 30_000;

const betweenLooksMs = 2000;

/** How much earlier than the request a bundle may seem to be, in milliseconds: services tell the time in seconds. */
const toleranceMs = 5000;

/** Enough to see it, though others push at the same time. */
const newest = {limit: 20, offset: 0};

/**
 * Looks for the bundle of an upload whose answer was lost, once the service can be reached, and says what it found: a
 * hint, because somebody else may have pushed one with the same message.
 */
export async function explainLostUpload(
  error: RuntimeCliError,
  open: OpenBackend,
  sent: {readonly message: string; readonly at: Date; readonly targetSlug?: string | undefined},
): Promise<RuntimeCliError> {
  if (error.code !== 'ERR_OUTCOME_UNKNOWN' || !open.host.findsLostUploads || !open.backend.listBundles) return error;
  open.host.outlet.note(`Looking for the bundle, for at most ${String(longestSearchMs / 1000)} s.`);
  const once = open.with({once: true, signal: AbortSignal.timeout(longestSearchMs)});
  const items = await listOnceReached(once);
  if (items === undefined) return error;
  const since = sent.at.getTime() + open.clockAheadMs() - toleranceMs;
  const found = items.find((item) => item.message === sent.message && createdTime(item) >= since);
  if (found === undefined) {
    const hint = 'mycli looked for the bundle afterwards and did not find it yet.';
    return amendError(error, {advice: [hint, ...error.advice]});
  }
  const {bundleId} = found;
  const deploy = {run: ['bundle:deploy', bundleId, ...open.flags(sent.targetSlug ?? 'TARGET')]};
  return amendError(error, {
    advice: [`It is bundle ${String(bundleId)}: a new one with the same message is there.`, ['To deploy it: ', deploy]],
    details: {foundBundleId: bundleId},
  });
}

/** The newest bundles, as soon as the service answers. Undefined if it refuses, or the time is up. */
async function listOnceReached(open: OpenBackend): Promise<readonly BundleItem[] | undefined> {
  for (;;) {
    try {
      return (await readBundles(open, newest)).items;
    } catch (error) {
      if (open.signal.aborted || !isRuntimeCliError(error) || error.status !== undefined) return undefined;
    }
    await pause(betweenLooksMs, open.signal).catch(() => undefined);
  }
}
