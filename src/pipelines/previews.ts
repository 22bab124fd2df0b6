import type {
  DeletePreviewOptions,
  DeletedPreview,
  DeployPreviewOptions,
  DeployedPreview,
  DoomedPreview,
  ListPreviewsResult,
  PreviewItem,
  PrunePreviewsOptions,
  PrunePreviewsResult,
} from '../operations/targets/options.js';
import type {BundleId, TargetItem} from '../backends/contract.js';
import {createError, isRuntimeCliError} from '../errors/index.js';
import {deleteBundlesFrom, deleteEach, describeDeletion} from '../operations/delete-bundles.js';
import {quickLook} from '../operations/call-backend.js';
import {activeGuards, guardTarget} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions} from '../operations/options.js';
import {
  bundlesOnlyOn,
  findPreview,
  isOfOther,
  updateOf,
  sendsAccessHeader,
  withAccessHeader,
  previewSlugs,
  listPreviewItems,
  previewBranches,
  previewName,
  readUses,
  type Uses,
} from '../operations/targets/previews.js';
import type {PushRequest} from '../operations/push/request.js';
import {accessOf} from '../operations/targets/compare-target.js';
import {keepsHost} from '../operations/targets/copy-target.js';
import {deleteTargetFrom, findDoomed, refuseProduction} from '../operations/targets/delete-target.js';
import {explainEmpty, warnOfNear, watchTargets} from '../operations/targets/find-targets.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import {known, type Change, type Ledger} from './ledger.js';
import {previewPush, pushResult, pushRuntimeBundle} from './push.js';
import {changeFound, withBackend} from './steps.js';
import {createTarget} from './targets.js';

async function look(open: OpenBackend, branch: string, copyFrom?: string) {
  const {slug, item} = await findPreview(open, branch, copyFrom);
  open.host.outlet.title(item === undefined ? `No preview of ${branch}` : `Preview ${slug} of ${branch}`);
  return {open, slug, item};
}

/**
 * Whether a preview is still as its service made it, because the run that made it ended before it had set what belongs
 * to it. Warns of an access header: whoever has lost its value needs a new one.
 */
async function isUnfinished(
  open: OpenBackend,
  {targetSlug, state, production}: TargetItem,
  {copyFrom, configuration = {}, check}: DeployPreviewOptions,
): Promise<boolean> {
  if (state === 'creating') return false;
  const {plugin, readTarget, updateTarget, listAccess} = open.backend;
  const {settings = {}, access} = configuration;
  if (readTarget !== undefined && updateTarget !== undefined) {
    if (production === true && settings['production'] !== true) return true;
    // Built-in backends copy no host name.
    const mayKeepHost = plugin !== undefined && copyFrom !== undefined && settings['externalHost'] === undefined;
    if (mayKeepHost && (await keepsHost(open, copyFrom, targetSlug))) return true;
  }
  if (access !== true || sendsAccessHeader(check) || listAccess === undefined) return false;
  const headers = await quickLook(open, (once) => accessOf(once, targetSlug));
  if (headers === undefined || headers.length === 0) return headers !== undefined;
  const advice = 'If you lost its value, create a new one with target:apply --rotate.';
  open.host.outlet.warn(`${targetSlug} has an access header, shown when it was created. ${advice}`);
  return false;
}

/** What a preview of a branch takes: a push, and a target if there is none. */
async function plan(given: DeployPreviewOptions, host: PipelineHost) {
  const {branch, copyFrom, configuration, onAccess, optionsOf, ...options} = given;
  const {open, slug, item, unfinished} = await withBackend(options, host, {
    needs: ['targets', 'create-target'],
    name: 'find',
    title: `Find the preview of ${branch}`,
    async run(backend, outlet) {
      const found = await look(backend, branch, copyFrom);
      const unfinished = found.item !== undefined && (await isUnfinished(backend, found.item, given));
      if (found.item !== undefined && !unfinished && copyFrom !== undefined)
        outlet.title(`Preview ${found.slug} of ${branch}, which is there: nothing is copied from ${copyFrom}`);
      return {...found, unfinished};
    },
  });
  // The target is on this backend only.
  const reached = {...options, preference: open.project.backend, targetSlug: slug};
  const [, preview] = previewSlugs(branch);
  const pushTo = async (targetSlug: string) => {
    const own = {...reached, ...(await optionsOf?.(targetSlug)), targetSlug, confirmNew: undefined};
    return {...own, wait: true, waitForSlot: true, create: true, ifChanged: own.pushRecords !== undefined, preview};
  };
  // What a new target is like is set once it is ready. Otherwise, the push waits for it.
  const wait = unfinished || copyFrom !== undefined || Object.keys(configuration ?? {}).length > 0;
  const push = await pushTo(slug);
  // All others are about what is pushed.
  const guard = {confirm: push.guard?.confirm};
  return {
    unfinished,
    isAwaited: wait && item?.state === 'creating',
    pushTo,
    push,
    missing:
      item === undefined || item.state === 'creating' || unfinished
        ? {...reached, guard, name: previewName(branch), copyFrom, configuration, onAccess, ifMissing: true, wait}
        : undefined,
    host: {...host, continues: true},
  };
}

export async function deployPreview(options: DeployPreviewOptions, caller: PipelineHost): Promise<Ledger<PushRequest>> {
  const {branch} = options;
  const {push, pushTo, missing, unfinished, isAwaited, host} = await plan(options, caller);
  let warnings: readonly string[] = [];
  // What a copy runs is confirmed before it is made.
  let isConfirmed = false;
  let target: Pick<DeployedPreview, 'targetSlug' | 'created' | 'access'> = {
    targetSlug: push.targetSlug,
    created: false,
  };
  if (missing !== undefined) {
    // Nothing is made for a build that cannot be pushed. The push shows these steps.
    await previewPush({...push, ifChanged: false}, {...host, terminal: undefined});
    const asked = push.confirmTarget;
    const confirmTarget: typeof asked = asked && ((about) => asked(about).finally(() => (isConfirmed = true)));
    const item = await createTarget({...missing, confirmTarget}, host, unfinished);
    const {targetSlug} = item;
    if (isOfOther(item, branch) && previewSlugs(branch)[1] === targetSlug)
      throw createError('ERR_REJECTED', `Target ${targetSlug} is the preview of a branch other than ${branch}.`);
    // Meanwhile, another branch with the same slug has got it, or the run that made this one has ended.
    if (isOfOther(item, branch) || isAwaited) return deployPreview(options, caller);
    warnings = item.warnings;
    isConfirmed &&= item.created;
    target = {targetSlug: item.targetSlug, created: item.created, ...(item.access && {access: item.access})};
  }
  const pushing = await pushTo(target.targetSlug);
  const check = withAccessHeader(pushing.check, target.access);
  const ledger = await pushRuntimeBundle({...pushing, check}, host, {target, isConfirmed});
  ledger.warnings.unshift(...warnings.filter((warning) => !ledger.warnings.includes(warning)));
  return ledger;
}

export function deployedPreview(ledger: Ledger<PushRequest>, branch: string): DeployedPreview {
  const {targetSlug, created = false, access} = known(ledger, 'target').target;
  return {...pushResult(ledger), targetSlug, created, ...(access && {access}), branch};
}

export async function planPreview(options: DeployPreviewOptions, caller: PipelineHost) {
  const {push, missing, unfinished, host} = await plan(options, caller);
  const planned = await previewPush(push, host);
  const made = missing && !unfinished ? await createTarget({...missing, dryRun: true}, host) : undefined;
  const warnings = [...new Set([...planned.warnings, ...(made?.warnings ?? [])])];
  return {...planned, warnings, targetSlug: push.targetSlug, creates: missing !== undefined && !unfinished};
}

export async function deletePreview(
  {branch, confirm, ...options}: DeletePreviewOptions,
  host: PipelineHost,
): Promise<DeletedPreview> {
  const {dryRun = false} = options;
  const {open, found, result, warnings} = await changeFound(options, host, {
    needs: ['targets', 'delete-target'],
    find: {
      name: 'find',
      title: `Check the preview of ${branch}`,
      async run(backend): Promise<DoomedPreview | undefined> {
        const {item} = await look(backend, branch);
        if (item === undefined) warnOfNear(backend, branch, await previewBranches(backend));
        const target = item && (await findDoomed(backend, await deletionOf(item, options)));
        return target && {...item, ...target, bundles: bundlesOnlyOn(await readUses(backend), {...target, branch})};
      },
    },
    async confirm(backend, doomed, running) {
      await guardTarget('delete-target', await deletionOf(doomed, options), running);
      if (!dryRun) await confirm?.(backend.project.backend, doomed);
      return true;
    },
    change: {
      name: 'delete',
      title: ({targetSlug}) => `Delete ${targetSlug}`,
      async run(ledger, doomed, outlet) {
        const removed = await remove(ledger.open, doomed, options);
        outlet.title(describeRemoved(doomed.targetSlug, removed, options));
        return removed;
      },
    },
  });
  const {deleted = false, bundles = []} = result ?? {};
  const target = found && {targetSlug: found.targetSlug, running: found.running};
  return {...open.project, branch, ...target, dryRun, deleted, bundles, warnings};
}

type DeletionOptions = Omit<DeletePreviewOptions, 'branch' | 'confirm'>;

/** The options that delete a preview. A branch may have any name, so a slug like `production` is fine. */
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

async function remove(
  open: OpenBackend,
  {bundles: theirs, ...doomed}: DoomedPreview,
  options: DeletionOptions,
): Promise<Removed> {
  const deleted = await deleteTargetFrom(open, doomed, {...options, ifExists: true});
  if (theirs.length === 0 || options.dryRun) return {deleted: deleted && options.dryRun !== true, bundles: theirs};
  // While a target is being deleted, the service may refuse to delete its bundles.
  await watchTargets(open, (targets = []) =>
    targets.some(({targetSlug}) => targetSlug === doomed.targetSlug) ? undefined : true,
  );
  return {deleted, bundles: await deleteTheirs(open, theirs)};
}

/** The preview is gone, so a bundle that is left is only a warning. */
async function deleteTheirs(open: OpenBackend, ids: readonly BundleId[]): Promise<readonly BundleId[]> {
  const {outlet} = open.host;
  try {
    const deletion = await deleteBundlesFrom(open, ids, () => undefined, true);
    open.signal.throwIfAborted();
    const {failed, notTried, deleted} = deletion;
    const left = [...failed.map(({id}) => id), ...notTried];
    const run = ['bundle:delete', ...left, ...open.flags()];
    if (left.length > 0) outlet.warn(describeDeletion(deletion).message, [['To delete what is left, run: ', {run}]]);
    return deleted;
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    outlet.warn(error.message);
    return [];
  }
}

export async function listPreviews(options: ProjectOptions, host: PipelineHost): Promise<ListPreviewsResult> {
  return withBackend(options, host, {
    needs: ['targets'],
    name: 'list',
    title: `List the previews of ${options.projectSlug}`,
    async run(open, outlet) {
      const previews = await listPreviewItems(open);
      if (previews.length === 0) await explainEmpty(open, 'previews');
      outlet.title(`Found ${count(previews.length, 'preview')} of ${open.projectSlug}`);
      return {...open.project, previews};
    },
  });
}

export async function prunePreviews(
  {olderThanMs, confirm, ...options}: PrunePreviewsOptions,
  host: PipelineHost,
): Promise<PrunePreviewsResult> {
  const {projectSlug, dryRun = false} = options;
  refuseUnsafe({operation: 'delete-target'}, host);
  const {open, found, result, warnings} = await changeFound(options, host, {
    needs: ['targets', 'delete-target'],
    find: {
      name: 'find',
      title: `Find the previews of ${projectSlug} to prune`,
      async run(backend, outlet) {
        const previews = await listPreviewItems(backend);
        if (previews.length === 0) await explainEmpty(backend, 'previews');
        const old = previews.filter(({updatedAt}) => isOlder(backend, updatedAt, olderThanMs));
        for (const item of old) {
          const rules = await deletionOf(item, options);
          refuseProduction(rules, host);
          await guardTarget('delete-target', {...rules, dryRun: true}, host);
        }
        outlet.title(`Found ${String(old.length)} of ${count(previews.length, 'preview')} to prune`);
        if (old.length === 0) return [];
        const uses = await readUses(backend);
        return old.map((item) => ({...item, bundles: bundlesOnlyOn(uses, item)}));
      },
    },
    async confirm(backend, items, running) {
      if (dryRun) for (const item of items) await deleteTargetFrom(backend, item, options);
      if (items.length === 0 || dryRun) return false;
      await confirm?.(backend.project.backend, items);
      for (const [index, item] of items.entries()) {
        const deletion = await deletionOf(item, options);
        // The question does not say of which target it is.
        if (items.length > 1 && activeGuards(deletion).includes('confirm'))
          host.terminal?.info(`Preview ${String(index + 1)} of ${String(items.length)}: ${item.targetSlug}`);
        await guardTarget('delete-target', deletion, running);
      }
      return true;
    },
    change: {
      name: 'delete',
      title: (items) => `Delete ${count(items.length, 'preview')}`,
      async run(ledger, items, outlet) {
        const uses = await readUses(ledger.open);
        const deletion = await deleteEach('targetSlug', items, async (item) => {
          // Hooks are told of each by itself.
          const end = (ended: Change['ended']) => {
            const change = ledger.changes.at(-1);
            if (change !== undefined) change.ended ??= ended;
          };
          const deleting = removeOld(ledger.open, item, {...options, olderThanMs}, uses);
          const removed = await deleting.catch((error: unknown) => {
            end({error});
            throw error;
          });
          end({});
          if (removed?.deleted !== true) return false;
          outlet.note(describeRemoved(item.targetSlug, removed, options));
          return true;
        });
        ledger.deletion = deletion;
        const [first] = deletion.failed;
        if (first !== undefined) throw first.error;
        outlet.title(`Deleted ${count(deletion.deleted.length, 'preview')}`);
        return deletion.deleted;
      },
    },
  });
  return {...open.project, dryRun, found, deleted: result ?? [], warnings};
}

/** Deletes a preview, unless it is gone, or something was deployed to it meanwhile. */
async function removeOld(
  open: OpenBackend,
  item: PreviewItem & DoomedPreview,
  {olderThanMs, ...options}: Omit<PrunePreviewsOptions, 'confirm'>,
  uses: Uses,
): Promise<Removed | undefined> {
  const updatedAt = await updateOf(open, item);
  const target = await findDoomed(open, await deletionOf(item, options));
  // Somebody else has deleted it, perhaps before its deployments were read.
  if (target === undefined) return undefined;
  if (updatedAt !== item.updatedAt && !isOlder(open, updatedAt, olderThanMs)) {
    open.host.outlet.warn(`Kept ${item.targetSlug}: something was deployed to it meanwhile.`);
    return undefined;
  }
  const bundles = bundlesOnlyOn(uses, item).filter((id) => item.bundles.includes(id));
  return remove(open, {...target, bundles}, options);
}

/** Whether a time is so long ago, by the clock of the service. One that is not known isn't. */
function isOlder({host, clockAheadMs}: OpenBackend, time: string | undefined, ageMs: number): boolean {
  return Date.parse(time ?? '') <= host.now().getTime() + clockAheadMs() - ageMs;
}
