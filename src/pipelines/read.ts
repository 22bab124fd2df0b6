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
import {openBackend, type OpenBackend} from '../operations/open-backend.js';
import {backendTitle} from '../backends/names.js';
import {chooseCapable} from '../operations/choose-backend.js';
import type {ListBundlesOptions, ListDeploymentsOptions, ProjectOptions} from '../operations/options.js';
import {
  knownTarget,
  listTargets,
  targetStatus,
  withTarget,
  type FoundTarget,
  type ProjectStatus,
  type ProjectStatusOptions,
  type TargetStatus,
} from '../operations/targets.js';
import type {StepReport} from './report.js';
import {resolveStep, type ResolvedRun} from './steps.js';
import type {PipelineHost} from './host.js';
import {made, runPipeline, type PipelineRun, type Step} from './run.js';

/** Chooses a backend and reads something from it: the whole pipeline of what changes nothing. */
async function readFrom<Options extends ProjectOptions, Result>(
  given: Options,
  host: PipelineHost,
  capabilities: readonly BackendCapability[],
  step: Pick<Step<never>, 'name' | 'title'>,
  read: (open: OpenBackend, options: Options, report: StepReport) => Promise<Result>,
): Promise<NonNullable<Result>> {
  const run: ResolvedRun & {result?: Result} = {host};
  const task = async (_: unknown, report: StepReport) => {
    const options = report.watch(given);
    run.result = await read(await openBackend(made(run, 'selection').backend, options, host), options, report);
  };
  await runPipeline(run, [resolveStep(() => chooseCapable(given, capabilities, host)), {...step, task}]);
  return made(run, 'result');
}

export async function listBundles(options: ListBundlesOptions, host: PipelineHost): Promise<ListBundlesResult> {
  const {projectSlug} = options;
  const part = listRange(options);
  const step = {name: 'list', title: 'List the bundles'};
  return readFrom(options, host, ['list'], step, async (open, _, report) => {
    const {items, total} = await readBundles(open, part);
    report.title = items.length === 0 ? `Found no bundles in ${projectSlug}` : `Found ${count(items.length, 'bundle')}`;
    return {backend: open.backend.name, projectSlug, bundles: items, total};
  });
}

export async function listDeployments(
  options: ListDeploymentsOptions,
  host: PipelineHost,
): Promise<ListDeploymentsResult> {
  const {projectSlug, targetSlug} = options;
  const range = listRange(options);
  const step = {name: 'list', title: `List the deployments to ${targetSlug}`};
  return readFrom(options, host, ['history'], step, async (open, _, report) => {
    const {items, total} = await collectDeployments(open, targetSlug, range);
    report.title =
      items.length === 0 ? `Found no deployments to ${targetSlug}` : `Found ${count(items.length, 'deployment')}`;
    return {backend: open.backend.name, projectSlug, targetSlug, deployments: items, total};
  });
}

export async function getProjectStatus(options: ProjectStatusOptions, host: PipelineHost): Promise<ProjectStatus> {
  const {projectSlug, targetSlug, allTargets = targetSlug === undefined} = options;
  const needed = targetSlug === undefined ? (['history', 'targets'] as const) : (['history'] as const);
  const step = {name: 'status', title: `Look at the targets of ${projectSlug}`};
  return readFrom(options, host, needed, step, async (open, _, report) => {
    const listed = targetSlug === undefined || (allTargets && open.backend.listTargets !== undefined);
    const items = listed ? await listTargets(open) : [await knownTarget(open, targetSlug)];
    const targets: TargetStatus[] = [];
    for (const item of items) targets.push(await targetStatus(open, item));
    report.title =
      targets.length === 0 ? `Found no targets of ${projectSlug}` : `Found ${count(targets.length, 'target')}`;
    return {backend: open.backend.name, projectSlug, targets};
  }).catch(withTarget);
}

export async function findTarget(
  options: ProjectStatusOptions & {readonly targetSlug: string},
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
  options: DownloadBundleOptions,
  host: PipelineHost,
): Promise<DownloadBundleResult> {
  const step = {name: 'download', title: `Download ${describeBundle(options.bundleId)}`};
  return readFrom(options, host, downloadCapabilities(options), step, async (open, watched, report) => {
    const downloaded = await downloadBundleFrom(open, watched, host);
    const {bundleId, size, resumedFrom, sha256} = downloaded;
    const rest = resumedFrom === 0 ? '' : `, of which ${prettyBytes(resumedFrom)} earlier`;
    report.title = `Downloaded bundle ${String(bundleId)}: ${prettyBytes(size)}${rest}, sha256 ${sha256.slice(0, 12)}`;
    return downloaded;
  });
}

/** @param path relative to the host's working directory. */
export async function inspectArchive(
  path: string,
  options: InspectArchiveOptions,
  host: PipelineHost,
): Promise<ArchiveInspection> {
  const run: PipelineRun & {result?: ArchiveInspection} = {host};
  await runPipeline(run, [
    {
      name: 'read',
      title: `Read ${path}`,
      task: async (_, report) => {
        run.result = await inspectFile(resolve(host.cwd, path), options);
        report.title = `Read ${path}: ${count(run.result.files.length, 'file')}`;
      },
    },
  ]);
  return made(run, 'result');
}

export async function inspectBundle(options: InspectBundleOptions, host: PipelineHost): Promise<BundleInspection> {
  const step = {name: 'read', title: `Download ${describeBundle(options.bundleId)} and read it`};
  return readFrom(options, host, downloadCapabilities(options), step, async (open, watched, report) => {
    const {result, ...bundle} = await readDownloaded(open, watched, host, (path) => inspectFile(path, options));
    report.title = `Read bundle ${String(bundle.bundleId)}: ${count(result.files.length, 'file')}`;
    return {...bundle, ...result};
  });
}

export async function readDeploymentLogs(options: ReadLogsOptions, host: PipelineHost): Promise<ReadLogsResult> {
  const {projectSlug, targetSlug, onLines} = options;
  const step = {name: 'read', title: `Read the log of a deployment to ${targetSlug}`};
  return readFrom(options, host, ['logs', 'history'], step, async (open, _, report) => {
    const {deployment, bundleId, status} = await findDeployment(open, options, host);
    const lines: string[] = [];
    let total = 0;
    const take = (more: readonly string[]) => {
      total += more.length;
      if (onLines) callBackNow(() => onLines(more));
      else for (const line of more) lines.push(line);
    };
    const done = await readLog(open, deployment, take, options);
    report.title = `Read ${count(total, 'line')}${done ? '' : ' so far'}`;
    const {deploymentId} = deployment;
    return {backend: open.backend.name, projectSlug, targetSlug, deploymentId, bundleId, status, lines, done};
  });
}
