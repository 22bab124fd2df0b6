import type {Outlet} from '../operations/host.js';
import type {BackendCapability, BundleId, TargetItem} from '../backends/contract.js';
import {createError} from '../errors/index.js';
import {deleteBundlesFrom, describeDeletion} from '../operations/delete-bundles.js';
import {pollUntil} from '../operations/deploy/poll.js';
import {guardTarget} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions, ProjectResult} from '../operations/options.js';
import {
  bundlesOnlyOn,
  findPreview,
  isOfOther,
  updateOf,
  previewSlugs,
  listPreviewItems,
  previewName,
  type DeletedPreview,
  type DeletePreviewOptions,
  type DoomedPreview,
  type DeployedPreview,
  type DeployPreviewOptions,
  type PreviewItem,
  type PrunePreviewsOptions,
} from '../operations/targets/previews.js';
import {accessHeader} from '../operations/targets/apply-target.js';
import type {PushPreview} from '../operations/push/plan-push.js';
import type {PushRequest} from '../operations/push/request.js';
import {deleteTargetFrom, findDoomed, refuseProduction} from '../operations/targets/delete-target.js';
import {readTargets} from '../operations/targets/find-targets.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import {known, type Ledger} from './ledger.js';
import {previewPush, pushResult, pushRuntimeBundle} from './push.js';
import {run, type Question, type Step} from './run.js';
import {choose, withBackend, type BackendRequest} from './steps.js';
import {createTarget} from './targets.js';

/** Finds the target of a branch with a backend that has `capabilities`, too. */
function find(
  {branch, copyFrom, ...options}: ProjectOptions & Pick<DeployPreviewOptions, 'branch' | 'copyFrom'>,
  capabilities: readonly BackendCapability[],
  host: PipelineHost,
) {
  return withBackend(options, host, {
    needs: ['targets', ...capabilities],
    name: 'find',
    title: `Find the preview of ${branch}`,
    async run(open, outlet) {
      const {slug, item} = await findPreview(open, branch, copyFrom);
      outlet.title(`${item === undefined ? 'No preview' : `Preview ${slug}`} of ${branch}`);
      return {open, slug, item};
    },
  });
}

/** What a preview of a branch takes: a push, and a target if there is none. */
async function plan(
  {branch, copyFrom, configuration, optionsOf, ...options}: DeployPreviewOptions,
  host: PipelineHost,
) {
  const {open, slug, item} = await find({...options, branch, copyFrom}, ['create-target'], host);
  // The target is on this backend only.
  const reached = {...options, preference: open.project.backend, targetSlug: slug};
  const [, preview] = previewSlugs(branch);
  const pushTo = async (targetSlug: string) => {
    const own = {...reached, ...(await optionsOf?.(targetSlug)), targetSlug};
    return {...own, wait: true, waitForSlot: true, ifChanged: true, preview};
  };
  return {
    pushTo,
    push: await pushTo(slug),
    missing:
      item === undefined || item.state === 'creating'
        ? {...reached, name: previewName(branch), copyFrom, configuration, ifMissing: true}
        : undefined,
    // Its settings have been shown.
    host: {...host, settings: []},
  };
}

/** Makes the target of a branch if it is missing, pushes to it and waits. */
export async function deployPreview(options: DeployPreviewOptions, caller: PipelineHost): Promise<Ledger<PushRequest>> {
  const {branch} = options;
  const {push, pushTo, missing, host} = await plan(options, caller);
  let target: Pick<DeployedPreview, 'targetSlug' | 'created' | 'access'> = {
    targetSlug: push.targetSlug,
    created: false,
  };
  if (missing !== undefined) {
    // Nothing is made for a build that cannot be pushed.
    await previewPush({...push, ifChanged: false}, host);
    const item = await createTarget(missing, host);
    const {targetSlug} = item;
    if (isOfOther(item, branch) && previewSlugs(branch)[1] === targetSlug)
      throw createError('ERR_REJECTED', `Target ${targetSlug} is the preview of another branch than ${branch}.`);
    // Meanwhile, another branch with the same slug has got it.
    if (isOfOther(item, branch)) return deployPreview(options, caller);
    target = {targetSlug: item.targetSlug, created: item.created, ...(item.access && {access: item.access})};
  }
  const pushing = await pushTo(target.targetSlug);
  const ledger = await pushRuntimeBundle({...pushing, check: opened(pushing.check, target.access)}, host);
  ledger.target = target;
  return ledger;
}

/** What `deployPreview` resolves to. */
export function deployedPreview(ledger: Ledger<PushRequest>, branch: string): DeployedPreview {
  const {targetSlug, created = false, access} = known(ledger, 'target').target;
  return {...pushResult(ledger), targetSlug, created, ...(access && {access}), branch};
}

/** Checks that send the access header of a target. */
function opened(checks: DeployPreviewOptions['check'], access: string | undefined): DeployPreviewOptions['check'] {
  if (access === undefined || checks === undefined) return checks;
  return [checks].flat().map((one) => ({...one, headers: {[accessHeader]: access, ...one.headers}}));
}

/** What `deployPreview` would do. */
interface PlannedPreview extends PushPreview {
  readonly targetSlug: string;
  /** Whether the target would be created. */
  readonly creates: boolean;
}

export async function planPreview(options: DeployPreviewOptions, caller: PipelineHost): Promise<PlannedPreview> {
  const {push, missing, host} = await plan(options, caller);
  const planned = await previewPush(push, host);
  if (missing !== undefined) await createTarget({...missing, dryRun: true}, host);
  return {...planned, targetSlug: push.targetSlug, creates: missing !== undefined};
}

interface DeletionRequest extends BackendRequest {
  readonly options: DeletePreviewOptions;
}

const findDoomedPreview: Step<DeletionRequest> = {
  name: 'find',
  title: ({request}) => `Find the preview of ${request.options.branch}`,
  async run(ledger, {outlet}) {
    const {open, request} = known(ledger, 'open');
    const {branch} = request.options;
    const {slug, item} = await findPreview(open, branch, undefined);
    outlet.title(`${item === undefined ? 'No preview' : `Preview ${slug}`} of ${branch}`);
    return item === undefined ? {} : {target: item, doomed: await bundlesOnlyOn(open, slug)};
  },
};

const confirmDeletion: Question<DeletionRequest> = {
  async ask(ledger, host) {
    const {open, request, target: item, doomed: bundles = []} = known(ledger, 'open');
    if (item === undefined) return;
    const {confirm, dryRun = false} = request.options;
    const deletion = await deletionOf(item, request.options);
    const target = await findDoomed(open, deletion);
    if (target === undefined) return;
    await guardTarget('delete-target', deletion, host);
    if (!dryRun) await confirm?.(open.project.backend, {...item, bundles, ...target});
    ledger.target = target;
  },
};

const deleteIt: Step<DeletionRequest> = {
  name: 'delete',
  title: ({target}) => `Delete ${String(target?.targetSlug)}`,
  due: ({target}) => target !== undefined,
  async run(ledger, {outlet}) {
    const {open, request, target, doomed} = known(ledger, 'open', 'target', 'doomed');
    const removed = await remove(open, {...target, bundles: doomed}, request.options, outlet);
    outlet.title(describeRemoved(target.targetSlug, removed, request.options));
    return {result: removed};
  },
};

/** Deletes the target of a branch, and the bundles that were uploaded for it. */
export async function deletePreview(options: DeletePreviewOptions, host: PipelineHost): Promise<DeletedPreview> {
  const {branch, dryRun = false} = options;
  const request = {connection: options, needs: ['targets', 'delete-target'] as const, options};
  const ledger = await run([choose, findDoomedPreview, confirmDeletion, deleteIt], request, host);
  const {open, target, warnings, result} = known(ledger, 'open');
  const {deleted, bundles} = (result as Removed | undefined) ?? {deleted: false, bundles: []};
  const found = target && {targetSlug: target.targetSlug, running: target.running};
  return {...open.project, branch, ...found, dryRun, deleted, bundles, warnings};
}

type DeletionOptions = Omit<DeletePreviewOptions, 'branch' | 'confirm'>;

/** The options that delete a preview, with its guards. A branch may have any name, so a slug like `production` is fine. */
async function deletionOf({targetSlug, production}: TargetItem, {guardsOf, ...options}: DeletionOptions) {
  const own = {...options, ...(await guardsOf?.(targetSlug))};
  const isProduction = own.production === true || production === true;
  return {...own, targetSlug, production: isProduction, force: !isProduction, ifExists: true};
}

type Removed = Pick<DeletedPreview, 'deleted' | 'bundles'>;

/** `Deleted preview-a and 2 bundles` */
function describeRemoved(targetSlug: string, {deleted, bundles}: Removed, {dryRun = false}: DeletionOptions): string {
  if (dryRun) return `Would delete ${targetSlug}`;
  if (bundles.length === 0) return deleted ? `Deleted ${targetSlug}` : `${targetSlug} was already deleted`;
  return `Deleted ${deleted ? `${targetSlug} and ` : ''}${count(bundles.length, 'bundle')}`;
}

/** Deletes a target, unless someone else has, and its bundles. */
async function remove(
  open: OpenBackend,
  {bundles: theirs, ...doomed}: DoomedPreview,
  options: DeletionOptions,
  outlet: Outlet,
): Promise<Removed> {
  const deleted = await deleteTargetFrom(open, doomed, {...options, ifExists: true});
  if (theirs.length === 0 || options.dryRun) return {deleted: deleted && options.dryRun !== true, bundles: theirs};
  await waitUntilGone(open, doomed.targetSlug);
  return {deleted, bundles: await deleteTheirs(open, theirs, outlet)};
}

/** How often to look whether a target is gone, and for how long, in seconds. */
const goneDefaults = {pollInterval: 2, timeout: 60};

/** While a target is being deleted, the service may refuse to delete its bundles. */
async function waitUntilGone(open: OpenBackend, targetSlug: string): Promise<void> {
  await pollUntil(open, {
    defaults: goneDefaults,
    look: readTargets,
    judge: (targets) => (targets.some((item) => item.targetSlug === targetSlug) ? undefined : true),
    late: () => true,
  });
}

/** The preview is gone, so a bundle that is left is only a warning. */
async function deleteTheirs(open: OpenBackend, ids: readonly BundleId[], outlet: Outlet): Promise<readonly BundleId[]> {
  const deletion = await deleteBundlesFrom(open, ids, () => undefined, true);
  if (deletion.failed.length > 0) {
    open.signal.throwIfAborted();
    outlet.warn(describeDeletion(deletion).message);
  }
  return deletion.deleted;
}

/** What `listPreviews` resolves to. */
export interface ListPreviewsResult extends ProjectResult {
  /** In the order of the server's list. */
  readonly previews: readonly PreviewItem[];
}

export async function listPreviews(options: ProjectOptions, host: PipelineHost): Promise<ListPreviewsResult> {
  return withBackend(options, host, {
    needs: ['targets'],
    name: 'list',
    title: `List the previews of ${options.projectSlug}`,
    async run(open, outlet) {
      const previews = await listPreviewItems(open);
      outlet.title(`Found ${count(previews.length, 'preview')}`);
      return {...open.project, previews};
    },
  });
}

/** What `prunePreviews` resolves to. */
export interface PrunePreviewsResult extends ProjectResult {
  readonly dryRun: boolean;
  /** Those that were old enough. */
  readonly found: readonly PreviewItem[];
  /** The slugs of the deleted ones. Empty for a dry run. */
  readonly deleted: readonly string[];
  readonly warnings: readonly string[];
}

interface PruneRequest extends BackendRequest {
  readonly options: PrunePreviewsOptions;
}

const findOld: Step<PruneRequest> = {
  name: 'find',
  title: ({request}) => `Find the previews of ${request.options.projectSlug} to prune`,
  async run(ledger, host) {
    const {open, request} = known(ledger, 'open');
    const {olderThanMs, confirm: _, ...options} = request.options;
    const previews = await listPreviewItems(open);
    const old = previews.filter(({updatedAt}) => isOlder(open, updatedAt, olderThanMs));
    const found: (PreviewItem & DoomedPreview)[] = [];
    for (const item of old) {
      const {targetSlug, production, force, ...rules} = await deletionOf(item, options);
      refuseProduction(targetSlug, {production, force}, host);
      await guardTarget('delete-target', {...rules, targetSlug, production, dryRun: true}, host);
      found.push({...item, bundles: await bundlesOnlyOn(open, targetSlug)});
    }
    host.outlet.title(`Found ${String(found.length)} of ${count(previews.length, 'preview')} to prune`);
    return {oldPreviews: found};
  },
};

const confirmPruning: Question<PruneRequest> = {
  async ask(ledger, host) {
    const {open, request, oldPreviews: found} = known(ledger, 'open', 'oldPreviews');
    const {confirm, ...options} = request.options;
    if (found.length === 0 || options.dryRun) return;
    await confirm?.(open.project.backend, found);
    for (const item of found) await guardTarget('delete-target', await deletionOf(item, options), host);
  },
};

const deleteOld: Step<PruneRequest> = {
  name: 'delete',
  title: ({oldPreviews = []}) => `Delete ${count(oldPreviews.length, 'preview')}`,
  due: ({oldPreviews = [], request}) => oldPreviews.length > 0 && request.options.dryRun !== true,
  async run(ledger, {outlet}) {
    const {open, request, oldPreviews} = known(ledger, 'open', 'oldPreviews');
    const {olderThanMs, confirm: _, ...options} = request.options;
    const deleted: string[] = [];
    for (const item of oldPreviews) {
      const {targetSlug} = item;
      const updatedAt = await updateOf(open, item);
      // Somebody else has deleted it, perhaps before its deployments were read.
      if ((await readTargets(open)).every((one) => one.targetSlug !== targetSlug)) continue;
      if (updatedAt !== item.updatedAt && !isOlder(open, updatedAt, olderThanMs)) {
        outlet.warn(`Kept ${targetSlug}: something was deployed to it meanwhile.`);
        continue;
      }
      const bundles = (await bundlesOnlyOn(open, targetSlug)).filter((id) => item.bundles.includes(id));
      const doomed = await findDoomed(open, await deletionOf(item, options));
      const removed = await remove(open, {...item, ...doomed, bundles}, options, outlet);
      if (!removed.deleted) continue;
      deleted.push(targetSlug);
      outlet.note(describeRemoved(targetSlug, removed, options));
    }
    outlet.title(`Deleted ${count(deleted.length, 'preview')}`);
    return {result: deleted};
  },
};

export async function prunePreviews(options: PrunePreviewsOptions, host: PipelineHost): Promise<PrunePreviewsResult> {
  refuseUnsafe({operation: 'delete-target'}, host);
  const request = {connection: options, needs: ['targets', 'delete-target'] as const, options};
  const ledger = await run([choose, findOld, confirmPruning, deleteOld], request, host);
  const {open, oldPreviews: found, warnings, result} = known(ledger, 'open', 'oldPreviews');
  const deleted = (result as readonly string[] | undefined) ?? [];
  return {...open.project, dryRun: options.dryRun === true, found, deleted, warnings};
}

/** Whether a time is so long ago, by the clock of the service. One that is not known isn't. */
function isOlder({host, clockAheadMs}: OpenBackend, time: string | undefined, ageMs: number): boolean {
  return Date.parse(time ?? '') <= host.now().getTime() + clockAheadMs() - ageMs;
}
