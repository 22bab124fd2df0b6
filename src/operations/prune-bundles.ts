import type {BundleId, BundleItem, DeploymentItem} from '../backends/contract.js';
import type {RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {createError} from '../errors/index.js';
import {count} from '../errors/sentence.js';
import {deleteBundlesFrom, type DeleteBundlesResult} from './delete-bundles.js';
import {refuseUnsafe} from './guard/safety.js';
import {collectPages, createdTime, listPage, readHistory} from './list.js';
import {chooseBackend, openBackend, verifySlugs, type OpenBackend} from './open-backend.js';
import type {CommonOptions, ConnectionOptions} from './options.js';
import {resolveBackend, resolveStep, watched, type Host} from './steps.js';
import {listTargets} from './targets.js';

/** Which bundles `pruneBundles` removes: those to which all of this applies. */
export interface PruneRules {
  /**
   * How many bundles to keep: this many of the newest that match, and for each target this many that it ran before and
   * could be rolled back to. At least 1. @default 10
   */
  readonly keep?: number | undefined;
  /** Only bundles created at least this long ago, in milliseconds. @default any age */
  readonly olderThanMs?: number | undefined;
  /** Only bundles whose whole message matches: `*` stands for any text, `?` for one character. @default any message */
  readonly match?: string | undefined;
}

/** Options of `pruneBundles`. */
export interface PruneBundlesOptions extends CommonOptions, ConnectionOptions, PruneRules {
  readonly preference: RuntimeBackendPreference;
  readonly projectSlug: string;
  /** Whether to delete nothing, and only find what would be deleted. @default false */
  readonly dryRun?: boolean | undefined;
  /** Called with what is to be deleted. If it rejects, nothing is deleted. */
  readonly confirm?: ((backend: RuntimeBackend, bundles: readonly BundleItem[]) => Promise<void>) | undefined;
}

/** What `pruneBundles` resolves to. */
export interface PruneBundlesResult extends DeleteBundlesResult {
  readonly dryRun: boolean;
  /** What was found to delete, newest first. */
  readonly found: readonly BundleItem[];
  /** How many other bundles the project has. */
  readonly kept: number;
}

/** The deployments to a target, newest first. */
export interface TargetHistory {
  readonly targetSlug: string;
  readonly deployments: readonly DeploymentItem[];
}

const defaultKeep = 10;

/**
 * Deletes bundles that are no longer needed. It never deletes a bundle that a target runs, that is being deployed, that
 * a target could be rolled back to (as far as `keep` goes), or that is still being uploaded. Everything is checked
 * again right before the deletion.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend cannot list the targets and their deployments;
 * `ERR_REJECTED` if the server does not report what a target runs; as `deleteBundles`. `signal.reason` when aborted.
 */
export async function pruneBundles(options: PruneBundlesOptions, host: Host): Promise<PruneBundlesResult> {
  const {projectSlug, dryRun = false} = options;
  verifyRules(options);
  refuseUnsafe({operation: 'delete'}, host);
  const steps = [resolveStep, {name: 'find', title: `Find the bundles of ${projectSlug} to prune`}] as const;
  const {backend, found, kept} = await host.runSteps(steps, async (step) => {
    options.signal?.throwIfAborted();
    verifySlugs(options);
    const needed = ['delete', 'list', 'targets', 'history'] as const;
    const choose = async () => chooseBackend(options.preference, options, needed, host);
    const chosen = await step('resolve', (view) => resolveBackend(view, choose));
    return step('find', async (view) => {
      const open = await openBackend(chosen.backend, 'deploy', watched(options, view), host);
      const {prune, bundles} = await findPrunable(open, options, host);
      view.done(`Found ${String(prune.length)} of ${count(bundles, 'bundle')} to prune`);
      return {backend: chosen.backend, found: prune, kept: bundles - prune.length};
    });
  });
  const result = {backend, projectSlug, dryRun, found, kept, deleted: []};
  if (found.length === 0) return result;
  if (dryRun) {
    const bundleIds = found.map(({bundleId}) => bundleId);
    await host.writes?.before({operation: 'delete', backend, projectSlug, bundleIds}, {dryRun});
    return result;
  }
  await options.confirm?.(backend, found);
  const title = `Delete ${count(found.length, 'bundle')}`;
  return host.runSteps([{name: 'delete', title}], (step) =>
    step('delete', async (view) => {
      const watching = watched(options, view);
      const ids = await stillPrunable(found, await openBackend(backend, 'deploy', watching, host), options, host);
      const spared = found.filter(({bundleId}) => !ids.includes(bundleId));
      for (const {bundleId} of spared) view.warn(`Bundle ${String(bundleId)} is needed again, so it was not deleted.`);
      if (ids.length === 0) return result;
      const {deleted} = await deleteBundlesFrom(backend, ids, watching, host, view);
      view.done(`Deleted ${count(deleted.length, 'bundle')}`);
      return {...result, deleted};
    }),
  );
}

function verifyRules({keep = defaultKeep, olderThanMs = 0}: PruneRules): void {
  if (!Number.isInteger(keep) || keep < 1) {
    throw createError('ERR_OPTION_INVALID', `keep must be an integer of at least 1, not ${String(keep)}.`);
  }
  if (!(olderThanMs >= 0)) {
    throw createError('ERR_OPTION_INVALID', `olderThanMs must be at least 0, not ${String(olderThanMs)}.`);
  }
}

/** Reads what a project has and runs. The histories are last: a deployment that starts meanwhile is seen. */
async function findPrunable(
  open: OpenBackend,
  rules: PruneRules,
  host: Host,
): Promise<{readonly prune: readonly BundleItem[]; readonly bundles: number}> {
  const all = {limit: Infinity, offset: 0};
  const {items: bundles} = await collectPages(all, (range) => listPage(open, range));
  const histories: TargetHistory[] = [];
  for (const {targetSlug} of await listTargets(open)) {
    const items = await readHistory(open, targetSlug, Infinity);
    histories.push({targetSlug, deployments: items});
  }
  return {prune: planPrune(bundles, histories, rules, host.now()), bundles: bundles.length};
}

/** Of the bundles that were found, those that are still not needed, oldest first. */
async function stillPrunable(
  found: readonly BundleItem[],
  open: OpenBackend,
  rules: PruneRules,
  host: Host,
): Promise<readonly BundleId[]> {
  const {prune} = await findPrunable(open, rules, host);
  const ids = new Set(prune.map(({bundleId}) => bundleId));
  return found
    .map(({bundleId}) => bundleId)
    .filter((id) => ids.has(id))
    .toReversed();
}

/**
 * Chooses the bundles to delete, newest first.
 * @throws RuntimeCliError `ERR_REJECTED` if a target runs or gets a bundle that the server does not name.
 */
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

/** The bundles that a target runs, is getting, and could be rolled back to. */
function neededBy({targetSlug, deployments}: TargetHistory, keep: number): readonly BundleId[] {
  const finished = new Set<BundleId>();
  const others: BundleId[] = [];
  for (const {status, bundleId} of deployments) {
    if (status === 'failed') continue;
    const isUnderway = status === 'queued' || status === 'in_progress';
    if (bundleId === undefined && (isUnderway || finished.size === 0)) throw unknownBundle(targetSlug);
    if (bundleId === undefined) continue;
    // One of unknown status may be the one that runs.
    if (status !== 'finished') others.push(bundleId);
    else if (finished.size <= keep) finished.add(bundleId);
  }
  return [...finished, ...others];
}

function unknownBundle(targetSlug: string): Error {
  return createError('ERR_REJECTED', `The server does not report which bundle the target "${targetSlug}" runs.`, {
    suggestions: ['Delete bundles by their IDs instead: mycli bundle:delete ID'],
    details: {targetSlug},
  });
}

function messagePattern(match: string | undefined): (message?: string) => boolean {
  if (match === undefined) return () => true;
  const parts = match.split(/([*?])/).map((part) => (part === '*' ? '.*' : part === '?' ? '.' : escaped(part)));
  const pattern = new RegExp(`^${parts.join('')}$`, 'su');
  return (message = '') => pattern.test(message);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
