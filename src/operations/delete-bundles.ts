import type {BundleDeletion} from './bundle-options.js';
import type {BundleId, BundleItem} from '../backends/contract.js';
import {catalogue, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {callBackSafely} from './host.js';
import {explainMissing} from './explain-missing.js';
import {allowChange, invoke, isSettled, quickLook} from './call-backend.js';
import {previousDeployment} from './deploy/rollback-bundle.js';
import {readBundles, readHistory, resolveBundleId, targetIn, verifyId} from './list-bundles.js';
import {sideBySide} from './side-by-side.js';
import {asSentence} from '../text/sentence.js';
import {readTargets} from './targets/find-targets.js';
import type {OpenBackend} from './open-backend.js';

export async function resolveIds(open: OpenBackend, bundleIds: readonly BundleId[]): Promise<readonly BundleId[]> {
  const advice = (typed = 'SLUG') => [
    ['To delete a target, run: ', {run: ['target:delete', targetIn(typed) ?? typed]}],
  ];
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

type IdName = 'bundleId' | 'targetSlug';

/** What became of bundles, or of the targets of previews, that were to be deleted. */
export interface DeletionOutcome<Id extends BundleId = BundleId> {
  readonly idName: IdName;
  readonly deleted: readonly Id[];
  readonly failed: readonly {readonly id: Id; readonly error: RuntimeCliError}[];
  readonly notTried: readonly Id[];
}

/**
 * Deletes one after the other. Goes on if the server refuses one, but stops at a failure that the others would share.
 * @param remove resolves to false if someone else has deleted it, or it is to stay
 */
export async function deleteEach<Name extends IdName, Item extends Readonly<Record<Name, BundleId>>>(
  idName: Name,
  items: readonly Item[],
  remove: (item: Item) => Promise<boolean>,
): Promise<DeletionOutcome<Item[Name]>> {
  const deleted: Item[Name][] = [];
  const failed: {readonly id: Item[Name]; readonly error: RuntimeCliError}[] = [];
  for (const [index, item] of items.entries()) {
    const id = item[idName];
    try {
      if (await remove(item)) deleted.push(id);
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      failed.push({id, error});
      if (isShared(error))
        return {idName, deleted, failed, notTried: items.slice(index + 1).map((other) => other[idName])};
    }
  }
  return {idName, deleted, failed, notTried: []};
}

/** Whether the same would happen to the others. A 403 may be about one alone. */
function isShared({code}: RuntimeCliError): boolean {
  const {kind} = catalogue[code];
  if (kind === 'credentials') return code !== 'ERR_FORBIDDEN';
  return ['network', 'rate-limit', 'outcome-unknown', 'interrupted'].includes(kind) || code === 'ERR_MAINTENANCE';
}

/**
 * Deletes bundles with the chosen backend.
 * @param mayBeGone whether to skip bundles that someone else has deleted meanwhile
 */
export async function deleteBundlesFrom(
  open: OpenBackend,
  ids: readonly BundleId[],
  onDeletion: (deletion: BundleDeletion) => void,
  mayBeGone: boolean,
): Promise<DeletionOutcome> {
  await allowChange(open, {operation: 'delete', bundleIds: ids});
  const bundles = ids.map((bundleId) => ({bundleId}));
  return deleteEach('bundleId', bundles, async ({bundleId}) => {
    try {
      await invoke(open, 'deleteBundle', {bundleId}).catch(explainMissing(open, {bundleId}));
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      if (mayBeGone && error.code === 'ERR_BUNDLE_UNKNOWN') return false;
      callBackSafely(() => onDeletion({bundleId, error}));
      throw error;
    }
    callBackSafely(() => onDeletion({bundleId}));
    return true;
  });
}

export function describeDeletion({idName, deleted, failed, notTried}: DeletionOutcome) {
  const outcome = [
    ...(deleted.length === 0 ? [] : [`Deleted: ${deleted.join(', ')}.`]),
    ...failed.map(({id, error}) => {
      const what = idName === 'bundleId' ? `Bundle ${String(id)}` : String(id);
      // A request without an answer that settles it may have been carried out. Reading deletes nothing.
      const maybe = !isSettled(error) && error.method !== 'GET';
      return asSentence(`${what} ${maybe ? 'may have been' : 'was not'} deleted: ${error.message}`);
    }),
    ...(notTried.length === 0 ? [] : [`Not tried: ${notTried.join(', ')}.`]),
  ];
  const failures = failed.map(({id, error: {code, message}}) => ({[idName]: id, code, message}));
  return {message: outcome.join(' '), details: {deleted, failed: failures, notTried}};
}
