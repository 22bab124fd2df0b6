import prettyBytes from 'pretty-bytes';
import type {PushResult, PushRuntimeBundleBackendOptions} from '../../operations/options.js';
import type {PushPreview} from '../../operations/push/push-runtime-bundle.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundlePushDocument} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {describeAge} from './age.js';
import {afterDeployment, deployCommand} from './next-command.js';
import {describePlannedFiles, plannedDocument} from './plan.js';

/** A push that succeeded. */
export interface PushOutcome {
  readonly result: PushResult;
  /** How long it took, in words. */
  readonly took: string;
}

/** Tells what came of a push and what to do next, and gives the document of `--json`. */
export function renderPush({result, took}: PushOutcome, output: Output, now: Date): JsonDocument {
  const {bundleId, backend, projectSlug, targetSlug, deployed, deploymentId, status} = result;
  output.result(describePush(result, took, now));
  if (targetSlug === undefined) {
    output.result(`Deploy it with: ${deployCommand(bundleId, result)}`);
  } else if (deployed) {
    const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
    output.result(
      status === 'finished'
        ? `It runs on ${targetSlug}.`
        : `Its deployment${id} to ${targetSlug} is ${String(status)}.`,
    );
    for (const line of afterDeployment(status, {backend, projectSlug, targetSlug})) output.result(line);
  }
  return {...result} satisfies Body<BundlePushDocument>;
}

function describePush(result: PushResult, took: string, now: Date): string {
  const {bundleId, projectSlug, backend, pushedAt, archive} = result;
  const [id, place] = [String(bundleId), `${projectSlug} (${backend})`];
  if (pushedAt !== undefined) {
    return `Unchanged since bundle ${id}, pushed ${describeAge(pushedAt, now)} to ${place}: nothing was uploaded`;
  }
  const {format, size, sha256} = archive;
  return `Bundle ${id} was pushed to ${place} in ${took}: ${format} archive, ${prettyBytes(size)}, sha256 ${sha256.slice(0, 12)}`;
}

/** Tells what a push would do, and gives the document of `--json`. */
export function renderPreview(
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
    const next = targetSlug === undefined ? 'nothing would be uploaded' : `it would be deployed to ${targetSlug}`;
    const age = describeAge(unchanged.pushedAt, now);
    output.result(`Nothing was sent: unchanged since bundle ${String(unchanged.bundleId)}, pushed ${age}, ${next}.`);
  } else output.result(`Nothing was sent: this would go to ${backend} as ${format}.`);
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
