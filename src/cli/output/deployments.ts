import prettyBytes from 'pretty-bytes';
import {categoryOf, categoryWords, type BundlePlan} from '../../bundle/index.js';
import {projectTitle, type RuntimeBackend} from '../../backends/select.js';
import type {BuildBundleResult} from '../../operations/build-bundle.js';
import type {PushResult, PushRuntimeBundleBackendOptions} from '../../operations/push/options.js';
import type {PushPreview} from '../../operations/push/plan-push.js';
import type {BundlePushDocument, BundleBuildDocument} from './documents.js';
import type {JsonDocument, Output} from './output.js';
import {describeAge, printTable, type Column} from './table.js';
import type {BundleId, DeploymentStatus} from '../../backends/contract.js';
import {placeFlags} from '../../errors/suggest.js';
import type {CommandToRun, Suggestion} from '../../errors/suggestion.js';
import type {RollbackBundleResult} from '../../operations/deploy/rollback-bundle.js';
import type {NextSteps} from '../../pipelines/next-steps.js';
import type {DeployBundleResult} from '../../operations/options.js';

export function renderPush({result, next, took}: Outcome<PushResult>, output: Output): JsonDocument {
  const {bundleId, backend, projectSlug, targetSlug, deployed, deploymentId, status} = result;
  output.outcome(describePush(result, took));
  if (targetSlug === undefined) {
    output.hint(['Deploy it: ', deployCommand(bundleId, result, next.commandFlags)]);
  } else if (deployed) {
    const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
    output.outcome(
      status === 'finished'
        ? `Deployed to ${targetSlug}.`
        : `The deployment${id} to ${targetSlug} is ${String(status).replace('_', ' ')}.`,
    );
    for (const line of afterDeployment(status, {backend, projectSlug, targetSlug}, next)) output.hint(line);
  }
  renderUrl(result, output);
  return {...result} satisfies BundlePushDocument;
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
): JsonDocument {
  const {backend} = selection;
  const planned = content.kind === 'build' ? plannedDocument(content.plan) : {archive: content.bundle.path};
  if ('files' in planned) listFiles(planned.files, output);
  if (unchanged) {
    const next = targetSlug === undefined ? 'Nothing would be uploaded.' : `It would be deployed to ${targetSlug}.`;
    const age = describeAge(unchanged.pushedAt);
    output.outcome(`Dry run: unchanged since bundle ${String(unchanged.bundleId)}, pushed ${age}. ${next}`);
  } else {
    const deployed = targetSlug === undefined ? '' : ` and deployed to ${targetSlug}`;
    output.outcome(`Dry run: this would be pushed to ${projectTitle(projectSlug, backend)}${deployed}.`);
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
  } satisfies BundlePushDocument;
}

export function renderBuildPreview(plan: BundlePlan, output: Output): JsonDocument {
  const planned = plannedDocument(plan);
  listFiles(planned.files, output);
  return {dryRun: true, ...planned} satisfies BundleBuildDocument;
}

export function renderBuild(
  {bundle, manifest, warnings}: BuildBundleResult,
  commandFlags: readonly string[],
  output: Output,
): JsonDocument {
  const {format, path, size, sha256, contentSha256, files} = bundle;
  output.result(path);
  output.result(`sha256 ${sha256}`);
  output.hint(['Push it: ', {run: ['bundle:push', '--archive', path, ...commandFlags]}]);
  return {
    archive: {format, path, manifest, size, sha256, contentSha256, files: files.length},
    message: bundle.message,
    rootDir: bundle.rootDir,
    configPath: bundle.configPath,
    matchMode: bundle.matchMode,
    config: bundle.config,
    provenance: bundle.provenance,
    warnings,
  } satisfies BundleBuildDocument;
}

type PlannedFiles = ReturnType<typeof plannedDocument>['files'];

/** How many files a dry run lists. `--json` has them all. */
const listedFiles = 20;

function listFiles(files: PlannedFiles, output: Output): void {
  printTable(files.slice(0, listedFiles), plannedColumns, output);
  const more = files.length - listedFiles;
  if (more > 0) output.result(`... and ${String(more)} more ${more === 1 ? 'file' : 'files'}; --json lists all.`);
}

const plannedColumns: readonly Column<PlannedFiles[number]>[] = [
  {name: 'category', value: ({category}) => categoryWords[category]},
  {name: 'size', value: ({size}) => prettyBytes(size)},
  {name: 'path', value: ({path}) => path, flexible: 'wrap'},
];

/** The same for programs, plus the configuration that would be written. */
function plannedDocument({files, ...plan}: BundlePlan) {
  const {format, buildDirectory, rootDir, configPath, matchMode, message, config, sources, provenance} = plan;
  return {
    format,
    buildDirectory,
    rootDir,
    configPath,
    matchMode,
    message,
    config,
    sources,
    provenance,
    totalBytes: plan.totalBytes,
    files: files.map((file) => ({path: file.path, size: file.size, category: categoryOf(file)})),
  };
}

export interface Outcome<Result> {
  readonly result: Result;
  readonly next: NextSteps;
  /** How long it took, in words. */
  readonly took: string;
}

export function renderDeployment({result, took, next}: Outcome<DeployBundleResult>, output: Output): void {
  output.outcome(describeOutcome(result, took));
  for (const line of afterDeployment(result.status, result, next)) output.hint(line);
  renderUrl(result, output);
}

/** `Deployed bundle 42 to staging of shop in 12.3 s.` */
function describeOutcome(result: DeployBundleResult, took: string): string {
  const {bundleId, targetSlug, projectSlug, backend, status, deploymentId} = result;
  const where = `${targetSlug} of ${projectTitle(projectSlug, backend)}`;
  if (status === 'finished') return `Deployed bundle ${String(bundleId)} to ${where} in ${took}.`;
  const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
  return `The deployment${id} of bundle ${String(bundleId)} to ${where} is ${status.replace('_', ' ')}.`;
}

export function renderRollback(
  {result, took, next: {commandFlags}}: Outcome<RollbackBundleResult>,
  output: Output,
): void {
  const {rolledBackFrom} = result;
  output.outcome(describeOutcome(result, took));
  if (rolledBackFrom !== undefined)
    output.hint(['Undo: ', {run: ['bundle:deploy', rolledBackFrom, ...placeFlags(result, commandFlags)]}]);
  renderUrl(result, output);
}

/** Shows where it runs: the last line, alone, for people and for `tail -1`. */
export function renderUrl({url}: {readonly url?: string | undefined}, output: Output): void {
  if (url !== undefined) output.result(url, {bold: true});
}

/** Where a bundle is or can be deployed. */
interface DeployedTo {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
}

/** The command to deploy an uploaded bundle. The user must replace `TARGET`. */
export function deployCommand(
  bundleId: BundleId,
  where: Omit<DeployedTo, 'targetSlug'>,
  commandFlags?: readonly string[],
): CommandToRun {
  return {run: ['bundle:deploy', bundleId, ...placeFlags({...where, targetSlug: 'TARGET'}, commandFlags)]};
}

/** What to do after a deployment: roll back once it has finished, if possible, or check on it before. */
export function afterDeployment(
  status: DeploymentStatus | undefined,
  where: DeployedTo,
  {commandFlags, canRollBack, hasHistory}: NextSteps,
): readonly Suggestion[] {
  const flags = placeFlags(where, commandFlags);
  if (status === 'finished') return canRollBack ? [['Roll back: ', {run: ['bundle:rollback', ...flags]}]] : [];
  return hasHistory ? [['Check on it: ', {run: ['status', ...flags]}]] : [];
}
