import type {ProjectItem, TargetItem} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/names.js';
import {guardTarget} from '../operations/guard/guards.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions} from '../operations/options.js';
import {allItems} from '../operations/pages.js';
import {allowChange, invoke} from '../operations/call-backend.js';
import {
  applyConfiguration,
  applyingCapabilities,
  newAccessValue,
  rotateAccess,
  type AppliedTarget,
  type ApplyTargetOptions,
} from '../operations/targets/apply-target.js';
import {
  compareTarget,
  leftOut,
  readingCapabilities,
  readState,
  unsupportedWarnings,
  verifyConfiguration,
  type DiffTargetOptions,
  type TargetDiff,
} from '../operations/targets/compare-target.js';
import type {CreateTargetOptions} from '../operations/targets/create-target.js';
import {waitForTarget} from '../operations/targets/wait-for-target.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import type {Pipeline} from './run.js';
import {chooseFor} from './steps.js';

/** Options of `listProjects`. */
export type ListProjectsOptions = Omit<ProjectOptions, 'projectSlug'>;

/** What `listProjects` resolves to. */
export interface ListProjectsResult {
  readonly backend: RuntimeBackend;
  /** In the order of the server's list. */
  readonly projects: readonly ProjectItem[];
}

export async function listProjects(options: ListProjectsOptions, host: PipelineHost): Promise<ListProjectsResult> {
  // The list is that of the credentials, whatever the project.
  return chooseFor({...options, projectSlug: 'all'}, ['projects'], host)
    .step('list', 'List the projects', async ({open}, {outlet}) => {
      const projects = await allItems((range) => invoke(open, 'listProjects', range));
      outlet.title(`Found ${count(projects.length, 'project')}`);
      return {backend: open.project.backend, projects};
    })
    .run();
}

/** A target that was made, and what it is to be like. */
interface Made {
  readonly open: OpenBackend;
  readonly target: TargetItem & {readonly created: boolean; readonly access?: string | undefined};
}

/** Adds the step that makes a new target as it is configured, once it is ready. A copy gets what its service left out. */
export function withApplyStep<Found extends Made>(
  made: Pipeline<Found>,
  {configuration = {}, copyFrom}: Pick<CreateTargetOptions, 'configuration' | 'copyFrom'>,
): Pipeline<Found> {
  if (copyFrom === undefined && Object.keys(configuration).length === 0) return made;
  return made.change('apply', 'Apply its configuration', async (found, {outlet}) => {
    const {open, target} = found;
    const {targetSlug} = target;
    if (!target.created) return found;
    const copied = copyFrom === undefined ? {} : await leftOut(open, copyFrom, targetSlug);
    const settings = {...copied, ...configuration.settings};
    const wanted = {...configuration, ...(Object.keys(settings).length > 0 && {settings})};
    const value = newAccessValue();
    const state = await readState(open, targetSlug, wanted);
    for (const warning of unsupportedWarnings(open, state, wanted)) outlet.warn(warning);
    await applyConfiguration({open, targetSlug, wanted, value}, state);
    outlet.title(`${targetSlug} is as configured`);
    return wanted.access === true ? {...found, target: {...target, access: value}} : found;
  });
}

async function compare(open: OpenBackend, {targetSlug, configuration}: DiffTargetOptions) {
  const state = await readState(open, targetSlug, configuration);
  const differences = compareTarget(state, configuration);
  const warnings = unsupportedWarnings(open, state, configuration);
  for (const warning of warnings) open.host.outlet.warn(warning);
  const {length} = differences;
  const found = length === 0 ? `${targetSlug} is as configured` : `Found ${count(length, 'difference')}`;
  open.host.outlet.title(found);
  const diff: TargetDiff = {...open.project, targetSlug, identical: length === 0, differences, warnings};
  return {open, state, diff};
}

export async function diffTarget(options: DiffTargetOptions, host: PipelineHost): Promise<TargetDiff> {
  const {targetSlug, configuration} = options;
  verifyConfiguration(configuration);
  const comparing = chooseFor(options, readingCapabilities(configuration), host).step(
    'compare',
    `Compare ${targetSlug} with the configuration`,
    ({open}) => compare(open, options),
  );
  return (await comparing.run()).diff;
}

/** Compares a target with a configuration, asks, and changes what differs. */
export async function applyTarget(options: ApplyTargetOptions, caller: PipelineHost): Promise<AppliedTarget> {
  const {targetSlug, configuration, rotate = false, wait = false, dryRun = false, confirm} = options;
  verifyConfiguration(configuration, {rotate});
  const value = newAccessValue();
  const host = {...caller, secrets: [...(caller.secrets ?? []), value]};
  const capabilities = [...applyingCapabilities(configuration, rotate), ...(wait ? (['targets'] as const) : [])];
  const comparing = chooseFor(options, capabilities, host).step(
    'compare',
    `Compare ${targetSlug} with the configuration`,
    ({open}) => compare(open, options),
  );
  const {open, state, diff} = await comparing.run();
  const changing = diff.differences.filter(({kind}) => kind !== 'variable');
  const unchanged = {...diff, applied: 0, dryRun};
  if (changing.length === 0 && !rotate) return unchanged;
  await guardTarget('update-target', options, host);
  if (dryRun) await allowChange(open, {operation: 'update-target', targetSlug, dryRun});
  if (dryRun) return unchanged;
  await confirm?.(open.project.backend, diff);
  const isShut = rotate || changing.some(({kind, after}) => kind === 'access' && after === true);
  let applying = comparing.after(open).change('apply', `Change ${targetSlug}`, async (_, {outlet}) => {
    await allowChange(open, {operation: 'update-target', targetSlug});
    const applied = {open, targetSlug, wanted: configuration, value};
    // What rotates makes a header itself.
    if (rotate) await rotateAccess(applied);
    await applyConfiguration(applied, rotate ? {...state, access: [{accessId: 'new'}]} : state);
    outlet.title(`Changed ${targetSlug}: ${count(changing.length, 'difference')}`);
    return open;
  });
  if (wait) {
    applying = applying.step('wait', 'Wait for the target', async (_, {outlet}) => {
      await waitForTarget(open, targetSlug);
      outlet.title(`Target ${targetSlug} is ready`);
      return open;
    });
  }
  await applying.run();
  const access = isShut ? value : undefined;
  return {...unchanged, applied: changing.length, ...(access && {access}), warnings: comparing.warnings};
}
