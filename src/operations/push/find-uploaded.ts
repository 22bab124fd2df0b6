import type {BundleId, BundleItem} from '../../backends/contract.js';
import {isRuntimeCliError} from '../../errors/index.js';
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

export interface FoundUpload {
  /** Of a new bundle with the same message: somebody else may have pushed it. Undefined if there is none. */
  readonly bundleId: BundleId | undefined;
}

/** Looks for the bundle of an upload whose answer was lost. Undefined if nothing could be read. */
export async function findLostUpload(
  error: unknown,
  open: OpenBackend,
  sent: {readonly message: string; readonly at: Date},
): Promise<FoundUpload | undefined> {
  const isLost = isRuntimeCliError(error) && error.code === 'ERR_OUTCOME_UNKNOWN';
  if (!isLost || !open.host.findsLostUploads || !open.backend.listBundles) return undefined;
  open.host.outlet.note(`Looking for the bundle, for at most ${String(longestSearchMs / 1000)} s.`);
  const once = open.with({once: true, signal: AbortSignal.timeout(longestSearchMs)});
  const items = await listOnceReached(once);
  const since = sent.at.getTime() + open.clockAheadMs() - toleranceMs;
  const found = items?.find((item) => item.message === sent.message && createdTime(item) >= since);
  return items && {bundleId: found?.bundleId};
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
