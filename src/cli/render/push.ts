import prettyBytes from 'pretty-bytes';
import type {PushOutcome} from '../../tasks/push-tasks.js';
import type {JsonDocument} from '../command-context.js';
import type {Body, BundlePushDocument} from '../documents.js';
import type {Output} from '../output/output.js';
import {afterDeployment, deployCommand} from './next-command.js';
import {describePlannedFiles, plannedDocument} from './plan.js';

/** Tells what a push has come to and what to do next, and gives the document of `--json`. */
export function renderPush({plan, result, took}: PushOutcome, output: Output): JsonDocument {
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
  output.result(
    `Bundle ${String(bundleId)} was pushed to ${projectSlug} (${backend}) in ${took}: ` +
      `${archive.format} archive, ${prettyBytes(archive.size)}, sha256 ${archive.sha256.slice(0, 12)}`,
  );
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
