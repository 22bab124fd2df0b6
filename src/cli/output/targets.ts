import {projectTitle} from '../../backends/names.js';
import type {TargetItem, VariableItem} from '../../backends/contract.js';
import {shownUrl} from '../../backends/answers.js';
import type {DeletedTarget, DoomedTarget} from '../../operations/target/delete-target.js';
import type {ListVariablesResult, SetVariablesResult} from '../../operations/target/variables.js';
import type {DeletedPreview, PreviewItem} from '../../operations/target/previews.js';
import type {ListPreviewsResult, PrunePreviewsResult} from '../../pipelines/previews.js';
import type {ListTargetsResult} from '../../pipelines/targets.js';
import {count, oneLine} from '../../text/sentence.js';
import {placeFlags} from '../../text/suggest.js';
import type {
  EnvDiffDocument,
  EnvListDocument,
  PreviewDownDocument,
  PreviewListDocument,
  PreviewPruneDocument,
  TargetCreateDocument,
  TargetDeleteDocument,
  TargetListDocument,
} from './documents.js';
import type {Output} from './output.js';
import {printTable, type Column} from './table.js';

export const targetColumns: readonly Column<TargetItem>[] = [
  {name: 'target', value: ({targetSlug}) => targetSlug},
  {name: 'state', value: ({state}) => state},
  {name: 'production', value: ({production}) => (production === undefined ? undefined : production ? 'yes' : 'no')},
  {name: 'created', value: ({createdAt}) => createdAt, time: true},
  {name: 'name', value: ({name}) => name, flexible: true, extra: true},
  {name: 'url', value: ({url}) => shownUrl(url), flexible: true},
];

export function renderTargets(
  result: ListTargetsResult,
  columns: readonly Column<TargetItem>[],
  output: Output,
): TargetListDocument {
  const {targets, projectSlug} = result;
  if (targets.length > 0) printTable(targets, columns, output);
  else output.info(`The project ${projectSlug} has no targets, or does not exist.`);
  return result;
}

export function renderCreated(
  result: TargetCreateDocument,
  commandFlags: readonly string[] = [],
  output: Output,
): TargetCreateDocument {
  const {targetSlug, projectSlug, backend, state, dryRun} = result;
  const place = projectTitle(projectSlug, backend);
  if (dryRun) output.outcome(`Dry run: target ${targetSlug} of ${place} would be created.`);
  else {
    const isReady = state === 'ready';
    output.outcome(`Created target ${targetSlug} of ${place}${isReady || state === undefined ? '' : `: ${state}`}.`);
    const flags = placeFlags({projectSlug, targetSlug, backend}, commandFlags);
    if (isReady) output.hint(['Deploy to it: ', {run: ['bundle:push', ...flags]}]);
    else output.hint(['Check on it: ', {run: ['target:list', ...placeFlags({projectSlug, backend}, commandFlags)]}]);
  }
  const url = shownUrl(result.url);
  if (url !== undefined) output.result(url, {style: 'bold'});
  return result;
}

/** The question before a target is deleted, with what it runs. */
export function describeDoomed(projectSlug: string, backend: string, {targetSlug, running}: DoomedTarget): string {
  const what = running === undefined ? '' : `, which runs ${describeRunning(running)}`;
  return `Delete target ${targetSlug} of ${projectTitle(projectSlug, backend)}${what}?`;
}

export function renderDeleted(result: DeletedTarget, output: Output): TargetDeleteDocument {
  const {targetSlug, projectSlug, backend, running} = result;
  const ran = running === undefined ? '' : ` It ran ${describeRunning(running)}.`;
  output.outcome(`Deleted target ${targetSlug} of ${projectTitle(projectSlug, backend)}.${ran}`);
  return result;
}

function describeRunning({bundleId, message}: NonNullable<DoomedTarget['running']>): string {
  return `bundle ${String(bundleId)}${message === undefined ? '' : ` "${oneLine(message)}"`}`;
}

export const variableColumns: readonly Column<VariableItem>[] = [
  {name: 'name', value: ({name}) => name},
  {name: 'status', value: ({status}) => status},
  {name: 'updated', value: ({updatedAt}) => updatedAt, time: true},
  {name: 'by', value: ({updatedBy}) => updatedBy},
];

export function renderVariables(
  result: ListVariablesResult,
  columns: readonly Column<VariableItem>[],
  output: Output,
): EnvListDocument {
  const {variables, targetSlug} = result;
  if (variables.length > 0) printTable(variables, columns, output);
  else output.info(`${targetSlug} has no variables.`);
  return result;
}

/** Shows which variables were changed, and that the target is published again. */
export function renderChangedVariables(
  result: SetVariablesResult,
  {waited, commandFlags}: {readonly waited: boolean; readonly commandFlags: readonly string[] | undefined},
  output: Output,
): SetVariablesResult {
  const {set, unset, dryRun, targetSlug, projectSlug, backend} = result;
  const [verb, names, where] = set.length > 0 ? ['set', set, 'on'] : ['removed', unset, 'from'];
  const what = `${names.join(', ')} ${where} ${targetSlug} of ${projectTitle(projectSlug, backend)}`;
  if (dryRun) output.outcome(`Dry run: this would be ${verb}: ${what}.`);
  else {
    output.outcome(`${verb === 'set' ? 'Set' : 'Removed'} ${what}.`);
    if (waited) output.outcome('The target was published again.');
    else {
      const flags = placeFlags({projectSlug, backend}, commandFlags);
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
): EnvDiffDocument {
  const known = variables.map(({name}) => name);
  const result = {
    ...place,
    missing: names.filter((name) => !known.includes(name)),
    extra: known.filter((name) => !names.includes(name)),
    shared: names.filter((name) => known.includes(name)),
  };
  const {missing, extra, shared} = result;
  for (const name of missing) output.result(`+ ${name}`);
  for (const name of extra) output.result(`- ${name}`);
  const {targetSlug} = place;
  output.outcome(
    `${targetSlug} lacks ${count(missing.length, 'variable')} of ${file} (+) and has ${String(extra.length)} others (-). ` +
      `${String(shared.length)} are in both, perhaps with other values.`,
  );
  return result;
}

export const previewColumns: readonly Column<PreviewItem>[] = [
  {name: 'branch', value: ({branch}) => branch},
  {name: 'target', value: ({targetSlug}) => targetSlug},
  {name: 'state', value: ({state}) => state},
  {name: 'updated', value: ({updatedAt}) => updatedAt, time: true},
  {name: 'url', value: ({url}) => shownUrl(url), flexible: true},
];

export function renderPreviews(
  result: ListPreviewsResult,
  columns: readonly Column<PreviewItem>[],
  output: Output,
): PreviewListDocument {
  const {previews, projectSlug} = result;
  if (previews.length > 0) printTable(previews, columns, output);
  else output.info(`The project ${projectSlug} has no previews.`);
  return result;
}

export function renderDeletedPreview(result: DeletedPreview, output: Output): PreviewDownDocument {
  const {branch, targetSlug, projectSlug, backend, deleted, bundles} = result;
  const place = projectTitle(projectSlug, backend);
  const and = bundles.length === 0 ? '' : ` and ${count(bundles.length, 'bundle')}`;
  output.outcome(
    deleted && targetSlug !== undefined
      ? `Deleted ${targetSlug}${and} of ${place}.`
      : `Nothing to delete: ${place} has no preview of ${oneLine(branch)}.`,
  );
  return result;
}

export function renderPrunedPreviews(result: PrunePreviewsResult, output: Output): PreviewPruneDocument {
  const {dryRun, found, deleted, projectSlug} = result;
  if (found.length === 0) output.outcome(`Nothing to prune in ${projectSlug}.`);
  else if (dryRun) {
    printTable(found, previewColumns, output);
    output.outcome(`Would delete ${count(found.length, 'preview')} of ${projectSlug}.`);
  } else output.outcome(`Deleted ${count(deleted.length, 'preview')} of ${projectSlug}.`);
  return result;
}
