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
import {callBackSafely, type Outlet} from '../operations/host.js';
import {
  findPrunable,
  stillPrunable,
  verifyRules,
  type PruneBundlesOptions,
  type PruneBundlesResult,
} from '../operations/prune-bundles.js';
import type {PipelineHost} from './host.js';
import {known, type Facts, type Ledger} from './ledger.js';
import {run, type Question, type Step} from './run.js';
import {choose, type BackendRequest} from './steps.js';

/** Deletes bundles and notes each deleted one: of a single one, its outcome says it all. */
async function deleteAll(
  ledger: Ledger,
  ids: readonly BundleId[],
  {onDeletion, mayBeGone}: Pick<DeleteBundlesOptions, 'onDeletion'> & {readonly mayBeGone: boolean},
  outlet: Outlet,
): Promise<Facts> {
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
  return {deletion};
}

interface DeleteRequest {
  readonly options: DeleteBundlesOptions;
}

const resolve: Step<DeleteRequest> = {
  name: 'resolve',
  title: 'Prepare',
  async run({request: {options}}, host) {
    const {open} = await chooseDeleteBackend(options, host);
    const doomed = await resolveIds(open, options.bundleIds);
    for (const warning of await takenFromRollbacks(open, doomed)) host.outlet.warn(warning);
    return {open, doomed};
  },
};

const confirmDeletion: Question<DeleteRequest> = {
  due: ({request}) => request.options.confirm !== undefined,
  async ask(ledger) {
    const {open, doomed, request} = known(ledger, 'open', 'doomed');
    await request.options.confirm?.(open.project.backend, doomed, await listedAmong(open, doomed));
  },
};

const deleteThem: Step<DeleteRequest> = {
  name: 'delete',
  title: ({request, doomed = request.options.bundleIds}) => `Delete ${count(doomed.length, 'bundle')}`,
  async run(ledger, {outlet}) {
    const {doomed, request} = known(ledger, 'doomed');
    return deleteAll(ledger, doomed, {onDeletion: request.options.onDeletion, mayBeGone: false}, outlet);
  },
};

export async function deleteBundles(options: DeleteBundlesOptions, host: PipelineHost): Promise<DeleteBundlesResult> {
  refuseUnsafe({operation: 'delete'}, host);
  const ledger = await run([resolve, confirmDeletion, deleteThem], {options}, host);
  const {open, deletion} = known(ledger, 'open', 'deletion');
  return {...open.project, deleted: deletion.deleted};
}

interface PruneRequest extends BackendRequest {
  readonly options: PruneBundlesOptions;
}

const findUnneeded: Step<PruneRequest> = {
  name: 'find',
  title: ({request}) => `Find the bundles of ${request.options.projectSlug} to prune`,
  async run(ledger, {outlet}) {
    const {open, request} = known(ledger, 'open');
    const {prune, bundles, warning} = await findPrunable(open, request.options);
    if (warning !== undefined) outlet.warn(warning);
    outlet.title(`Found ${String(prune.length)} of ${count(bundles.length, 'bundle')} to prune`);
    return {prunable: {found: prune, kept: bundles.length - prune.length}};
  },
};

const confirmPruning: Question<PruneRequest> = {
  async ask(ledger) {
    const {open, request, prunable} = known(ledger, 'open', 'prunable');
    const {found} = prunable;
    const {dryRun = false, confirm} = request.options;
    if (found.length === 0) return;
    const bundleIds = found.map(({bundleId}) => bundleId);
    if (dryRun) await allowChange(open, {operation: 'delete', bundleIds, dryRun});
    else await confirm?.(open.project.backend, found);
  },
};

const deleteUnneeded: Step<PruneRequest> = {
  name: 'delete',
  title: ({prunable}) => `Delete ${count(prunable?.found.length ?? 0, 'bundle')}`,
  due: ({prunable, request}) => prunable !== undefined && prunable.found.length > 0 && request.options.dryRun !== true,
  async run(ledger, {outlet}) {
    const {open, request, prunable} = known(ledger, 'open', 'prunable');
    const {prune, needed} = await stillPrunable(prunable.found, open, request.options);
    const deleted = prune.length > 0 ? await deleteAll(ledger, prune, {mayBeGone: true}, outlet) : {};
    const kept = [...needed, ...(deleted.deletion?.deleted ?? [])];
    const gone = prunable.found.map(({bundleId}) => bundleId).filter((id) => !kept.includes(id));
    if (needed.length > 0) outlet.warn(`Needed again, so not deleted: ${needed.join(', ')}.`);
    if (gone.length > 0) outlet.warn(`Already deleted by someone else: ${gone.join(', ')}.`);
    return deleted;
  },
};

export async function pruneBundles(options: PruneBundlesOptions, host: PipelineHost): Promise<PruneBundlesResult> {
  verifyRules(options);
  refuseUnsafe({operation: 'delete'}, host);
  const request = {connection: options, needs: ['delete', 'list', 'targets', 'history'] as const, options};
  const ledger = await run([choose, findUnneeded, confirmPruning, deleteUnneeded], request, host);
  const {open, prunable, deletion} = known(ledger, 'open', 'prunable');
  return {...open.project, dryRun: options.dryRun === true, ...prunable, deleted: deletion?.deleted ?? []};
}
