import type {
  AppliedTarget,
  ApplyTargetOptions,
  CreateTargetOptions,
  DiffTargetOptions,
  ListProjectsOptions,
  ListProjectsResult,
  TargetDiff,
} from '../operations/targets/options.js';
import {guardTarget} from '../operations/guard/guards.js';
import type {Outlet} from '../operations/host.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {TargetOptions} from '../operations/options.js';
import {allowChange} from '../operations/call-backend.js';
import {
  applyConfiguration,
  applyingCapabilities,
  newAccessValue,
  rotateAccess,
} from '../operations/targets/apply-target.js';
import {
  compareTarget,
  currentConfiguration,
  readingCapabilities,
  readState,
  unsupportedWarnings,
  verifyConfiguration,
} from '../operations/targets/compare-target.js';
import {readProjects} from '../operations/targets/find-targets.js';
import {reportMade, settingsToComplete} from '../operations/targets/copy-target.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {count} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import {known, type Ledger} from './ledger.js';
import type {Rows, Step} from './run.js';
import {changeFound, waitForChanged, withBackend, type BackendRequest} from './steps.js';

export async function listProjects(options: ListProjectsOptions, host: PipelineHost): Promise<ListProjectsResult> {
  // The list is that of the credentials, whatever the project.
  return withBackend({...options, projectSlug: 'all'}, host, {
    needs: ['projects'],
    name: 'list',
    title: 'List the projects',
    async run(open, outlet) {
      const projects = await readProjects(open);
      outlet.title(`Found ${count(projects.length, 'project')}`);
      return {backend: open.project.backend, projects};
    },
  });
}

export interface ConfigureRequest<Options> extends BackendRequest {
  readonly options: Options;
}

/** A new value of an access header, and the host that masks it. */
export function withAccessValue(host: PipelineHost) {
  const value = newAccessValue();
  return {value, host: {...host, secrets: [...(host.secrets ?? []), value]}};
}

/**
 * Makes a new target as it is configured, once it is ready, and completes a copy. Settings publish it again.
 * @param completes whether that goes for one that was there, too
 */
export function applyToMade(value: string, completes: boolean): Rows<ConfigureRequest<CreateTargetOptions>> {
  const isDue = ({request: {options}, target}: Ledger<ConfigureRequest<CreateTargetOptions>>) =>
    options.wait === true &&
    options.dryRun !== true &&
    (completes || target?.created !== false) &&
    (completes || options.copyFrom !== undefined || Object.keys(options.configuration ?? {}).length > 0);
  const apply: Step<ConfigureRequest<CreateTargetOptions>> = {
    name: 'apply',
    title: ({request: {options}}) =>
      options.copyFrom === undefined ? 'Apply its configuration' : `Complete the copy of ${options.copyFrom}`,
    due: isDue,
    async run(ledger, {outlet}) {
      const {open, request, target} = known(ledger, 'open', 'target');
      const {configuration = {}, copyFrom, onAccess} = request.options;
      const {targetSlug} = target;
      const completing = copyFrom === undefined ? {} : await settingsToComplete(open, copyFrom, targetSlug);
      if (target.created === false) await allowChange(open, {operation: 'update-target', targetSlug});
      const settings = {
        ...completing,
        ...(completes && target.production && {production: false}),
        ...configuration.settings,
      };
      const wanted = {...configuration, ...(Object.keys(settings).length > 0 && {settings})};
      const state = await readState(open, targetSlug, wanted);
      for (const warning of unsupportedWarnings(open, state, wanted)) outlet.warn(warning);
      await applyConfiguration({open, targetSlug, wanted, value, onAccess}, state);
      outlet.title(
        copyFrom === undefined ? `${targetSlug} is as configured` : `${targetSlug} is a copy of ${copyFrom}`,
      );
      const made = await reportMade(open, request.options, {targetSlug, variables: state.variables});
      return {target: {...target, ...made, ...(wanted.access === true && {access: value})}};
    },
  };
  const isPublished = ({target, changedIn}: Ledger) => target?.missing === undefined || changedIn === 'apply';
  return [apply, {...waitForChanged, due: (ledger) => isDue(ledger) && isPublished(ledger)}];
}

function comparison({targetSlug, configuration: wanted, rotate = false}: ApplyTargetOptions) {
  return {
    name: 'compare',
    title: `Compare ${targetSlug} with the configuration`,
    async run(open: OpenBackend, outlet: Outlet) {
      const state = await readState(open, targetSlug, wanted).catch(suggestCreation(open, targetSlug));
      const replaced = {kind: 'access', name: 'access', before: true, after: true} as const;
      const differences = [...compareTarget(state, wanted), ...(rotate && state.access.length > 0 ? [replaced] : [])];
      const warnings = unsupportedWarnings(open, state, wanted);
      for (const warning of warnings) outlet.warn(warning);
      const {length} = differences;
      outlet.title(length === 0 ? `${targetSlug} is as configured` : `Found ${count(length, 'difference')}`);
      const diff: TargetDiff = {...open.project, targetSlug, identical: length === 0, differences, warnings};
      return {state, diff};
    },
  };
}

/** Says of a target that is configured and not there how to create it. */
function suggestCreation({flags}: OpenBackend, targetSlug: string) {
  return (error: unknown): never => {
    if (!isRuntimeCliError(error) || !Array.isArray(error.details?.['targets'])) throw error;
    const create = {run: ['target:create', targetSlug, ...flags()]};
    throw amendError(error, {suggestions: [['To create it as configured, run: ', create]]});
  };
}

export async function diffTarget(options: DiffTargetOptions, host: PipelineHost): Promise<TargetDiff> {
  verifyConfiguration(options.configuration);
  const needs = readingCapabilities(options.configuration);
  const {diff} = await withBackend(options, host, {...comparison(options), needs});
  return diff;
}

/** What a target is like, as a configuration would say it. */
export function describeConfiguration(options: TargetOptions, host: PipelineHost) {
  const {targetSlug} = options;
  return withBackend(options, host, {
    needs: ['target-settings'],
    name: 'read',
    title: `Read ${targetSlug}`,
    async run(open, outlet) {
      const configuration = await currentConfiguration(open, targetSlug);
      outlet.title(`Read ${targetSlug}`);
      return {...open.project, targetSlug, configuration};
    },
  });
}

export async function applyTarget(options: ApplyTargetOptions, caller: PipelineHost): Promise<AppliedTarget> {
  const {targetSlug, rotate = false, wait = false, dryRun = false, confirm, onAccess} = options;
  verifyConfiguration(options.configuration, {rotate});
  const configuration = rotate ? {...options.configuration, access: true} : options.configuration;
  const {value, host} = withAccessValue(caller);
  const {found, result, warnings} = await changeFound(options, host, {
    needs: [...applyingCapabilities(configuration), ...(wait ? (['targets'] as const) : [])],
    find: comparison({...options, configuration}),
    async confirm(open, {diff}, running) {
      if (changing(diff).length === 0) return false;
      await guardTarget('update-target', options, running);
      if (dryRun) await allowChange(open, {operation: 'update-target', targetSlug, dryRun});
      else await confirm?.(open.project.backend, diff);
      return !dryRun;
    },
    change: {
      name: 'apply',
      title: () => `Change ${targetSlug}`,
      async run(ledger, {state, diff}, outlet) {
        const {open} = ledger;
        await allowChange(open, {operation: 'update-target', targetSlug});
        const applied = {open, targetSlug, wanted: configuration, value, onAccess};
        // What rotates makes a header itself.
        if (rotate) await rotateAccess(applied);
        await applyConfiguration(applied, rotate ? {...state, access: [{accessId: 'new'}]} : state);
        const resolved = changing(diff);
        outlet.title(`Changed ${targetSlug}: ${count(resolved.length, 'difference')}`);
        ledger.target = {targetSlug};
        return resolved;
      },
    },
    after: wait ? [waitForChanged] : [],
  });
  const isShut = result?.some(({kind, after}) => kind === 'access' && after === true);
  return {...found.diff, applied: result?.length ?? 0, dryRun, ...(isShut && {access: value}), warnings};
}

/** The differences that are changed: values of variables are not known. */
function changing({differences}: TargetDiff) {
  return differences.filter(({kind}) => kind !== 'variable');
}
