import {resolve} from 'node:path';
import prettyBytes from 'pretty-bytes';
import type {BackendCapability} from '../backends/contract.js';
import {createError} from '../errors/index.js';
import {count} from '../text/sentence.js';
import {placeFlags} from '../text/suggest.js';
import {findDeployment, readLog, type ReadLogsOptions, type ReadLogsResult} from '../operations/deploy/read-logs.js';
import {
  describeBundle,
  downloadBundleFrom,
  downloadCapabilities,
  readDownloaded,
  type DownloadBundleOptions,
  type DownloadBundleResult,
} from '../operations/download-bundle.js';
import {callBackNow} from '../operations/host.js';
import type {BundleInspection, InspectArchiveOptions, InspectBundleOptions} from '../operations/inspect-bundle.js';
import {inspectFile, type ArchiveInspection} from '../bundle/contents/inspect-archive.js';
import {
  collectDeployments,
  readBundles,
  type ListBundlesResult,
  type ListDeploymentsResult,
} from '../operations/list.js';
import {listRange} from '../operations/pages.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {DataOf} from '../operations/outlet.js';
import {backendTitle} from '../backends/names.js';
import {chooseCapable} from '../operations/choose-backend.js';
import type {ListBundlesOptions, ListDeploymentsOptions, ProjectOptions} from '../operations/options.js';
import {
  knownTarget,
  verifyTarget,
  listTargets,
  targetsIfListed,
  targetStatus,
  withTarget,
  type FoundTarget,
  type ProjectStatus,
  type ProjectStatusOptions,
  type TargetStatus,
} from '../operations/targets.js';
import {resolveStep} from './steps.js';
import type {RunHost} from '../operations/host.js';
import type {PipelineHost} from './host.js';
import {Pipeline, type Step} from './run.js';

/** Chooses a backend and calls it: the whole pipeline of what is one step. */
export function readFrom<Result>(
  options: DataOf<ProjectOptions>,
  host: PipelineHost,
  capabilities: readonly BackendCapability[],
  step: Pick<Step<never, never>, 'name' | 'title'>,
  read: (open: OpenBackend, host: RunHost) => Promise<Result>,
): Promise<Result> {
  return Pipeline.start(host)
    .step(resolveStep((host) => chooseCapable(options, capabilities, host)))
    .step({...step, task: ({open}, host) => read(open, host)})
    .run();
}

export async function listBundles(options: DataOf<ListBundlesOptions>, host: PipelineHost): Promise<ListBundlesResult> {
  const {projectSlug} = options;
  const part = listRange(options);
  const step = {name: 'list', title: 'List the bundles'};
  return readFrom(options, host, ['list'], step, async (open, host) => {
    const {items, total} = await readBundles(open, part);
    host.outlet.title(
      items.length === 0 ? `Found no bundles in ${projectSlug}` : `Found ${count(items.length, 'bundle')}`,
    );
    return {backend: open.backend.name, projectSlug, bundles: items, total};
  });
}

export async function listDeployments(
  options: DataOf<ListDeploymentsOptions>,
  host: PipelineHost,
): Promise<ListDeploymentsResult> {
  const {projectSlug, targetSlug} = options;
  const range = listRange(options);
  const step = {name: 'list', title: `List the deployments to ${targetSlug}`};
  return readFrom(options, host, ['history'], step, async (open, host) => {
    const {items, total} = await collectDeployments(open, targetSlug, range);
    if (range.offset === 0) await verifyTarget(open, targetSlug, items);
    host.outlet.title(
      items.length === 0 ? `Found no deployments to ${targetSlug}` : `Found ${count(items.length, 'deployment')}`,
    );
    return {backend: open.backend.name, projectSlug, targetSlug, deployments: items, total};
  });
}

export async function getProjectStatus(
  options: DataOf<ProjectStatusOptions>,
  host: PipelineHost,
): Promise<ProjectStatus> {
  const {projectSlug, targetSlug, allTargets = targetSlug === undefined} = options;
  const needed = targetSlug === undefined ? (['history', 'targets'] as const) : (['history'] as const);
  const step = {name: 'status', title: `Look at the targets of ${projectSlug}`};
  return readFrom(options, host, needed, step, async (open, host) => {
    const all = targetSlug === undefined ? await listTargets(open) : allTargets && (await targetsIfListed(open));
    const items = all || [await knownTarget(open, targetSlug ?? '')];
    const targets: TargetStatus[] = [];
    for (const item of items) targets.push(await targetStatus(open, item));
    host.outlet.title(
      targets.length === 0 ? `Found no targets of ${projectSlug}` : `Found ${count(targets.length, 'target')}`,
    );
    return {backend: open.backend.name, projectSlug, targets};
  }).catch(withTarget);
}

export async function findTarget(
  options: DataOf<ProjectStatusOptions> & {readonly targetSlug: string},
  host: PipelineHost,
): Promise<FoundTarget> {
  const {projectSlug, targetSlug} = options;
  const {backend, targets} = await getProjectStatus(options, host);
  const [target] = targets;
  if (target?.url !== undefined) return {backend, projectSlug, targetSlug, url: target.url};
  const deployed = target?.live !== undefined || target?.underway !== undefined;
  throw createError(
    'ERR_REJECTED',
    deployed
      ? `The ${backendTitle(backend)} backend does not report the URL of the target "${targetSlug}".`
      : `Nothing is deployed to the target "${targetSlug}" of ${projectSlug}.`,
    {
      suggestions: deployed
        ? [`Look for it on the website of the hosting service.`]
        : [['Run: ', {run: ['bundle:push', ...placeFlags({projectSlug, targetSlug})]}]],
    },
  );
}

export async function downloadBundle(
  options: DataOf<DownloadBundleOptions>,
  host: PipelineHost,
): Promise<DownloadBundleResult> {
  const step = {name: 'download', title: `Download ${describeBundle(options.bundleId)}`};
  return readFrom(options, host, downloadCapabilities(options), step, async (open, host) => {
    const downloaded = await downloadBundleFrom(open, options, host);
    const {bundleId, size, resumedFrom, sha256} = downloaded;
    const rest = resumedFrom === 0 ? '' : `, of which ${prettyBytes(resumedFrom)} earlier`;
    host.outlet.title(
      `Downloaded bundle ${String(bundleId)}: ${prettyBytes(size)}${rest}, sha256 ${sha256.slice(0, 12)}`,
    );
    return downloaded;
  });
}

/** @param path relative to the host's working directory. */
export async function inspectArchive(
  path: string,
  options: DataOf<InspectArchiveOptions>,
  host: PipelineHost,
): Promise<ArchiveInspection> {
  return Pipeline.start(host)
    .step({
      name: 'read',
      title: `Read ${path}`,
      async task(_, host) {
        const result = await inspectFile(resolve(host.cwd, path), options);
        host.outlet.title(`Read ${path}: ${count(result.files.length, 'file')}`);
        return result;
      },
    })
    .run();
}

export async function inspectBundle(
  options: DataOf<InspectBundleOptions>,
  host: PipelineHost,
): Promise<BundleInspection> {
  const step = {name: 'read', title: `Download ${describeBundle(options.bundleId)} and read it`};
  return readFrom(options, host, downloadCapabilities(options), step, async (open, host) => {
    const {result, ...bundle} = await readDownloaded(open, options.bundleId, host, (path) =>
      inspectFile(path, options),
    );
    host.outlet.title(`Read bundle ${String(bundle.bundleId)}: ${count(result.files.length, 'file')}`);
    return {...bundle, ...result};
  });
}

export async function readDeploymentLogs(
  options: DataOf<ReadLogsOptions>,
  host: PipelineHost,
): Promise<ReadLogsResult> {
  const {projectSlug, targetSlug, onLines} = options;
  const step = {name: 'read', title: `Read the log of a deployment to ${targetSlug}`};
  return readFrom(options, host, ['logs', 'history'], step, async (open, host) => {
    const {deployment, bundleId, status} = await findDeployment(open, options);
    const lines: string[] = [];
    let total = 0;
    const take = (more: readonly string[]) => {
      total += more.length;
      if (onLines) callBackNow(() => onLines(more));
      else for (const line of more) lines.push(line);
    };
    const done = await readLog(open, deployment, take, options);
    host.outlet.title(`Read ${count(total, 'line')}${done ? '' : ' so far'}`);
    const {deploymentId} = deployment;
    return {backend: open.backend.name, projectSlug, targetSlug, deploymentId, bundleId, status, lines, done};
  });
}
