import type {BundleId} from '../backends/contract.js';
import {count} from '../text/sentence.js';
import {
  chooseDeleteBackend,
  deleteBundlesFrom,
  listedAmong,
  resolveIds,
  takenFromRollbacks,
  type BundleDeletion,
  type DeleteBundlesOptions,
  type DeleteBundlesResult,
} from '../operations/delete-bundles.js';
import {allowChange} from '../operations/call-backend.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBackSafely} from '../operations/host.js';
import type {OpenBackend} from '../operations/open-backend.js';
import {
  findPrunable,
  stillPrunable,
  verifyRules,
  type PruneBundlesOptions,
  type PruneBundlesResult,
} from '../operations/prune-bundles.js';
import {chooseFor} from './steps.js';
import type {PipelineHost} from './host.js';
import {Pipeline} from './run.js';

export async function deleteBundles(options: DeleteBundlesOptions, host: PipelineHost): Promise<DeleteBundlesResult> {
  refuseUnsafe({operation: 'delete'}, host);
  const {confirm, onDeletion} = options;
  const resolved = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => {
    const {open} = await chooseDeleteBackend(options, run);
    const ids = await resolveIds(open, options.bundleIds);
    for (const warning of await takenFromRollbacks(open, ids)) run.outlet.warn(warning);
    return {open, ids, listed: confirm ? await listedAmong(open, ids) : []};
  });
  const {open, ids, listed} = await resolved.run();
  await confirm?.(open.project.backend, ids, listed);
  const deleting = withDeleteStep(resolved.after(open), ids.length, () => Promise.resolve(ids), {onDeletion});
  return {...open.project, deleted: await deleting.run()};
}

/** Adds the step that deletes bundles. It notes each deleted one: of a single one, its outcome says it all. */
function withDeleteStep(
  opened: Pipeline<OpenBackend>,
  length: number,
  idsOf: () => Promise<readonly BundleId[]>,
  {onDeletion, mayBeGone = false}: Pick<DeleteBundlesOptions, 'onDeletion'> & {readonly mayBeGone?: boolean} = {},
): Pipeline<readonly BundleId[]> {
  return opened.change('delete', `Delete ${count(length, 'bundle')}`, async (open, {outlet}) => {
    const ids = await idsOf();
    if (ids.length === 0) return [];
    const tell = (deletion: BundleDeletion) => {
      // The final error says what failed.
      if (deletion.error === undefined && ids.length > 1) outlet.note(`Deleted bundle ${String(deletion.bundleId)}`);
      callBackSafely(() => onDeletion?.(deletion));
    };
    const deleted = await deleteBundlesFrom(open, ids, tell, mayBeGone);
    outlet.title(`Deleted ${count(deleted.length, 'bundle')}`);
    return deleted;
  });
}

export async function pruneBundles(options: PruneBundlesOptions, host: PipelineHost): Promise<PruneBundlesResult> {
  const {projectSlug, dryRun = false, confirm} = options;
  verifyRules(options);
  refuseUnsafe({operation: 'delete'}, host);
  const searching = chooseFor(options, ['delete', 'list', 'targets', 'history'], host).step(
    'find',
    `Find the bundles of ${projectSlug} to prune`,
    async ({open}, {outlet}) => {
      const {prune, bundles, warning} = await findPrunable(open, options);
      if (warning !== undefined) outlet.warn(warning);
      outlet.title(`Found ${String(prune.length)} of ${count(bundles.length, 'bundle')} to prune`);
      return {open, found: prune, kept: bundles.length - prune.length};
    },
  );
  const {open, found, kept} = await searching.run();
  const result = {...open.project, dryRun, found, kept, deleted: []};
  if (found.length === 0) return result;
  if (dryRun) {
    const bundleIds = found.map(({bundleId}) => bundleId);
    await allowChange(open, {operation: 'delete', bundleIds, dryRun});
    return result;
  }
  await confirm?.(open.project.backend, found);
  let needed: readonly BundleId[] = [];
  const stillFound = async () => {
    const still = await stillPrunable(found, open, options);
    needed = still.needed;
    return still.prune;
  };
  const deleted = await withDeleteStep(searching.after(open), found.length, stillFound, {mayBeGone: true}).run();
  const gone = found.map(({bundleId}) => bundleId).filter((id) => ![...needed, ...deleted].includes(id));
  const {outlet} = open.host;
  if (needed.length > 0) outlet.warn(`Needed again, so not deleted: ${needed.join(', ')}.`);
  if (gone.length > 0) outlet.warn(`Already deleted by someone else: ${gone.join(', ')}.`);
  return {...result, deleted};
}
