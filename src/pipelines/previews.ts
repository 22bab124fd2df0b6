import type {Outlet} from '../operations/host.js';
import type {BackendCapability, BundleId, TargetItem} from '../backends/contract.js';
import {createError, isRuntimeCliError} from '../errors/index.js';
import {deleteBundlesFrom} from '../operations/delete-bundles.js';
import {startPoll} from '../operations/deploy/poll.js';
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
import {
  deleteTargetFrom,
  findDoomed,
  refuseProduction,
  type DeletedTarget,
  type DoomedTarget,
} from '../operations/targets/delete-target.js';
import {readTargets} from '../operations/targets/find-targets.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {previewPush, pushRuntimeBundle} from './push.js';
import type {Pipeline} from './run.js';
import {chooseFor} from './steps.js';
import {createTarget} from './targets.js';

/** Finds the target of a branch with a backend that has `capabilities`, too. */
function find(
  options: ProjectOptions & Pick<DeployPreviewOptions, 'branch' | 'copyFrom'>,
  capabilities: readonly BackendCapability[],
  host: PipelineHost,
) {
  const {branch, copyFrom} = options;
  return chooseFor(options, ['targets', ...capabilities], host).step(
    'find',
    `Find the preview of ${branch}`,
    async ({open}, {outlet}) => {
      const {slug, item} = await findPreview(open, branch, copyFrom);
      outlet.title(`${item === undefined ? 'No preview' : `Preview ${slug}`} of ${branch}`);
      return {open, slug, item};
    },
  );
}

/** What a preview of a branch takes: a push, and a target if there is none. */
async function plan(
  {branch, copyFrom, configuration, optionsOf, ...options}: DeployPreviewOptions,
  host: PipelineHost,
) {
  const {open, slug, item} = await find({...options, branch, copyFrom}, ['create-target'], host).run();
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
export async function deployPreview(
  options: DeployPreviewOptions,
  caller: PipelineHost,
): Promise<Served<DeployedPreview>> {
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
  const {open, result} = await pushRuntimeBundle({...pushing, check: opened(pushing.check, target.access)}, host);
  return {open, result: {...result, ...target, branch}};
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

/** How often to look whether a target is gone, and for how long, in seconds. */
const goneDefaults = {pollInterval: 2, timeout: 60};

/** Deletes the target of a branch, and the bundles that were uploaded for it. */
export async function deletePreview(
  {branch, confirm, ...options}: DeletePreviewOptions,
  host: PipelineHost,
): Promise<DeletedPreview> {
  const finding = find({...options, branch}, ['delete-target'], host);
  const {open, item} = await finding.run();
  const {dryRun = false} = options;
  const place = {...open.project, branch};
  if (item === undefined) return {...place, dryRun, deleted: false, bundles: [], warnings: []};
  const doomed = {...item, bundles: await bundlesOnlyOn(open, item.targetSlug)};
  const asking = confirm && ((target: DoomedTarget) => confirm(open.project.backend, {...doomed, ...target}));
  return {...(await remove(finding.after(item), open, doomed, options, host, asking)), ...place};
}

type DeletionOptions = Omit<DeletePreviewOptions, 'branch' | 'confirm'>;

/** The options that delete a preview, with its guards. A branch may have any name, so a slug like `production` is fine. */
async function deletionOf({targetSlug, production}: TargetItem, {guardsOf, ...options}: DeletionOptions) {
  const own = {...options, ...(await guardsOf?.(targetSlug))};
  const isProduction = own.production === true || production === true;
  return {...own, targetSlug, production: isProduction, force: !isProduction, ifExists: true};
}

/** Deletes a target and its bundles in one step, which is added to `finding`. */
async function remove(
  finding: Pipeline<unknown>,
  open: OpenBackend,
  {bundles: theirs, ...item}: PreviewItem & DoomedPreview,
  options: DeletionOptions,
  host: PipelineHost,
  confirm?: (target: DoomedTarget) => Promise<void>,
): Promise<DeletedTarget & Pick<DeletedPreview, 'bundles'>> {
  const {targetSlug} = item;
  const {dryRun = false} = options;
  const target = await deletionOf(item, options);
  const doomed = await findDoomed(open, target);
  if (doomed !== undefined) {
    await guardTarget('delete-target', target, host);
    if (!dryRun) await confirm?.(doomed);
  }
  const deleting = finding.change('delete', `Delete ${targetSlug}`, async (_, {outlet}) => {
    const deleted = doomed !== undefined && (await deleteTargetFrom(open, doomed, target));
    outlet.title(
      deleted ? `${dryRun ? 'Would delete' : 'Deleted'} ${targetSlug}` : `${targetSlug} was already deleted`,
    );
    if (theirs.length === 0 || dryRun) return {deleted: deleted && !dryRun, bundles: theirs};
    await waitUntilGone(open, targetSlug);
    host.writes?.conclude({});
    const bundles = await deleteTheirs(open, theirs, outlet);
    outlet.title(`Deleted ${deleted ? `${targetSlug} and ` : ''}${count(bundles.length, 'bundle')}`);
    return {deleted, bundles};
  });
  const outcome = await deleting.run();
  return {...open.project, targetSlug, running: doomed?.running, dryRun, ...outcome, warnings: deleting.warnings};
}

/** While a target is being deleted, the service may refuse to delete its bundles. */
async function waitUntilGone(open: OpenBackend, targetSlug: string): Promise<void> {
  const poll = startPoll(open, goneDefaults);
  while (!poll.isLate()) {
    if (!(await readTargets(open)).some((item) => item.targetSlug === targetSlug)) return;
    await poll.pause();
  }
}

/** The preview is gone, so a bundle that is left is only a warning. */
async function deleteTheirs(open: OpenBackend, ids: readonly BundleId[], outlet: Outlet): Promise<readonly BundleId[]> {
  const deleted: BundleId[] = [];
  const note = ({bundleId, error}: {readonly bundleId: BundleId; readonly error?: unknown}) => {
    if (error === undefined) deleted.push(bundleId);
  };
  try {
    await deleteBundlesFrom(open, ids, note, true);
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    outlet.warn(error.message);
  }
  return deleted;
}

/** What `listPreviews` resolves to. */
export interface ListPreviewsResult extends ProjectResult {
  /** In the order of the server's list. */
  readonly previews: readonly PreviewItem[];
}

export async function listPreviews(options: ProjectOptions, host: PipelineHost): Promise<ListPreviewsResult> {
  const {projectSlug} = options;
  return chooseFor(options, ['targets'], host)
    .step('list', `List the previews of ${projectSlug}`, async ({open}, {outlet}) => {
      const previews = await listPreviewItems(open);
      outlet.title(`Found ${count(previews.length, 'preview')}`);
      return {...open.project, previews};
    })
    .run();
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

export async function prunePreviews(
  {olderThanMs, dryRun = false, confirm, ...options}: PrunePreviewsOptions,
  host: PipelineHost,
): Promise<PrunePreviewsResult> {
  const {projectSlug} = options;
  refuseUnsafe({operation: 'delete-target'}, host);
  const finding = chooseFor(options, ['targets', 'delete-target'], host).step(
    'find',
    `Find the previews of ${projectSlug} to prune`,
    async ({open}, {outlet}) => {
      const previews = await listPreviewItems(open);
      const old = previews.filter(({updatedAt}) => isOlder(open, updatedAt, olderThanMs));
      const found: (PreviewItem & DoomedPreview)[] = [];
      for (const item of old) {
        const {targetSlug, production, force, ...rules} = await deletionOf(item, options);
        refuseProduction(targetSlug, {production, force}, host);
        await guardTarget('delete-target', {...rules, targetSlug, production, dryRun: true}, host);
        found.push({...item, bundles: await bundlesOnlyOn(open, targetSlug)});
      }
      outlet.title(`Found ${String(found.length)} of ${count(previews.length, 'preview')} to prune`);
      return {open, found};
    },
  );
  const {open, found} = await finding.run();
  const result = {...open.project, dryRun, found};
  if (dryRun || found.length === 0) return {...result, deleted: [], warnings: []};
  await confirm?.(open.project.backend, found);
  const deleted: string[] = [];
  const warnings: string[] = [];
  for (const item of found) {
    const updatedAt = await updateOf(open, item);
    // Somebody else has deleted it, perhaps before its deployments were read.
    if ((await readTargets(open)).every(({targetSlug}) => targetSlug !== item.targetSlug)) continue;
    if (updatedAt !== item.updatedAt && !isOlder(open, updatedAt, olderThanMs)) {
      warnings.push(`Kept ${item.targetSlug}: something was deployed to it meanwhile.`);
      continue;
    }
    const bundles = (await bundlesOnlyOn(open, item.targetSlug)).filter((id) => item.bundles.includes(id));
    const removed = await remove(finding.after(item), open, {...item, bundles}, options, host);
    host.writes?.conclude({});
    if (removed.deleted) deleted.push(item.targetSlug);
  }
  return {...result, deleted, warnings: [...finding.warnings, ...warnings]};
}

/** Whether a time is so long ago, by the clock of the service. One that is not known isn't. */
function isOlder({host, clockAheadMs}: OpenBackend, time: string | undefined, ageMs: number): boolean {
  return Date.parse(time ?? '') <= host.now().getTime() + clockAheadMs() - ageMs;
}
