import type {DeploymentItem} from '../../backends/contract.js';
import {shownUrl} from '../../backends/answers.js';
import type {ProjectStatus, TargetStatus} from '../../operations/targets.js';
import type {Body, StatusDocument} from './documents.js';
import type {JsonDocument, Output} from './output.js';
import {listedDeployment} from './bundles.js';
import {describeAge} from './table.js';

/** Shows what the targets of a project run. Returns the document of `--json`. */
export function renderStatus(status: ProjectStatus, output: Output): JsonDocument {
  const {projectSlug, targets} = status;
  // Users read terminals; programs that read pipes need exact times.
  const when = (time: string) => (output.width === Number.POSITIVE_INFINITY ? time : describeAge(time));
  for (const [index, target] of targets.entries()) {
    if (index > 0) output.result('');
    output.result(target.targetSlug);
    for (const line of targetLines(target, when)) output.outcome(`  ${line}`, '    ');
  }
  if (targets.length === 0) output.outcome(`The project ${projectSlug} has no targets, or does not exist.`);
  return {
    ...status,
    targets: targets.map(({live, underway, failed, ...target}) => ({
      ...target,
      live: live && listedDeployment(live),
      underway: underway && listedDeployment(underway),
      failed: failed && listedDeployment(failed),
    })),
  } satisfies Body<StatusDocument>;
}

function targetLines({url, live, underway, failed}: TargetStatus, when: (time: string) => string): readonly string[] {
  const log = shownUrl(failed?.logUrl);
  return [
    ...(live === undefined ? ['Nothing is live.'] : [`Live: ${describe(live, when)}`]),
    ...(live === undefined || url === undefined ? [] : [`URL: ${url}`]),
    ...(underway === undefined
      ? []
      : [`Deploying: ${describe(underway, when)} (${underway.status.replace('_', ' ')})`]),
    ...(failed === undefined ? [] : [`Failed: ${describe(failed, when)}`]),
    ...(failed?.description === undefined ? [] : [`  ${failed.description.replaceAll(/\s+/g, ' ').trim()}`]),
    ...(log === undefined ? [] : [`  Log: ${log}`]),
  ];
}

/** `bundle 3 "main: 1a2b3c", 2 hours ago, by jane` */
function describe({bundleId, message, createdAt, createdBy}: DeploymentItem, when: (time: string) => string): string {
  const bundle = bundleId === undefined ? 'an unknown bundle' : `bundle ${String(bundleId)}`;
  return [
    `${bundle}${message === undefined ? '' : ` "${message.replaceAll(/\s+/g, ' ')}"`}`,
    ...(createdAt === undefined ? [] : [when(createdAt)]),
    ...(createdBy === undefined ? [] : [`by ${createdBy}`]),
  ].join(', ');
}
