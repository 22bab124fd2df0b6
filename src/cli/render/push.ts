import type {PushOutcome} from '../../tasks/push-tasks.js';
import type {JsonDocument} from '../command-context.js';
import type {Body, BundlePushDocument} from '../documents.js';
import type {Output} from '../output/output.js';
import {describePlannedFiles, plannedDocument} from './plan.js';

/** Tells what a push has come to and what to do next, and gives the document of `--json`. */
export function renderPush({plan, result}: PushOutcome, output: Output): JsonDocument {
  const {projectSlug, targetSlug} = plan.options;
  if (!result) {
    const {content, selection, format} = plan;
    if (content.kind === 'build') for (const line of describePlannedFiles(content.plan)) output.result(line);
    output.result(`Nothing was sent: this would go to ${selection.backend} as ${format}.`);
    const content_ = content.kind === 'build' ? plannedDocument(content.plan) : {archive: content.bundle.path};
    const planned = {dryRun: true, backend: selection.backend, projectSlug, targetSlug, ...content_, format} as const;
    return planned satisfies Body<BundlePushDocument>;
  }
  const {bundleId, backend, deployed, deploymentId, status, archive} = result;
  output.result(`Bundle ${String(bundleId)} was pushed to ${projectSlug} (${backend}), sha256 ${archive.sha256}`);
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
