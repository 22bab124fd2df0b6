import prettyBytes from 'pretty-bytes';
import {categoryOf, type BundlePlan} from '../../bundle/index.js';
import {commandLine} from '../../errors/suggest.js';
import type {BuildBundleResult} from '../../operations/build-bundle.js';
import type {PushResult, PushRuntimeBundleBackendOptions} from '../../operations/options.js';
import type {NextSteps} from '../../operations/deploy/rollback-bundle.js';
import type {PushPreview} from '../../operations/push/plan-push.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundlePushDocument, BundleBuildDocument} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {afterDeployment, deployCommand} from './deployment.js';
import {tableLines} from './table.js';

/** A push that succeeded. */
interface PushOutcome {
  readonly result: PushResult;
  readonly next: NextSteps;
  /** How long it took, in words. */
  readonly took: string;
}

/** Tells what came of a push and what to do next, and gives the document of `--json`. */
export function renderPush({result, next, took}: PushOutcome, output: Output, now: Date): JsonDocument {
  const {bundleId, backend, projectSlug, targetSlug, deployed, deploymentId, status} = result;
  output.result(describePush(result, took, now));
  if (targetSlug === undefined) {
    output.result(`Deploy it: ${deployCommand(bundleId, result, next.commandFlags)}`);
  } else if (deployed) {
    const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
    output.result(
      status === 'finished'
        ? `Deployed to ${targetSlug}.`
        : `The deployment${id} to ${targetSlug} is ${String(status).replace('_', ' ')}.`,
    );
    for (const line of afterDeployment(status, {backend, projectSlug, targetSlug}, next)) output.result(line);
  }
  return {...result} satisfies Body<BundlePushDocument>;
}

function describePush(result: PushResult, took: string, now: Date): string {
  const {bundleId, projectSlug, backend, pushedAt, archive} = result;
  const [id, place] = [String(bundleId), `${projectSlug} (${backend})`];
  if (pushedAt !== undefined) {
    return `Nothing was uploaded: unchanged since bundle ${id}, pushed to ${place} ${describeAge(pushedAt, now)}.`;
  }
  const {format, size, sha256} = archive;
  return `Pushed bundle ${id} to ${place} in ${took}: ${format} archive, ${prettyBytes(size)}, sha256 ${sha256.slice(0, 12)}`;
}

/** Tells what a push would do, and gives the document of `--json`. */
export function renderPushPreview(
  {content, selection, format, unchanged}: PushPreview,
  {
    projectSlug,
    targetSlug,
    ifChanged,
  }: Pick<PushRuntimeBundleBackendOptions, 'projectSlug' | 'targetSlug' | 'ifChanged'>,
  output: Output,
  now: Date,
): JsonDocument {
  const {backend} = selection;
  if (content.kind === 'build') for (const line of describePlannedFiles(content.plan)) output.result(line);
  if (unchanged) {
    const next = targetSlug === undefined ? 'Nothing would be uploaded.' : `It would be deployed to ${targetSlug}.`;
    const age = describeAge(unchanged.pushedAt, now);
    output.result(`Dry run: unchanged since bundle ${String(unchanged.bundleId)}, pushed ${age}. ${next}`);
  } else output.result(`Dry run: this would be pushed to ${backend} as ${format}.`);
  return {
    dryRun: true,
    backend,
    projectSlug,
    targetSlug,
    ...(content.kind === 'build' ? plannedDocument(content.plan) : {archive: content.bundle.path}),
    format,
    ...(ifChanged && {unchanged: unchanged !== undefined}),
    ...(unchanged && {bundleId: unchanged.bundleId, pushedAt: unchanged.pushedAt}),
  } satisfies Body<BundlePushDocument>;
}

/** Tells what a build would contain, and gives the document of `--json`. */
export function renderBuildPreview(plan: BundlePlan, output: Output): JsonDocument {
  for (const line of describePlannedFiles(plan)) output.result(line);
  return {dryRun: true, ...plannedDocument(plan)} satisfies Body<BundleBuildDocument>;
}

/** Tells what a build has made, and gives the document of `--json`. */
export function renderBuild(
  {bundle, manifest, warnings}: BuildBundleResult,
  commandFlags: readonly string[],
  output: Output,
): JsonDocument {
  const {format, path, size, sha256, contentSha256, message, rootDir, configPath, matchMode, config, files} = bundle;
  output.result(path);
  output.result(`sha256 ${sha256}`);
  output.result(`Push it: ${commandLine('bundle:push', '--archive', path, ...commandFlags)}`);
  return {
    archive: {format, path, manifest, size, sha256, contentSha256, files: files.length},
    message,
    rootDir,
    configPath,
    matchMode,
    config,
    warnings,
  } satisfies Body<BundleBuildDocument>;
}

/** What a dry run lists: each file with its size and what it is for. */
function describePlannedFiles({files}: Pick<BundlePlan, 'files'>): readonly string[] {
  return tableLines(
    ['CATEGORY', 'SIZE', 'PATH'],
    files.map((file) => [categoryOf(file), prettyBytes(file.size), file.path]),
  );
}

/** The same for programs, with the configuration that would be written. */
function plannedDocument(plan: BundlePlan) {
  const {format, buildDirectory, rootDir, configPath, matchMode, message, config, totalBytes, sources} = plan;
  const files = plan.files.map((file) => ({path: file.path, size: file.size, category: categoryOf(file)}));
  return {format, buildDirectory, rootDir, configPath, matchMode, message, config, sources, totalBytes, files};
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** How long ago something was, for people: `3 hours ago`. What lies ahead, as clocks differ, is `now`. */
export function describeAge(time: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(time)) / 1000));
  const [unit, length] = units.find(([, size]) => seconds >= size) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat('en', {numeric: 'auto'}).format(-Math.floor(seconds / length), unit);
}
