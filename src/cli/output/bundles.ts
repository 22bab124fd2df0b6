import prettyBytes from 'pretty-bytes';
import {projectTitle, type RuntimeBackend} from '../../backends/select.js';
import type {BundleId, BundleItem, DeploymentItem} from '../../backends/contract.js';
import type {ArchiveInspection, PatternMatches} from '../../operations/inspect-bundle.js';
import {categoryWords} from '../../bundle/index.js';
import type {ListBundlesResult, ListDeploymentsResult, ListedDeployment} from '../../operations/list.js';
import type {PruneBundlesResult} from '../../operations/prune-bundles.js';
import type {
  BundleHistoryDocument,
  BundleListDocument,
  BundleInspectDocument,
  BundlePruneDocument,
  StatusDocument,
} from './documents.js';
import type {JsonDocument, Output} from './output.js';
import {count} from '../../errors/sentence.js';
import {chooseColumns, printTable, type Column, describeAge} from './table.js';
import {shownUrl} from '../../backends/answers.js';
import type {ProjectStatus, TargetStatus} from '../../operations/targets.js';

export const bundleColumns: readonly Column<BundleItem>[] = [
  {name: 'id', value: ({bundleId}) => bundleId},
  {name: 'status', value: ({status}) => status},
  {name: 'created', value: ({createdAt}) => createdAt, time: true},
  {name: 'by', value: ({createdBy}) => createdBy},
  {name: 'targets', value: ({inUseBy}) => inUseBy?.join(', ')},
  {name: 'message', value: ({message}) => message, flexible: 'cut'},
];

export const deploymentColumns: readonly Column<ListedDeployment>[] = [
  {name: 'bundle', value: ({bundleId}) => bundleId},
  {name: 'status', value: ({status, live}) => (live ? `${status}, live` : status)},
  {name: 'created', value: ({createdAt}) => createdAt, time: true},
  {name: 'by', value: ({createdBy}) => createdBy},
  {name: 'deployment', value: ({deployment}) => deployment.deploymentId, extra: true},
  {name: 'message', value: ({message}) => message, flexible: 'cut'},
];

export function renderBundles(
  result: ListBundlesResult,
  columns: readonly Column<BundleItem>[],
  output: Output,
): JsonDocument {
  const {bundles, total} = result;
  // Servers answer alike for both.
  if (bundles.length === 0 && !total)
    output.info('The project is empty, or does not exist: check its name if you expected bundles.');
  if (bundles.length > 0) printTable(bundles, columns, output);
  tellRest(bundles.length, total, output);
  return {...result} satisfies BundleListDocument;
}

/** A deployment as programs get it. Its reference is only useful to its backend; its ID is useful to everyone. */
export function listedDeployment({deployment, ...item}: DeploymentItem) {
  return {deploymentId: deployment.deploymentId, ...item};
}

export function renderDeployments(
  result: ListDeploymentsResult,
  columns: readonly Column<ListedDeployment>[],
  output: Output,
): JsonDocument {
  const {deployments, total} = result;
  if (deployments.length > 0) printTable(deployments, columns, output);
  tellRest(deployments.length, total, output);
  return {
    ...result,
    deployments: deployments.map((item) => ({...listedDeployment(item), live: item.live})),
  } satisfies BundleHistoryDocument;
}

/** `Delete bundles 1, 2 of shop?` */
export function deletionQuestion(ids: readonly BundleId[], projectSlug: string, backend: RuntimeBackend): string {
  return `Delete ${ids.length === 1 ? 'bundle' : 'bundles'} ${ids.join(', ')} of ${projectTitle(projectSlug, backend)}?`;
}

export function renderPrunable(bundles: readonly BundleItem[], output: Output): void {
  printTable(bundles, chooseColumns(bundleColumns), output);
}

export function renderPruned(result: PruneBundlesResult, output: Output): JsonDocument {
  const {dryRun, found, deleted, kept, projectSlug} = result;
  if (found.length === 0) output.outcome(`Nothing to prune in ${projectSlug}: ${count(kept, 'bundle')} kept.`);
  else if (dryRun) {
    renderPrunable(found, output);
    output.outcome(`Would delete ${count(found.length, 'bundle')} of ${projectSlug} and keep ${String(kept)}.`);
  } else {
    const spared = found.length - deleted.length;
    output.outcome(`Deleted ${count(deleted.length, 'bundle')} of ${projectSlug} and kept ${String(kept + spared)}.`);
  }
  return {...result} satisfies BundlePruneDocument;
}

function tellRest(shown: number, total = 0, output: Output): void {
  if (shown >= total) return;
  if (shown === 0) {
    output.info(`Lower --offset: there are ${String(total)} in all.`);
    return;
  }
  output.info(`Showing ${String(shown)} of ${String(total)}. Pass --offset to skip the newest, or --all to show all.`);
}

export const fileColumns: readonly Column<ArchiveInspection['files'][number]>[] = [
  {name: 'category', value: ({category}) => category && categoryWords[category]},
  {name: 'size', value: ({size}) => prettyBytes(size)},
  {
    name: 'path',
    value: ({path, linkTarget}) => (linkTarget === undefined ? path : `${path} -> ${linkTarget}`),
    flexible: 'wrap',
  },
];

export function renderInspection(
  inspection: ArchiveInspection,
  columns: typeof fileColumns,
  output: Output,
): JsonDocument {
  const {format, size, sha256, rootDir, configPath, config, matches, files, problems} = inspection;
  output.result(`format   ${format}`);
  output.result(`size     ${prettyBytes(size)}`);
  output.result(`sha256   ${sha256}`);
  if (rootDir !== undefined) output.result(`root     ${rootDir}`);
  if (configPath !== undefined) output.result(`config   ${configPath}`);
  if (config !== undefined) {
    for (const line of JSON.stringify(config, undefined, 2).split('\n')) output.result(`  ${line}`);
  }
  for (const line of [
    ...describeMatches('ssrOnly', matches.ssrOnly),
    ...describeMatches('ssrShared', matches.ssrShared),
  ]) {
    output.result(line);
  }
  output.result('');
  printTable(files, columns, output);
  for (const problem of problems) output.outcome(`Problem: ${problem}`);
  if (config === undefined)
    output.info('A v1 archive does not say which of its files are server-only or shared. One pushed with --v2 does.');
  return {...inspection} satisfies BundleInspectDocument;
}

function describeMatches(setting: string, patterns: readonly PatternMatches[]): readonly string[] {
  return patterns.map(({pattern, files}) => `${setting.padEnd(9)}  ${pattern}  (${count(files, 'file')})`);
}

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
  } satisfies StatusDocument;
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
