import type {BundleId, BundleItem} from '../backends/contract.js';
import {count} from '../text/sentence.js';
import {
  chooseDeleteBackend,
  deleteBundlesFrom,
  resolveIds,
  type BundleDeletion,
  type DeleteBundlesOptions,
  type DeleteBundlesResult,
} from '../operations/delete-bundles.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBackSafely} from '../operations/host.js';
import {openBackend} from '../operations/open-backend.js';
import {chooseCapable} from '../operations/choose-backend.js';
import {
  findPrunable,
  stillPrunable,
  verifyRules,
  type PruneBundlesOptions,
  type PruneBundlesResult,
} from '../operations/prune-bundles.js';
import type {StepReport} from './report.js';
import {resolveStep, type ResolvedRun} from './steps.js';
import type {PipelineHost} from './host.js';
import {made, runPipeline, type Step} from './run.js';

interface DeleteRun extends ResolvedRun {
  ids?: readonly BundleId[];
  deleted?: readonly BundleId[];
}

export async function deleteBundles(options: DeleteBundlesOptions, host: PipelineHost): Promise<DeleteBundlesResult> {
  refuseUnsafe({operation: 'delete'}, host);
  const run: DeleteRun = {host};
  const resolve = resolveStep(() => chooseDeleteBackend(options, host));
  await runPipeline<DeleteRun>(run, [
    {
      ...resolve,
      task: async (_, report) => {
        await resolve.task(run, report);
        run.ids = await resolveIds(made(run, 'selection'), report.watch(options), host);
      },
    },
  ]);
  const [{backend}, ids] = [made(run, 'selection'), made(run, 'ids')];
  await options.confirm?.(backend, ids);
  const {confirm, ...rest} = options;
  await runPipeline(run, [deleteStep(ids.length, rest, () => Promise.resolve(ids))]);
  return {backend, projectSlug: options.projectSlug, deleted: made(run, 'deleted')};
}

type DeletingOptions = Omit<DeleteBundlesOptions, 'bundleIds' | 'confirm'>;

/** The step that deletes bundles. It notes each deleted one: of a single one, its outcome says it all. */
function deleteStep(
  length: number,
  options: DeletingOptions,
  idsOf: (report: StepReport) => Promise<readonly BundleId[]>,
): Step<DeleteRun> {
  return {
    name: 'delete',
    title: `Delete ${count(length, 'bundle')}`,
    task: async (run, report) => {
      const ids = await idsOf(report);
      const onDeletion = (deletion: BundleDeletion) => {
        // The final error says what failed.
        if (deletion.error === undefined && ids.length > 1) report.note(`Deleted bundle ${String(deletion.bundleId)}`);
        callBackSafely(() => options.onDeletion?.(deletion));
      };
      run.deleted = [];
      if (ids.length === 0) return;
      const watched = {...report.watch(options), onDeletion};
      const {deleted} = await deleteBundlesFrom(made(run, 'selection').backend, ids, watched, run.host);
      run.deleted = deleted;
      report.title = `Deleted ${count(deleted.length, 'bundle')}`;
    },
  };
}

interface PruneRun extends DeleteRun {
  found?: readonly BundleItem[];
  kept?: number;
}

export async function pruneBundles(options: PruneBundlesOptions, host: PipelineHost): Promise<PruneBundlesResult> {
  const {projectSlug, dryRun = false} = options;
  verifyRules(options);
  refuseUnsafe({operation: 'delete'}, host);
  const run: PruneRun = {host};
  await runPipeline<PruneRun>(run, [
    resolveStep(() => chooseCapable(options, ['delete', 'list', 'targets', 'history'], host)),
    {
      name: 'find',
      title: `Find the bundles of ${projectSlug} to prune`,
      task: async (_, report) => {
        const open = await openBackend(made(run, 'selection').backend, report.watch(options), host);
        const {prune, bundles} = await findPrunable(open, options, host);
        run.found = prune;
        run.kept = bundles - prune.length;
        report.title = `Found ${String(prune.length)} of ${count(bundles, 'bundle')} to prune`;
      },
    },
  ]);
  const {backend} = made(run, 'selection');
  const found = made(run, 'found');
  const result = {backend, projectSlug, dryRun, found, kept: made(run, 'kept'), deleted: []};
  if (found.length === 0) return result;
  if (dryRun) {
    const bundleIds = found.map(({bundleId}) => bundleId);
    await host.writes?.before({operation: 'delete', backend, projectSlug, bundleIds}, {dryRun});
    return result;
  }
  const {confirm, ...rest} = options;
  await confirm?.(backend, found);
  const stillFound = async (report: StepReport) => {
    const open = await openBackend(backend, report.watch(rest), host);
    const ids = await stillPrunable(found, open, options, host);
    const spared = found.filter(({bundleId}) => !ids.includes(bundleId));
    report.warn(spared.map(({bundleId}) => `Bundle ${String(bundleId)} is needed again, so it was not deleted.`));
    return ids;
  };
  await runPipeline<PruneRun>(run, [deleteStep(found.length, rest, stillFound)]);
  return {...result, deleted: made(run, 'deleted')};
}
