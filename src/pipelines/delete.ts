import type {
  BundleDeletion,
  DeleteBundlesOptions,
  DeleteBundlesResult,
  PruneBundlesOptions,
  PruneBundlesResult,
} from '../operations/bundle-options.js';
import type {BundleId} from '../backends/contract.js';
import {count} from '../text/sentence.js';
import {deleteBundlesFrom, listedAmong, resolveIds, takenFromRollbacks} from '../operations/delete-bundles.js';
import {namingCapabilities} from '../operations/list-bundles.js';
import {allowChange} from '../operations/call-backend.js';
import {unknownBundles} from '../operations/explain-missing.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBackSafely, type Outlet} from '../operations/host.js';
import {explainEmpty} from '../operations/targets/find-targets.js';
import {clockWarning, findPrunable, stillPrunable} from '../operations/prune-bundles.js';
import type {PipelineHost} from './host.js';
import {known, type Ledger} from './ledger.js';
import {changeFound} from './steps.js';

/** Deletes bundles and notes each deleted one: of a single one, its outcome says it all. */
async function deleteAll(
  ledger: Ledger,
  ids: readonly BundleId[],
  {onDeletion, mayBeGone}: Pick<DeleteBundlesOptions, 'onDeletion'> & {readonly mayBeGone: boolean},
  outlet: Outlet,
): Promise<readonly BundleId[]> {
  const {open} = known(ledger, 'open');
  const tell = (deletion: BundleDeletion) => {
    // The final error says what failed.
    if (deletion.error === undefined && ids.length > 1) outlet.note(`Deleted bundle ${String(deletion.bundleId)}`);
    callBackSafely(() => onDeletion?.(deletion));
  };
  const deletion = await deleteBundlesFrom(open, ids, tell, mayBeGone);
  ledger.deletion = deletion;
  const [first] = deletion.failed;
  if (first !== undefined) throw first.error;
  outlet.title(`Deleted ${count(deletion.deleted.length, 'bundle')}`);
  return deletion.deleted;
}

export async function deleteBundles(options: DeleteBundlesOptions, host: PipelineHost): Promise<DeleteBundlesResult> {
  const {bundleIds, confirm, onDeletion} = options;
  refuseUnsafe({operation: 'delete'}, host);
  const {open, result = []} = await changeFound(options, host, {
    needs: ['delete', ...bundleIds.flatMap(namingCapabilities)],
    find: {
      name: 'find',
      title: `Look for ${count(bundleIds.length, 'bundle')}`,
      async run(backend, outlet) {
        const doomed = await resolveIds(backend, bundleIds);
        for (const warning of await takenFromRollbacks(backend, doomed)) outlet.warn(warning);
        outlet.title(`Looked for ${count(doomed.length, 'bundle')}`);
        return doomed;
      },
    },
    async confirm(backend, doomed) {
      if (confirm === undefined) return true;
      const listed = await listedAmong(backend, doomed);
      const unknown = doomed.filter((id) => listed?.every((item) => String(item.bundleId) !== String(id)));
      if (unknown.length === doomed.length) throw unknownBundles(backend, unknown);
      for (const id of unknown) backend.host.outlet.warn(unknownBundles(backend, [id]).message);
      await confirm(backend.project.backend, doomed, listed ?? []);
      return true;
    },
    change: {
      name: 'delete',
      title: (doomed) => `Delete ${count(doomed.length, 'bundle')}`,
      run: (ledger, doomed, outlet) => deleteAll(ledger, doomed, {onDeletion, mayBeGone: false}, outlet),
    },
  });
  return {...open.project, deleted: result};
}

export async function pruneBundles(options: PruneBundlesOptions, host: PipelineHost): Promise<PruneBundlesResult> {
  const {projectSlug, dryRun = false, confirm} = options;
  refuseUnsafe({operation: 'delete'}, host);
  const {open, found, result} = await changeFound(options, host, {
    needs: ['delete', 'list', 'targets', 'history'],
    find: {
      name: 'find',
      title: `Find the bundles of ${projectSlug} to prune`,
      async run(backend, outlet) {
        const {prune, bundles} = await findPrunable(backend, options);
        if (bundles.length === 0) await explainEmpty(backend, 'bundles');
        const clock = options.olderThanMs === undefined ? undefined : clockWarning(backend);
        if (clock !== undefined) outlet.warn(clock);
        outlet.title(`Found ${String(prune.length)} of ${count(bundles.length, 'bundle')} to prune`);
        return {found: prune, kept: bundles.length - prune.length};
      },
    },
    async confirm(backend, {found: items}) {
      if (items.length === 0) return false;
      const bundleIds = items.map(({bundleId}) => bundleId);
      if (dryRun) await allowChange(backend, {operation: 'delete', bundleIds, dryRun});
      else await confirm?.(backend.project.backend, items);
      return !dryRun;
    },
    change: {
      name: 'delete',
      title: ({found: items}) => `Delete ${count(items.length, 'bundle')}`,
      async run(ledger, {found: items}, outlet) {
        const {prune, needed} = await stillPrunable(items, ledger.open, options);
        const deleted = prune.length > 0 ? await deleteAll(ledger, prune, {mayBeGone: true}, outlet) : [];
        const gone = items.map(({bundleId}) => bundleId).filter((id) => ![...needed, ...deleted].includes(id));
        if (needed.length > 0) outlet.warn(`Needed again, so not deleted: ${needed.join(', ')}.`);
        if (gone.length > 0) outlet.warn(`Already deleted by someone else: ${gone.join(', ')}.`);
        return deleted;
      },
    },
  });
  return {...open.project, dryRun, ...found, deleted: result ?? []};
}
