import type {
  DeletedPreview,
  DeletedTarget,
  DoomedTarget,
  ListVariablesResult,
  PreviewItem,
  PrunePreviewsResult,
  SetVariablesResult,
} from '../../operations/targets/options.js';
import {isBuiltIn, projectTitle} from '../../backends/names.js';
import type {BundleId, ProjectItem, TargetItem, VariableItem} from '../../backends/contract.js';
import {shownUrl} from '../../backends/answers.js';
import type {TargetResult} from '../../operations/options.js';
import {count, oneLine} from '../../text/sentence.js';
import {placeFlags} from '../../text/suggest.js';
import type {VariableNamesDiff, NewTarget} from './documents.js';
import type {Output} from './output.js';
import {adviseVariables} from './render-configuration.js';
import {printTable, type Column} from './table.js';

const target: Column<TargetItem> = {name: 'targetSlug', value: ({targetSlug}) => targetSlug};
const state: Column<TargetItem> = {name: 'state', value: ({state}) => state};
const url: Column<TargetItem> = {name: 'url', value: ({url}) => url};

export const targetColumns: readonly Column<TargetItem>[] = [
  target,
  state,
  {name: 'production', value: ({production}) => (production === undefined ? undefined : production ? 'yes' : 'no')},
  {name: 'createdAt', value: ({createdAt}) => createdAt, time: true},
  {name: 'name', value: ({name}) => name, flexible: true, extra: true},
  url,
];

export const projectColumns: readonly Column<ProjectItem>[] = [
  {name: 'projectSlug', value: ({projectSlug}) => projectSlug},
  {name: 'name', value: ({name}) => name, flexible: true},
];

export const previewColumns: readonly Column<PreviewItem>[] = [
  {name: 'branch', value: ({branch}) => branch},
  target,
  state,
  {name: 'updatedAt', value: ({updatedAt}) => updatedAt, time: true},
  url,
];

export const variableColumns: readonly Column<VariableItem>[] = [
  {name: 'name', value: ({name}) => name},
  {name: 'status', value: ({status}) => status},
  {name: 'updatedAt', value: ({updatedAt}) => updatedAt, time: true},
  {name: 'updatedBy', value: ({updatedBy}) => updatedBy},
];

export function renderCreated(result: NewTarget, requested: string, output: Output): NewTarget {
  const {targetSlug, projectSlug, backend, state, dryRun, copied, missing = []} = result;
  const running = copied?.bundleId === undefined ? undefined : {bundleId: copied.bundleId};
  const what = describeTarget({...result, running}, dryRun ? 'would run' : 'runs');
  if (dryRun) output.outcome(`Dry run: would create ${what}.`);
  else {
    const isReady = state === 'ready';
    output.outcome(`Created ${what}${isReady || state === undefined ? '' : `: ${state}`}.`);
    if (targetSlug !== requested)
      output.outcome(`The service made this slug for the name ${requested}. Use ${targetSlug} from now on.`);
    const flags = placeFlags({projectSlug, targetSlug: isReady ? targetSlug : undefined, backend});
    adviseVariables(result, missing, output);
    if (!isReady) output.hint(['Check on it: ', {run: ['target:list', ...flags]}]);
    else if (running === undefined) output.hint(['Deploy to it: ', {run: ['bundle:push', ...flags]}]);
  }
  const url = shownUrl(result.url);
  if (url !== undefined) output.result(url, {style: 'bold'});
  return result;
}

type Shown = Omit<TargetResult, 'backend'> & Pick<DoomedTarget, 'running'> & {readonly backend: string};

/** `target qa of shop on Runtime (API key), which runs bundle 3 "fix"` */
export function describeTarget({targetSlug, projectSlug, backend, running}: Shown, verb = 'runs'): string {
  const {bundleId, message} = running ?? {};
  const title = message === undefined ? '' : ` "${oneLine(message)}"`;
  const runs = bundleId === undefined ? '' : `, which ${verb} bundle ${String(bundleId)}${title}`;
  return `target ${targetSlug} of ${projectTitle(projectSlug, backend)}${runs}`;
}

export function renderDeleted(result: DeletedTarget, output: Output): DeletedTarget {
  if (result.dryRun) output.outcome(`Dry run: would delete ${describeTarget(result)}.`);
  else output.outcome(`Deleted ${describeTarget(result, 'ran')}.`);
  return result;
}

/** Shows which variables were changed, and that the target is published again. */
export function renderChangedVariables(
  result: SetVariablesResult,
  {waited}: {readonly waited: boolean},
  output: Output,
): SetVariablesResult {
  const {set, unset, dryRun, targetSlug, projectSlug, backend} = result;
  const [verb, names, where] = set.length > 0 ? ['set', set, 'on'] : ['removed', unset, 'from'];
  const what = `${names.join(', ')} ${where} ${targetSlug} of ${projectTitle(projectSlug, backend)}`;
  if (dryRun) output.outcome(`Dry run: would ${verb === 'set' ? 'set' : 'remove'} ${what}.`);
  else {
    output.outcome(`${verb === 'set' ? 'Set' : 'Removed'} ${what}.`);
    // The service of a plugin need not publish anything.
    if (waited) output.outcome(isBuiltIn(backend) ? 'The target was published again.' : `${targetSlug} is ready.`);
    else if (isBuiltIn(backend)) {
      const flags = placeFlags({projectSlug, backend});
      output.hint(['The service is publishing the target again. Check on it: ', {run: ['target:list', ...flags]}]);
    }
  }
  return result;
}

export function renderVariableDiff(
  names: readonly string[],
  {variables, ...place}: ListVariablesResult,
  file: string,
  output: Output,
): VariableNamesDiff {
  const known = variables.map(({name}) => name);
  const missing = names.filter((name) => !known.includes(name));
  const extra = known.filter((name) => !names.includes(name));
  const shared = names.filter((name) => known.includes(name));
  const list = (found: readonly string[]) => found.join(', ') || 'none';
  output.outcome(
    `Missing on ${place.targetSlug}: ${list(missing)}. Only there: ${list(extra)}. In both: ${list(shared)}.`,
  );
  return {...place, missing, extra, shared};
}

/** `bundle 3`, `bundles 3, 4, and 5` */
export function nameBundles(ids: readonly BundleId[]): string {
  const names = new Intl.ListFormat('en').format(ids.map(String));
  return `${ids.length === 1 ? 'bundle' : 'bundles'} ${names}`;
}

export function renderDeletedPreview(result: DeletedPreview, output: Output): DeletedPreview {
  const {branch, targetSlug, projectSlug, backend, dryRun, bundles} = result;
  const place = projectTitle(projectSlug, backend);
  const what = `${String(targetSlug)}${bundles.length === 0 ? '' : ` and ${nameBundles(bundles)}`} of ${place}`;
  output.outcome(
    targetSlug === undefined
      ? `Nothing to delete: ${place} has no preview of ${oneLine(branch)}.`
      : dryRun
        ? `Dry run: would delete ${what}.`
        : `Deleted ${what}.`,
  );
  return result;
}

export function renderPrunedPreviews(result: PrunePreviewsResult, output: Output): PrunePreviewsResult {
  const {dryRun, found, deleted, projectSlug} = result;
  if (found.length === 0) output.outcome(`Nothing to prune in ${projectSlug}.`);
  else if (dryRun) {
    printTable(found, previewColumns, output);
    output.outcome(`Dry run: would delete ${count(found.length, 'preview')} of ${projectSlug}.`);
  } else output.outcome(`Deleted ${count(deleted.length, 'preview')} of ${projectSlug}.`);
  return result;
}
