import type {LogEntry, TargetItem} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/names.js';
import {chooseCapable} from '../operations/choose-backend.js';
import {guardTarget} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions, ProjectResult, TargetOptions, WaitOptions} from '../operations/options.js';
import type {DataOf} from '../operations/outlet.js';
import {createTargetIn, type CreatedTarget, type CreateTargetOptions} from '../operations/target/create-target.js';
import {
  deleteTargetFrom,
  findDoomed,
  type DeletedTarget,
  type DeleteTargetOptions,
} from '../operations/target/delete-target.js';
import {
  invalidatedPatterns,
  invalidateIn,
  type InvalidateOptions,
  type InvalidateResult,
} from '../operations/target/invalidate.js';
import {followLogs, type TailLogsOptions} from '../operations/target/tail-logs.js';
import {
  checkVariables,
  maskingHost,
  setVariablesOn,
  variablesOf,
  type ListVariablesResult,
  type SetVariablesOptions,
  type SetVariablesResult,
} from '../operations/target/variables.js';
import {waitForTarget} from '../operations/target/wait-for-target.js';
import {listTargets as listAll, withTarget} from '../operations/targets.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import {readFrom} from './read.js';
import {Pipeline, type Step} from './run.js';
import {resolveStep} from './steps.js';

/** What `listTargets` resolves to. */
export interface ListTargetsResult extends ProjectResult {
  /** In the order of the server's list. */
  readonly targets: readonly TargetItem[];
}

export async function listTargets(options: DataOf<ProjectOptions>, host: PipelineHost): Promise<ListTargetsResult> {
  const {projectSlug} = options;
  const step = {name: 'list', title: `List the targets of ${projectSlug}`};
  return readFrom(options, host, ['targets'], step, async (open, host) => {
    const targets = await listAll(open);
    host.outlet.title(`Found ${count(targets.length, 'target')}`);
    return {backend: open.backend.name, projectSlug, targets};
  }).catch(withTarget);
}

interface Changed<Target> {
  readonly open: OpenBackend;
  readonly target: Target;
}

/** The step that waits until a target is made, or published. A backend that lists none can't say when that is. */
function waitStep<Target extends TargetItem>(options: WaitOptions): Step<Changed<Target>, Changed<Target>> {
  return {
    name: 'wait',
    title: 'Wait for the target',
    async task({open, target}, host) {
      if (open.backend.listTargets === undefined) return {open, target};
      const item = await waitForTarget(open, target.targetSlug, options, host.outlet);
      host.outlet.title(`Target ${item.targetSlug} is ready`);
      return {open, target: {...target, ...item}};
    },
  };
}

export async function createTarget(options: DataOf<CreateTargetOptions>, host: PipelineHost): Promise<CreatedTarget> {
  const {targetSlug, projectSlug, wait = true, dryRun = false} = options;
  refuseUnsafe({operation: 'create-target', targetSlug}, host);
  // The service may not make the target under this slug, so it need not fit the backend.
  const {targetSlug: _, ...reached} = options;
  const made = Pipeline.start(host)
    .step(resolveStep((host) => chooseCapable(reached, ['create-target'], host)))
    .step({
      name: 'create',
      title: `Create target ${targetSlug}`,
      async task({open}, host) {
        const target = await createTargetIn(open, options, host);
        const did = dryRun ? 'Would create' : target.created ? 'Created' : 'Found';
        host.outlet.title(`${did} target ${target.targetSlug}`);
        return {open, target};
      },
    });
  const {open, target} = await (wait && !dryRun ? made.step(waitStep(options)) : made).run();
  return {backend: open.backend.name, projectSlug, ...target, warnings: made.warnings};
}

export async function deleteTarget(options: DataOf<DeleteTargetOptions>, host: PipelineHost): Promise<DeletedTarget> {
  const {projectSlug, targetSlug, confirm, production, dryRun = false} = options;
  refuseUnsafe({operation: 'delete-target', targetSlug, production}, host);
  const finding = Pipeline.start(host)
    .step(resolveStep((host) => chooseCapable(options, ['delete-target'], host)))
    .step({
      name: 'find',
      title: `Find target ${targetSlug}`,
      task: async ({open}, host) => ({open, target: await findDoomed(open, options, host)}),
    });
  const {open, target} = await finding.run();
  const backend = open.backend.name;
  const result = {backend, projectSlug, targetSlug, running: target?.running, dryRun, deleted: false, warnings: []};
  if (target === undefined) return result;
  await guardTarget('delete-target', options, host);
  if (!dryRun) await confirm?.(backend, target);
  const deleting = finding.after(target).step({
    name: 'delete',
    title: `Delete target ${targetSlug}`,
    async task(doomed, host) {
      await deleteTargetFrom(open, doomed, dryRun, host);
      host.outlet.title(`${dryRun ? 'Would delete' : 'Deleted'} target ${targetSlug}`);
    },
  });
  await deleting.run();
  return {...result, deleted: !dryRun, warnings: deleting.warnings};
}

export async function listVariables(options: DataOf<TargetOptions>, host: PipelineHost): Promise<ListVariablesResult> {
  const {projectSlug, targetSlug} = options;
  const step = {name: 'list', title: `List the variables of ${targetSlug}`};
  return readFrom(options, host, ['variables'], step, async (open, host) => {
    const variables = await variablesOf(open, targetSlug);
    host.outlet.title(`Found ${count(variables.length, 'variable')}`);
    return {backend: open.backend.name, projectSlug, targetSlug, variables};
  });
}

export async function setVariables(
  options: DataOf<SetVariablesOptions>,
  given: PipelineHost,
): Promise<SetVariablesResult> {
  const {projectSlug, targetSlug, set = {}, unset = [], wait = false, dryRun = false} = options;
  const host = maskingHost(given, options);
  checkVariables(options);
  await guardTarget('set-variables', options, host);
  const changed = Pipeline.start(host)
    .step(resolveStep((host) => chooseCapable(options, ['set-variables', ...(wait ? ['targets' as const] : [])], host)))
    .step({
      name: 'set',
      title: `Change the variables of ${targetSlug}`,
      async task({open}, host) {
        await setVariablesOn(open, options, host);
        const what = count(Object.keys(set).length + unset.length, 'variable');
        host.outlet.title(`${dryRun ? 'Would change' : 'Changed'} ${what} of ${targetSlug}`);
        return {open, target: {targetSlug}};
      },
    });
  const {open} = await (wait && !dryRun ? changed.step(waitStep(options)) : changed).run();
  const names = {set: Object.keys(set), unset};
  return {backend: open.backend.name, projectSlug, targetSlug, ...names, dryRun, warnings: changed.warnings};
}

export async function invalidate(options: DataOf<InvalidateOptions>, host: PipelineHost): Promise<InvalidateResult> {
  const {projectSlug, targetSlug, dryRun = false} = options;
  const patterns = invalidatedPatterns(options);
  await guardTarget('invalidate', options, host);
  const step = {name: 'invalidate', title: `Invalidate the cache of ${targetSlug}`};
  return readFrom(options, host, ['invalidate'], step, async (open, host) => {
    await invalidateIn(open, {targetSlug, patterns, dryRun}, host);
    host.outlet.title(`${dryRun ? 'Would invalidate' : 'Invalidating'} ${patterns.join(', ')} of ${targetSlug}`);
    return {backend: open.backend.name, projectSlug, targetSlug, patterns, dryRun};
  });
}

/** Opens the logs of a target. They connect once they are read. */
export async function openLogs(
  options: DataOf<TailLogsOptions>,
  host: PipelineHost,
): Promise<{readonly backend: RuntimeBackend; readonly entries: AsyncGenerator<LogEntry, void, undefined>}> {
  const choosing = Pipeline.start(host).step(resolveStep((host) => chooseCapable(options, ['tail-logs'], host)));
  const {open} = await choosing.run();
  return {backend: open.backend.name, entries: followLogs(open, options)};
}
