import type {BundleId, BundleItem} from '../backends/contract.js';
import {count} from '../errors/sentence.js';
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
import {made, runPipeline} from './run.js';

/** What the steps of a deletion have found out and made so far. */
interface DeleteRun extends ResolvedRun {
  ids?: readonly BundleId[];
  result?: DeleteBundlesResult;
}

/**
 * Deletes bundles, one after the other. It goes on if the server refuses one, but stops at a failure that the others
 * would share (credentials, network, rate limit).
 * @throws RuntimeCliError the first failure, if any bundle was not deleted. Its `details` list which were `deleted`,
 * which `failed` and which were `notTried`. An abort counts as such a failure if `signal.reason` is a RuntimeCliError;
 * any other reason is thrown unchanged.
 */
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
  await runPipeline(run, [
    {
      name: 'delete',
      title: `Delete ${count(ids.length, 'bundle')}`,
      task: async (_, report) => {
        run.result = await deleteBundlesFrom(backend, ids, noted(options, ids, report), host);
        report.title = `Deleted ${count(run.result.deleted.length, 'bundle')}`;
      },
    },
  ]);
  return made(run, 'result');
}

/** The options of a deletion for a step, which notes each deleted bundle: of a single one, its outcome says it all. */
function noted<Options extends Omit<DeleteBundlesOptions, 'bundleIds' | 'confirm'>>(
  options: Options,
  ids: readonly BundleId[],
  report: StepReport,
): Options {
  return {
    ...report.watch(options),
    onDeletion: (deletion: BundleDeletion) => {
      // The final error says what failed.
      if (deletion.error === undefined && ids.length > 1) report.note(`Deleted bundle ${String(deletion.bundleId)}`);
      callBackSafely(() => options.onDeletion?.(deletion));
    },
  };
}

/** What the steps of a cleanup have found out and made so far. */
interface PruneRun extends ResolvedRun {
  found?: readonly BundleItem[];
  result?: PruneBundlesResult;
}

/**
 * Deletes bundles that are no longer needed. It never deletes a bundle that a target runs, that is being deployed, that
 * a target could be rolled back to (as far as `keep` goes), or that is still being uploaded. Everything is checked
 * again right before the deletion.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend cannot list the targets and their deployments;
 * `ERR_REJECTED` if the server does not report what a target runs; as `deleteBundles`. `signal.reason` when aborted.
 */
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
        const {backend} = made(run, 'selection');
        const open = await openBackend(backend, report.watch(options), host);
        const {prune: found, bundles} = await findPrunable(open, options, host);
        run.result = {backend, projectSlug, dryRun, found, kept: bundles - found.length, deleted: []};
        report.title = `Found ${String(found.length)} of ${count(bundles, 'bundle')} to prune`;
      },
    },
  ]);
  const result = made(run, 'result');
  const {backend, found} = result;
  if (found.length === 0) return result;
  if (dryRun) {
    const bundleIds = found.map(({bundleId}) => bundleId);
    await host.writes?.before({operation: 'delete', backend, projectSlug, bundleIds}, {dryRun});
    return result;
  }
  await options.confirm?.(backend, found);
  await runPipeline(run, [
    {
      name: 'delete',
      title: `Delete ${count(found.length, 'bundle')}`,
      task: async (_, report) => {
        const watched = report.watch(options);
        const ids = await stillPrunable(found, await openBackend(backend, watched, host), options, host);
        const spared = found.filter(({bundleId}) => !ids.includes(bundleId));
        report.warn(spared.map(({bundleId}) => `Bundle ${String(bundleId)} is needed again, so it was not deleted.`));
        if (ids.length === 0) return;
        const {confirm, ...rest} = options;
        const {deleted} = await deleteBundlesFrom(backend, ids, noted(rest, ids, report), host);
        run.result = {...result, deleted};
        report.title = `Deleted ${count(deleted.length, 'bundle')}`;
      },
    },
  ]);
  return made(run, 'result');
}
