import type {BuildBundleResult} from '../../operations/bundle-options.js';
import type {PushPreview, PushResult, PushRuntimeBundleBackendOptions} from '../../operations/push/options.js';
import prettyBytes from 'pretty-bytes';
import {categoryOf, type BundlePlan} from '../../bundle/index.js';
import {projectTitle} from '../../backends/names.js';
import type {Documents, PushDryRun} from './documents.js';
import type {Output} from './output.js';
import {fileColumns} from './render-lists.js';
import {printTable} from './table.js';
import {describeAge} from '../../text/age.js';
import {placeFlags} from '../../text/suggest.js';
import type {NextSteps, Outcome} from '../../pipelines/next-steps.js';
import type {DeployBundleResult, DeploymentOutcome, RollbackBundleResult} from '../../operations/options.js';

export function renderPush({result, next, took}: Outcome<PushResult>, output: Output): PushResult {
  const {bundleId, projectSlug, backend, targetSlug, deployed, status} = result;
  output.outcome(describePush(result, took));
  if (targetSlug === undefined && next.canDeploy) {
    const place = placeFlags({projectSlug, backend, targetSlug: 'SLUG'});
    output.hint(['Deploy it: ', {run: ['bundle:deploy', bundleId, ...place]}]);
  } else if (targetSlug !== undefined && deployed) {
    output.outcome(status === 'finished' ? `Deployed to ${targetSlug}.` : describeUnfinished(result, '', targetSlug));
    hintNext({...result, targetSlug}, next, output);
  }
  renderUrl(result, output);
  return result;
}

function describePush(result: PushResult, took: string): string {
  const {bundleId, projectSlug, backend, pushedAt, archive} = result;
  const [id, place] = [String(bundleId), projectTitle(projectSlug, backend)];
  if (pushedAt !== undefined) {
    return `Nothing was uploaded: unchanged since bundle ${id}, pushed to ${place} ${describeAge(pushedAt)}.`;
  }
  const {size, sha256} = archive;
  return `Pushed bundle ${id} to ${place} in ${took}: ${prettyBytes(size)}, sha256 ${sha256.slice(0, 12)}`;
}

export function renderPushPreview(
  {content, selection, format, unchanged}: PushPreview,
  {projectSlug, targetSlug, ifChanged}: PushRuntimeBundleBackendOptions,
  output: Output,
): PushDryRun {
  const {backend} = selection;
  const planned = content.kind === 'build' ? plannedDocument(content.plan) : {archive: content.bundle.path};
  if ('files' in planned) listFiles(planned.files, output);
  if (unchanged) {
    const next = targetSlug === undefined ? 'Would upload nothing.' : `Would deploy it to ${targetSlug}.`;
    const age = describeAge(unchanged.pushedAt);
    output.outcome(`Dry run: unchanged since bundle ${String(unchanged.bundleId)}, pushed ${age}. ${next}`);
  } else {
    const deployed = targetSlug === undefined ? '' : ` and deploy to ${targetSlug}`;
    output.outcome(`Dry run: would push to ${projectTitle(projectSlug, backend)}${deployed}.`);
  }
  return {
    dryRun: true,
    backend,
    projectSlug,
    targetSlug,
    ...planned,
    format,
    ...(ifChanged && {unchanged: unchanged !== undefined}),
    ...(unchanged && {bundleId: unchanged.bundleId, pushedAt: unchanged.pushedAt}),
  };
}

export function renderBuildPreview(plan: BundlePlan, output: Output): Documents['bundle:build'] {
  const planned = plannedDocument(plan);
  listFiles(planned.files, output);
  return {dryRun: true, ...planned};
}

export function renderBuild(
  {bundle, manifest, warnings}: BuildBundleResult,
  output: Output,
): Documents['bundle:build'] {
  const {format, path, size, sha256, contentSha256, files} = bundle;
  output.result(path);
  output.result(`sha256 ${sha256}`);
  output.hint(['Push it: ', {run: ['bundle:push', '--archive', path]}]);
  return {
    archive: {format, path, manifest, size, sha256, contentSha256, files: files.length},
    message: bundle.message,
    rootDir: bundle.rootDir,
    configPath: bundle.configPath,
    matchMode: bundle.matchMode,
    config: bundle.config,
    provenance: bundle.provenance,
    warnings,
  };
}

const listedFiles = 20;

function listFiles(files: ReturnType<typeof plannedDocument>['files'], output: Output): void {
  printTable(files.slice(0, listedFiles), fileColumns, output);
  const more = files.length - listedFiles;
  if (more > 0) output.outcome(`... and ${String(more)} more ${more === 1 ? 'file' : 'files'}; --json lists all.`);
  if (files.some(({category}) => category === 'static'))
    output.hint('Anyone can download what is shared or other. The server gets what is server-only or shared.');
}

/** A plan for programs, without what only packing needs. */
function plannedDocument({
  files,
  laterFiles,
  projectSlug,
  emptyFolders,
  warnings,
  modifiedAt,
  compressionLevel,
  ...plan
}: BundlePlan) {
  return {...plan, files: files.map((file) => ({path: file.path, size: file.size, category: categoryOf(file)}))};
}

/** Shows a deployment, also of a promotion or a rollback: `Deployed bundle 42 to staging of shop in 12.3 s.` */
export function renderDeployment<Result extends DeployBundleResult & Partial<RollbackBundleResult>>(
  {result, took, next}: Outcome<Result>,
  output: Output,
): Result {
  const {bundleId, targetSlug, projectSlug, backend, status, rolledBackFrom} = result;
  const bundle = `bundle ${String(bundleId)}`;
  const where = `${targetSlug} of ${projectTitle(projectSlug, backend)}`;
  const isFinished = status === 'finished';
  output.outcome(
    isFinished ? `Deployed ${bundle} to ${where} in ${took}.` : describeUnfinished(result, ` of ${bundle}`, where),
  );
  hintNext(result, next, output);
  if (rolledBackFrom !== undefined) {
    output.hint(['Undo: ', {run: ['bundle:rollback', '--to', rolledBackFrom, ...placeFlags(result)]}]);
  }
  renderUrl(result, output);
  return result;
}

function describeUnfinished({deploymentId, status}: DeploymentOutcome, what: string, where: string): string {
  const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
  return `The deployment${id}${what} to ${where} is ${String(status).replace('_', ' ')}, not live yet.`;
}

/** The URL is the last line, alone, for `tail -1`. */
function renderUrl({url}: DeploymentOutcome, output: Output): void {
  if (url !== undefined) output.result(url, {style: 'bold'});
}

/** What to do next: roll back if possible, or check on an unfinished deployment. */
function hintNext(
  result: DeploymentOutcome & Pick<DeployBundleResult, 'backend' | 'projectSlug' | 'targetSlug'>,
  {canRollBack, hasHistory}: NextSteps,
  output: Output,
): void {
  const flags = placeFlags(result);
  const isFinished = result.status === 'finished';
  if (isFinished && canRollBack) output.hint(['Roll back: ', {run: ['bundle:rollback', ...flags]}]);
  if (!isFinished && hasHistory) output.hint(['Check on it: ', {run: ['status', ...flags]}]);
}
