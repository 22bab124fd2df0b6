import type {BundleDeletion} from './bundle-options.js';
import type {BundleId, BundleItem} from '../backends/contract.js';
import {isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {callBackSafely} from './host.js';
import {explainMissing} from './explain-missing.js';
import {allowChange, invoke, isSettled, quickLook} from './call-backend.js';
import {previousDeployment} from './deploy/rollback-bundle.js';
import {readBundles, readHistory, resolveBundleId, verifyId} from './list-bundles.js';
import {sideBySide} from './side-by-side.js';
import {readTargets} from './targets/find-targets.js';
import type {OpenBackend} from './open-backend.js';

export async function resolveIds(open: OpenBackend, bundleIds: readonly BundleId[]): Promise<readonly BundleId[]> {
  const advice = (slug = 'SLUG') => [['To delete a target, run: ', {run: ['target:delete', slug]}]];
  for (const id of bundleIds) verifyId(open.backend, id, advice);
  return [...new Set(await sideBySide(bundleIds, (id) => resolveBundleId(open, id)))];
}

/** Which of these bundles the project has: a quick look. Undefined if nobody knows. */
export async function listedAmong(
  open: OpenBackend,
  ids: readonly BundleId[],
): Promise<readonly BundleItem[] | undefined> {
  const all = open.backend.listBundles && (await quickLook(open, (once) => readBundles(once)));
  return all?.items.filter(({bundleId}) => ids.map(String).includes(String(bundleId)));
}

/** What a deletion takes from targets, in sentences: that their next rollback goes back to a bundle. A quick look. */
export async function takenFromRollbacks(open: OpenBackend, ids: readonly BundleId[]): Promise<readonly string[]> {
  const {listTargets: lists, listDeployments} = open.backend;
  if (lists === undefined || listDeployments === undefined) return [];
  const taken = await quickLook(open, async (once) => {
    const sentences = await sideBySide(await readTargets(once), async ({targetSlug}) => {
      const {previous} = previousDeployment(await readHistory(once, targetSlug), []);
      if (previous === undefined || !ids.includes(previous.bundleId)) return [];
      return [`The next rollback of ${targetSlug} would go back to bundle ${String(previous.bundleId)}.`];
    });
    return sentences.flat();
  });
  return taken ?? [];
}

export interface DeletionOutcome {
  readonly deleted: readonly BundleId[];
  readonly failed: readonly {readonly bundleId: BundleId; readonly error: RuntimeCliError}[];
  readonly notTried: readonly BundleId[];
}

/**
 * Deletes bundles with the chosen backend, one after the other. It goes on if the server refuses one, but stops at a
 * failure that the others would share (credentials, network, rate limit).
 * @param mayBeGone whether to skip bundles that someone else has deleted meanwhile
 */
export async function deleteBundlesFrom(
  open: OpenBackend,
  ids: readonly BundleId[],
  onDeletion: (deletion: BundleDeletion) => void,
  mayBeGone: boolean,
): Promise<DeletionOutcome> {
  await allowChange(open, {operation: 'delete', bundleIds: ids});
  const deleted: BundleId[] = [];
  const failed: {readonly bundleId: BundleId; readonly error: RuntimeCliError}[] = [];
  let tried = 0;
  for (const bundleId of ids) {
    tried += 1;
    try {
      await invoke(open, 'deleteBundle', {bundleId}).catch(explainMissing(open, {bundleId}));
      deleted.push(bundleId);
      callBackSafely(() => onDeletion({bundleId}));
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      if (mayBeGone && error.code === 'ERR_BUNDLE_UNKNOWN') continue;
      failed.push({bundleId, error});
      callBackSafely(() => onDeletion({bundleId, error}));
      if (error.code !== 'ERR_REJECTED' && error.code !== 'ERR_BUNDLE_UNKNOWN') break;
    }
  }
  return {deleted, failed, notTried: ids.slice(tried)};
}

export function describeDeletion({deleted, failed, notTried}: DeletionOutcome) {
  const outcome = [
    ...(deleted.length === 0 ? [] : [`Deleted: ${deleted.join(', ')}.`]),
    ...failed.map(({bundleId, error}) => describeFailure(bundleId, error)),
    ...(notTried.length === 0 ? [] : [`Not tried: ${notTried.join(', ')}.`]),
  ];
  const failures = failed.map(({bundleId, error: {code, message}}) => ({bundleId, code, message}));
  return {message: outcome.join(' '), details: {deleted, failed: failures, notTried}};
}

/** A request without an answer that settles it may have been carried out. */
function describeFailure(bundleId: BundleId, error: RuntimeCliError): string {
  const maybe = !isSettled(error);
  return `Bundle ${String(bundleId)} ${maybe ? 'may have been' : 'was not'} deleted: ${error.message}`;
}
