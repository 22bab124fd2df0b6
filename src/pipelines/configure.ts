import type {ProjectItem} from '../backends/contract.js';
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
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import {known, type Ledger} from './ledger.js';
import {run, type Question, type Rows, type Step} from './run.js';
import {choose, waitForChanged, withBackend, type TargetRequest} from './steps.js';

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
  return withBackend({...options, projectSlug: 'all'}, host, {
    needs: ['projects'],
    name: 'list',
    title: 'List the projects',
    async run(open, outlet) {
      const projects = await allItems((range) => invoke(open, 'listProjects', range));
      outlet.title(`Found ${count(projects.length, 'project')}`);
      return {backend: open.project.backend, projects};
    },
  });
}

/** Makes a new target as it is configured, once it is ready. A copy gets what its service left out. */
export const applyToMade: Step<TargetRequest<CreateTargetOptions>> = {
  name: 'apply',
  title: 'Apply its configuration',
  due: ({request: {options}, target}) =>
    options.wait === true &&
    options.dryRun !== true &&
    target?.created !== false &&
    (options.copyFrom !== undefined || Object.keys(options.configuration ?? {}).length > 0),
  async run(ledger, {outlet}) {
    const {open, request, target} = known(ledger, 'open', 'target');
    const {configuration = {}, copyFrom} = request.options;
    const {targetSlug} = target;
    const copied = copyFrom === undefined ? {} : await leftOut(open, copyFrom, targetSlug);
    const settings = {...copied, ...configuration.settings};
    const wanted = {...configuration, ...(Object.keys(settings).length > 0 && {settings})};
    const value = newAccessValue();
    const state = await readState(open, targetSlug, wanted);
    for (const warning of unsupportedWarnings(open, state, wanted)) outlet.warn(warning);
    await applyConfiguration({open, targetSlug, wanted, value}, state);
    outlet.title(`${targetSlug} is as configured`);
    return wanted.access === true ? {target: {...target, access: value}} : {};
  },
};

async function compareWith(open: OpenBackend, {targetSlug, configuration}: DiffTargetOptions) {
  const state = await readState(open, targetSlug, configuration);
  const differences = compareTarget(state, configuration);
  const warnings = unsupportedWarnings(open, state, configuration);
  for (const warning of warnings) open.host.outlet.warn(warning);
  const {length} = differences;
  const found = length === 0 ? `${targetSlug} is as configured` : `Found ${count(length, 'difference')}`;
  open.host.outlet.title(found);
  const diff: TargetDiff = {...open.project, targetSlug, identical: length === 0, differences, warnings};
  return {state, diff};
}

export async function diffTarget(options: DiffTargetOptions, host: PipelineHost): Promise<TargetDiff> {
  const {targetSlug, configuration} = options;
  verifyConfiguration(configuration);
  const {diff} = await withBackend(options, host, {
    needs: readingCapabilities(configuration),
    name: 'compare',
    title: `Compare ${targetSlug} with the configuration`,
    run: (open) => compareWith(open, options),
  });
  return diff;
}

interface ApplyRequest extends TargetRequest<ApplyTargetOptions> {
  /** Of the access header, if one is made. */
  readonly value: string;
}

const compare: Step<ApplyRequest> = {
  name: 'compare',
  title: ({request}) => `Compare ${request.options.targetSlug} with the configuration`,
  async run(ledger) {
    const {open, request} = known(ledger, 'open');
    return {differing: await compareWith(open, request.options)};
  },
};

/** The differences that are changed: values of variables are not known. */
function changing({differences}: TargetDiff) {
  return differences.filter(({kind}) => kind !== 'variable');
}

const confirmChange: Question<ApplyRequest> = {
  async ask(ledger, host) {
    const {open, request, differing} = known(ledger, 'open', 'differing');
    const {targetSlug, rotate = false, dryRun = false, confirm} = request.options;
    if (changing(differing.diff).length === 0 && !rotate) return;
    await guardTarget('update-target', request.options, host);
    if (dryRun) await allowChange(open, {operation: 'update-target', targetSlug, dryRun});
    else await confirm?.(open.project.backend, differing.diff);
  },
};

function isChanging({request: {options}, differing}: Ledger<ApplyRequest>): boolean {
  if (differing === undefined || options.dryRun) return false;
  return changing(differing.diff).length > 0 || options.rotate === true;
}

const apply: Step<ApplyRequest> = {
  name: 'apply',
  title: ({request}) => `Change ${request.options.targetSlug}`,
  due: isChanging,
  async run(ledger, {outlet}) {
    const {open, request, differing} = known(ledger, 'open', 'differing');
    const {targetSlug, configuration, rotate = false} = request.options;
    const {state, diff} = differing;
    const {length} = changing(diff);
    await allowChange(open, {operation: 'update-target', targetSlug});
    const applied = {open, targetSlug, wanted: configuration, value: request.value};
    // What rotates makes a header itself.
    if (rotate) await rotateAccess(applied);
    await applyConfiguration(applied, rotate ? {...state, access: [{accessId: 'new'}]} : state);
    outlet.title(`Changed ${targetSlug}: ${count(length, 'difference')}`);
    const isShut = rotate || changing(diff).some(({kind, after}) => kind === 'access' && after === true);
    return {target: {targetSlug, ...(isShut && {access: request.value})}, result: length};
  },
};

const waitForApplied: Step<ApplyRequest> = {
  ...waitForChanged,
  due: (ledger) => isChanging(ledger) && ledger.request.options.wait === true,
};

/** Compares a target with a configuration, asks, and changes what differs. */
export async function applyTarget(options: ApplyTargetOptions, caller: PipelineHost): Promise<AppliedTarget> {
  const {configuration, rotate = false, wait = false, dryRun = false} = options;
  verifyConfiguration(configuration, {rotate});
  const value = newAccessValue();
  const host = {...caller, secrets: [...(caller.secrets ?? []), value]};
  const needs = [...applyingCapabilities(configuration, rotate), ...(wait ? (['targets'] as const) : [])];
  const rows: Rows<ApplyRequest> = [choose, compare, confirmChange, apply, waitForApplied];
  const ledger = await run(rows, {connection: options, needs, options, value}, host);
  const {differing, target, warnings, result} = known(ledger, 'differing');
  const {access} = target ?? {};
  return {...differing.diff, applied: Number(result ?? 0), dryRun, ...(access && {access}), warnings};
}
