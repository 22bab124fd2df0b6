import type {PushResult} from '../../operations/options.js';
import type {PushOutcome} from '../../tasks/push-tasks.js';
import type {JsonDocument} from '../command-context.js';
import type {Body, BundlePushDocument} from '../documents.js';
import type {Output} from '../output/output.js';
import {describeAge} from './age.js';
import {describePlannedFiles, plannedDocument} from './plan.js';

/** Tells what a push has come to and what to do next, and gives the document of `--json`. */
export function renderPush(outcome: PushOutcome, output: Output, now: Date): JsonDocument {
  const {result} = outcome;
  if (!result) return renderDryRun(outcome, output, now);
  const {bundleId, projectSlug, targetSlug, backend, deployed, deploymentId, status} = result;
  output.result(describePush(result, now));
  if (targetSlug === undefined) {
    output.result(
      `Deploy it with: mycli bundle:deploy ${String(bundleId)} --project ${projectSlug} --target TARGET --runtime-backend ${backend}`,
    );
  } else if (deployed) {
    const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
    output.result(
      status === 'finished'
        ? `It runs on ${targetSlug}.`
        : `Its deployment${id} to ${targetSlug} is ${String(status)}.`,
    );
  }
  return {...result} satisfies Body<BundlePushDocument>;
}

function describePush({bundleId, projectSlug, backend, pushedAt, archive}: PushResult, now: Date): string {
  const [id, place] = [String(bundleId), `${projectSlug} (${backend})`];
  return pushedAt === undefined
    ? `Bundle ${id} was pushed to ${place}, sha256 ${archive.sha256}`
    : `Unchanged since bundle ${id}, pushed ${describeAge(pushedAt, now)} to ${place}: nothing was uploaded`;
}

function renderDryRun({plan, unchanged}: PushOutcome, output: Output, now: Date): JsonDocument {
  const {content, selection, format, options} = plan;
  const {projectSlug, targetSlug, ifChanged} = options;
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
