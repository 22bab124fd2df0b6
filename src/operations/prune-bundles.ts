import type {PruneRules} from './bundle-options.js';
import type {BundleId, BundleItem, DeploymentItem} from '../backends/contract.js';
import {isUnderWay} from '../backends/members.js';
import {createError} from '../errors/index.js';
import {wasRolledBack} from './deploy/rollback-bundle.js';
import {readBundles, readHistory} from './list-bundles.js';
import {createdTime} from './pages.js';
import type {OpenBackend} from './open-backend.js';
import {sideBySide} from './side-by-side.js';
import {count} from '../text/sentence.js';
import {readTargets} from './targets/find-targets.js';

interface TargetHistory {
  readonly targetSlug: string;
  readonly deployments: readonly DeploymentItem[];
}

const defaultKeep = 10;

/** Reads what a project has and runs: the histories last, so that a deployment that starts meanwhile is seen. */
export async function findPrunable(open: OpenBackend, rules: PruneRules) {
  const {items: bundles} = await readBundles(open);
  const histories = await sideBySide(await readTargets(open), async ({targetSlug}): Promise<TargetHistory> => {
    return {targetSlug, deployments: await readHistory(open, targetSlug, Infinity)};
  });
  // Ages are counted by the clock of the service.
  const now = new Date(open.host.now().getTime() + open.clockAheadMs());
  return {prune: planPrune(bundles, histories, rules, now), bundles};
}

/** Says that the clock of this machine, by which users think of ages, differs by minutes from the service's. */
export function clockWarning(open: OpenBackend): string | undefined {
  const minutes = Math.round(open.clockAheadMs() / 60_000);
  if (Math.abs(minutes) < 5) return undefined;
  const relation = minutes > 0 ? 'behind' : 'ahead of';
  return `The clock of this machine is ${count(Math.abs(minutes), 'minute')} ${relation} the service's. Ages are counted by the service's.`;
}

/** Of the bundles that were found and are still there: those not needed, oldest first, and the others. */
export async function stillPrunable(found: readonly BundleItem[], open: OpenBackend, rules: PruneRules) {
  const {prune, bundles} = await findPrunable(open, rules);
  const stay = bundles.filter((bundle) => !prune.includes(bundle) && bundle.status !== 'deleting');
  const among = (items: readonly BundleItem[]) => {
    const ids = new Set(items.map(({bundleId}) => bundleId));
    return found.map(({bundleId}) => bundleId).filter((id) => ids.has(id));
  };
  return {prune: among(prune).toReversed(), needed: among(stay)};
}

export function planPrune(
  bundles: readonly BundleItem[],
  histories: readonly TargetHistory[],
  {keep = defaultKeep, olderThanMs, match}: PruneRules,
  now: Date,
): readonly BundleItem[] {
  const needed = new Set(histories.flatMap((history) => neededBy(history, keep)));
  const matches = messagePattern(match);
  const newestFirst = bundles.toSorted((a, b) => timeOf(b) - timeOf(a)).filter(({message}) => matches(message));
  const usable = newestFirst.filter(({status}) => status === 'ready' || status === 'unknown');
  const newest = new Set(usable.slice(0, keep));
  return newestFirst.filter((bundle) => {
    const {bundleId, status, inUseBy = []} = bundle;
    const isOld = olderThanMs === undefined || now.getTime() - timeOf(bundle) >= olderThanMs;
    const isSettled = status !== 'preparing' && status !== 'deleting';
    return isOld && isSettled && inUseBy.length === 0 && !newest.has(bundle) && !needed.has(bundleId);
  });
}

/** A bundle of unknown age counts as new. */
function timeOf(bundle: BundleItem): number {
  return createdTime(bundle) || Infinity;
}

/** The bundles that a target runs, is getting, and could be rolled back to: a rollback skips those rolled back from. */
function neededBy({targetSlug, deployments}: TargetHistory, keep: number): readonly BundleId[] {
  const finished: BundleId[] = [];
  const others: BundleId[] = [];
  for (const {status, bundleId} of deployments) {
    if (status === 'failed') continue;
    const isNeeded = isUnderWay(status) || status === 'unknown' || finished.length === 0;
    if (bundleId === undefined && isNeeded) throw unknownBundle(targetSlug);
    if (bundleId === undefined) continue;
    // One of unknown status may be the one that runs.
    if (status === 'finished') finished.push(bundleId);
    else others.push(bundleId);
  }
  const ran = [...new Set(finished)];
  const candidates = ran.slice(1).filter((bundleId) => !wasRolledBack(bundleId, finished));
  return [...ran.slice(0, keep + 1), ...candidates.slice(0, keep), ...others];
}

function unknownBundle(targetSlug: string): Error {
  return createError('ERR_REJECTED', `The server does not report which bundle the target "${targetSlug}" runs.`, {
    suggestions: [['Delete bundles by their IDs instead: ', {run: ['bundle:delete', 'ID']}]],
    details: {targetSlug},
  });
}

function messagePattern(match: string | undefined): (message?: string) => boolean {
  if (match === undefined) return () => true;
  const texts = match
    .split('*')
    .map((text) => text.replaceAll(/[\\^$.+()[\]{}|]/g, String.raw`\$&`).replaceAll('?', '.'));
  const [first = '', ...others] = texts;
  const last = others.pop();
  // Each text is looked for once, after the one before: somebody else's message could be long.
  const between = others.map((text, index) => `(?=(.*?${text}))\\${String(index + 1)}`).join('');
  const pattern = new RegExp(`^${first}${between}${last === undefined ? '' : `.*${last}`}$`, 'su');
  return (message = '') => pattern.test(message);
}
