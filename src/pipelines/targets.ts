import type {LogEntry, TargetItem} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/names.js';
import {guardTarget} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions, ProjectResult, TargetOptions} from '../operations/options.js';
import {createTargetIn, type CreatedTarget, type CreateTargetOptions} from '../operations/targets/create-target.js';
import {verifyConfiguration} from '../operations/targets/compare-target.js';
import {
  deleteTargetFrom,
  findDoomed,
  type DeletedTarget,
  type DeleteTargetOptions,
} from '../operations/targets/delete-target.js';
import {
  describeInvalidation,
  invalidatedPatterns,
  invalidateIn,
  type InvalidateOptions,
  type InvalidateResult,
} from '../operations/targets/invalidate.js';
import {followLogs, type TailLogsOptions} from '../operations/targets/tail-logs.js';
import {
  checkVariables,
  maskingHost,
  setVariablesOn,
  variablesOf,
  type ListVariablesResult,
  type SetVariablesOptions,
  type SetVariablesResult,
} from '../operations/targets/variables.js';
import {waitForTarget} from '../operations/targets/wait-for-target.js';
import {readTargets, withTarget} from '../operations/targets/find-targets.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import type {Pipeline} from './run.js';
import {chooseFor} from './steps.js';
import {withApplyStep} from './configure.js';

/** What `listTargets` resolves to. */
export interface ListTargetsResult extends ProjectResult {
  /** In the order of the server's list. */
  readonly targets: readonly TargetItem[];
}

export async function listTargets(options: ProjectOptions, host: PipelineHost): Promise<ListTargetsResult> {
  const {projectSlug} = options;
  return chooseFor(options, ['targets'], host)
    .step('list', `List the targets of ${projectSlug}`, async ({open}, {outlet}) => {
      const targets = await readTargets(open);
      outlet.title(`Found ${count(targets.length, 'target')}`);
      return {...open.project, targets};
    })
    .run()
    .catch(withTarget);
}

interface Changed<Target> {
  readonly open: OpenBackend;
  readonly target: Target;
}

/** Adds the step that waits until a target is made, or published. A backend that lists none can't say when that is. */
function withWaitStep<Target extends TargetItem>(changed: Pipeline<Changed<Target>>): Pipeline<Changed<Target>> {
  return changed.step('wait', 'Wait for the target', async ({open, target}, {outlet}) => {
    if (open.backend.listTargets === undefined) return {open, target};
    const item = await waitForTarget(open, target.targetSlug);
    outlet.title(`Target ${item.targetSlug} is ready`);
    return {open, target: {...target, ...item}};
  });
}

export async function createTarget(options: CreateTargetOptions, host: PipelineHost): Promise<CreatedTarget> {
  const {targetSlug, wait = true, dryRun = false, copyFrom, configuration = {}} = options;
  verifyConfiguration(configuration);
  refuseUnsafe({operation: 'create-target', targetSlug}, host);
  // The service may not make the target under this slug, so it need not fit the backend.
  const {targetSlug: _, ...reached} = options;
  const creating = chooseFor(reached, ['create-target'], host).change(
    'create',
    `Create target ${targetSlug}`,
    async ({open}, {outlet}) => {
      const target = await createTargetIn(open, options);
      const outcome = dryRun ? 'Would create' : target.created ? 'Created' : 'Found';
      outlet.title(`${outcome} target ${target.targetSlug}`);
      const isLeft = copyFrom !== undefined || Object.keys(configuration).length > 0;
      if (isLeft && !wait && !dryRun) outlet.warn(laterAdvice(target.targetSlug));
      return {open, target};
    },
  );
  const {open, target} = await (wait && !dryRun ? withApplyStep(withWaitStep(creating), options) : creating).run();
  return {...open.project, ...target, warnings: creating.warnings};
}

const laterAdvice = (targetSlug: string) =>
  `Once ${targetSlug} is ready, run target:apply: without waiting, its configuration and what a copy lacks are not applied.`;

export async function deleteTarget(options: DeleteTargetOptions, host: PipelineHost): Promise<DeletedTarget> {
  const {targetSlug, confirm, production, dryRun = false} = options;
  refuseUnsafe({operation: 'delete-target', targetSlug, production}, host);
  const finding = chooseFor(options, ['delete-target'], host).step(
    'find',
    `Find target ${targetSlug}`,
    async ({open}) => ({open, target: await findDoomed(open, options)}),
  );
  const {open, target} = await finding.run();
  const result = {...open.project, targetSlug, running: target?.running, dryRun, deleted: false, warnings: []};
  if (target === undefined) return result;
  await guardTarget('delete-target', options, host);
  if (!dryRun) await confirm?.(open.project.backend, target);
  const deleting = finding.after(target).change('delete', `Delete target ${targetSlug}`, async (doomed, {outlet}) => {
    const isDone = await deleteTargetFrom(open, doomed, options);
    const done = `${dryRun ? 'Would delete' : 'Deleted'} target ${targetSlug}`;
    outlet.title(isDone ? done : `Target ${targetSlug} was already deleted`);
    return isDone;
  });
  const isDone = await deleting.run();
  return {...result, deleted: isDone && !dryRun, warnings: deleting.warnings};
}

export async function listVariables(options: TargetOptions, host: PipelineHost): Promise<ListVariablesResult> {
  const {targetSlug} = options;
  return chooseFor(options, ['variables'], host)
    .step('list', `List the variables of ${targetSlug}`, async ({open}, {outlet}) => {
      const variables = await variablesOf(open, targetSlug);
      outlet.title(`Found ${count(variables.length, 'variable')}`);
      return {...open.project, targetSlug, variables};
    })
    .run();
}

export async function setVariables(options: SetVariablesOptions, host: PipelineHost): Promise<SetVariablesResult> {
  const {targetSlug, set = {}, unset = [], wait = false, dryRun = false} = options;
  const masking = maskingHost(host, options);
  checkVariables(options);
  await guardTarget('set-variables', options, masking);
  const setting = chooseFor(options, ['set-variables', ...(wait ? ['targets' as const] : [])], masking).change(
    'set',
    `Change the variables of ${targetSlug}`,
    async ({open}, {outlet}) => {
      await setVariablesOn(open, options);
      const what = count(Object.keys(set).length + unset.length, 'variable');
      outlet.title(`${dryRun ? 'Would change' : 'Changed'} ${what} of ${targetSlug}`);
      return {open, target: {targetSlug}};
    },
  );
  const {open} = await (wait && !dryRun ? withWaitStep(setting) : setting).run();
  const names = {set: Object.keys(set), unset};
  return {...open.project, targetSlug, ...names, dryRun, warnings: setting.warnings};
}

export async function invalidate(options: InvalidateOptions, host: PipelineHost): Promise<InvalidateResult> {
  const {targetSlug, dryRun = false} = options;
  const invalidation = {targetSlug, patterns: invalidatedPatterns(options), dryRun};
  await guardTarget('invalidate', options, host);
  return chooseFor(options, ['invalidate'], host)
    .change('invalidate', `Invalidate the cache of ${targetSlug}`, async ({open}, {outlet}) => {
      await invalidateIn(open, invalidation);
      outlet.title(describeInvalidation(invalidation));
      return {...open.project, ...invalidation};
    })
    .run();
}

interface OpenLogs extends Pick<OpenBackend, 'clockAheadMs'> {
  readonly backend: RuntimeBackend;
  readonly entries: AsyncGenerator<LogEntry, void, undefined>;
}

/** Opens the logs of a target. They connect once they are read. */
export async function openLogs(options: TailLogsOptions, host: PipelineHost): Promise<OpenLogs> {
  const {open} = await chooseFor(options, ['tail-logs'], host).run();
  return {backend: open.project.backend, entries: followLogs(open, options), clockAheadMs: open.clockAheadMs};
}
