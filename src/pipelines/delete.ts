import type {BundleId} from '../backends/contract.js';
import {count} from '../text/sentence.js';
import {
  chooseDeleteBackend,
  deleteBundlesFrom,
  resolveIds,
  takenFromRollbacks,
  type BundleDeletion,
  type DeleteBundlesOptions,
  type DeleteBundlesResult,
} from '../operations/delete-bundles.js';
import {chooseCapable, type ChosenBackend} from '../operations/choose-backend.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {callBackSafely} from '../operations/host.js';
import type {DataOf} from '../operations/outlet.js';
import {
  findPrunable,
  stillPrunable,
  verifyRules,
  type PruneBundlesOptions,
  type PruneBundlesResult,
} from '../operations/prune-bundles.js';
import {resolveStep} from './steps.js';
import type {RunHost} from '../operations/host.js';
import type {PipelineHost} from './host.js';
import {Pipeline, type Step} from './run.js';

export async function deleteBundles(
  options: DataOf<DeleteBundlesOptions>,
  host: PipelineHost,
): Promise<DeleteBundlesResult> {
  refuseUnsafe({operation: 'delete'}, host);
  const {confirm, onDeletion, projectSlug} = options;
  const resolved = Pipeline.start(host).step(
    resolveStep(async (host) => {
      const chosen = await chooseDeleteBackend(options, host);
      const ids = await resolveIds(chosen.open, options.bundleIds);
      for (const warning of await takenFromRollbacks(chosen.open, ids)) host.outlet.warn(warning);
      return {...chosen, ids};
    }),
  );
  const {ids, ...chosen} = await resolved.run();
  const backend = chosen.open.backendName;
  await confirm?.(backend, ids);
  const deleting = deleteStep(ids.length, () => Promise.resolve(ids), onDeletion);
  const deleted = await resolved.after(chosen).step(deleting).run();
  return {backend, projectSlug, deleted};
}

/** The step that deletes bundles. It notes each deleted one: of a single one, its outcome says it all. */
function deleteStep(
  length: number,
  idsOf: (chosen: ChosenBackend, host: RunHost) => Promise<readonly BundleId[]>,
  onDeletion: DeleteBundlesOptions['onDeletion'],
): Step<ChosenBackend, readonly BundleId[]> {
  return {
    name: 'delete',
    title: `Delete ${count(length, 'bundle')}`,
    async task(chosen, host) {
      const ids = await idsOf(chosen, host);
      if (ids.length === 0) return [];
      const tell = (deletion: BundleDeletion) => {
        // The final error says what failed.
        if (deletion.error === undefined && ids.length > 1)
          host.outlet.note(`Deleted bundle ${String(deletion.bundleId)}`);
        callBackSafely(() => onDeletion?.(deletion));
      };
      const deleted = await deleteBundlesFrom(chosen.open, ids, tell, host);
      host.outlet.title(`Deleted ${count(deleted.length, 'bundle')}`);
      return deleted;
    },
  };
}

export async function pruneBundles(
  options: DataOf<PruneBundlesOptions>,
  host: PipelineHost,
): Promise<PruneBundlesResult> {
  const {projectSlug, dryRun = false, confirm} = options;
  verifyRules(options);
  refuseUnsafe({operation: 'delete'}, host);
  const searching = Pipeline.start(host)
    .step(resolveStep((host) => chooseCapable(options, ['delete', 'list', 'targets', 'history'], host)))
    .step({
      name: 'find',
      title: `Find the bundles of ${projectSlug} to prune`,
      async task(chosen, host) {
        const {prune, bundles, warning} = await findPrunable(chosen.open, options, host);
        if (warning !== undefined) host.outlet.warn(warning);
        host.outlet.title(`Found ${String(prune.length)} of ${count(bundles, 'bundle')} to prune`);
        return {chosen, found: prune, kept: bundles - prune.length};
      },
    });
  const {chosen, found, kept} = await searching.run();
  const backend = chosen.open.backendName;
  const result = {backend, projectSlug, dryRun, found, kept, deleted: []};
  if (found.length === 0) return result;
  if (dryRun) {
    const bundleIds = found.map(({bundleId}) => bundleId);
    await host.writes?.before({operation: 'delete', backend, projectSlug, bundleIds}, {dryRun});
    return result;
  }
  await confirm?.(backend, found);
  const stillFound = async ({open}: ChosenBackend, host: RunHost) => {
    const ids = await stillPrunable(found, open, options, host);
    for (const {bundleId} of found)
      if (!ids.includes(bundleId))
        host.outlet.warn(`Bundle ${String(bundleId)} is needed again, so it was not deleted.`);
    return ids;
  };
  const deleting = deleteStep(found.length, stillFound, undefined);
  return {...result, deleted: await searching.after(chosen).step(deleting).run()};
}
