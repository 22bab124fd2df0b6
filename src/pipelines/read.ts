import {resolve} from 'node:path';
import prettyBytes from 'pretty-bytes';
import type {BackendSelection} from '../backends/select.js';
import {createError} from '../errors/index.js';
import {count} from '../errors/sentence.js';
import {placeFlags} from '../errors/suggest.js';
import {findDeployment, readLog, type ReadLogsOptions, type ReadLogsResult} from '../operations/deploy/read-logs.js';
import {
  chooseDownloadBackend,
  describeBundle,
  downloadBundleFrom,
  type DownloadBundleOptions,
  type DownloadBundleResult,
} from '../operations/download-bundle.js';
import {callBackNow} from '../operations/host.js';
import {
  inspectFile,
  type ArchiveInspection,
  type BundleInspection,
  type InspectArchiveOptions,
  type InspectBundleOptions,
} from '../operations/inspect-bundle.js';
import {
  collectDeployments,
  listPage,
  namingCapabilities,
  type ListBundlesResult,
  type ListDeploymentsResult,
} from '../operations/list.js';
import {collectPages, listRange} from '../operations/pages.js';
import {openBackend} from '../operations/open-backend.js';
import {chooseCapable, chooseForBundle} from '../operations/choose-backend.js';
import type {ListBundlesOptions, ListDeploymentsOptions} from '../operations/options.js';
import {
  knownTarget,
  listTargets,
  pushCommand,
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
import {made, runPipeline, type PipelineRun} from './run.js';

/** A step that reads something from the chosen backend. */
interface ReadStep<Result> {
  readonly name: string;
  readonly title: string;
  readonly read: (selection: BackendSelection, report: StepReport) => Promise<Result>;
}

/** Chooses a backend and reads something from it: the whole pipeline of what changes nothing. */
async function readFrom<Result>(
  choose: () => Promise<BackendSelection>,
  {name, title, read}: ReadStep<Result>,
  host: PipelineHost,
): Promise<NonNullable<Result>> {
  const run: ResolvedRun & {result?: Result} = {host};
  await runPipeline(run, [
    resolveStep(choose),
    {
      name,
      title,
      task: async (_, report) => {
        run.result = await read(made(run, 'selection'), report);
      },
    },
  ]);
  return made(run, 'result');
}

export async function listBundles(options: ListBundlesOptions, host: PipelineHost): Promise<ListBundlesResult> {
  const {projectSlug} = options;
  const part = listRange(options);
  const read = async ({backend}: BackendSelection, report: StepReport) => {
    const open = await openBackend(backend, report.watch(options), host);
    const {items, total} = await collectPages(part, (range) => listPage(open, range), open.backend);
    report.title = items.length === 0 ? `Found no bundles in ${projectSlug}` : `Found ${count(items.length, 'bundle')}`;
    return {backend, projectSlug, bundles: items, total};
  };
  return readFrom(() => chooseCapable(options, ['list'], host), {name: 'list', title: 'List the bundles', read}, host);
}

export async function listDeployments(
  options: ListDeploymentsOptions,
  host: PipelineHost,
): Promise<ListDeploymentsResult> {
  const {projectSlug, targetSlug} = options;
  const range = listRange(options);
  const read = async ({backend}: BackendSelection, report: StepReport) => {
    const open = await openBackend(backend, report.watch(options), host);
    const {items, total} = await collectDeployments(open, targetSlug, range);
    report.title =
      items.length === 0 ? `Found no deployments to ${targetSlug}` : `Found ${count(items.length, 'deployment')}`;
    return {backend, projectSlug, targetSlug, deployments: items, total};
  };
  return readFrom(
    () => chooseCapable(options, ['history'], host),
    {name: 'list', title: `List the deployments to ${targetSlug}`, read},
    host,
  );
}

export async function getProjectStatus(options: ProjectStatusOptions, host: PipelineHost): Promise<ProjectStatus> {
  const {projectSlug, targetSlug, allTargets = targetSlug === undefined} = options;
  const read = async ({backend}: BackendSelection, report: StepReport) => {
    const open = await openBackend(backend, report.watch(options), host);
    const listed = targetSlug === undefined || (allTargets && open.backend.listTargets !== undefined);
    const items = listed ? await listTargets(open) : [await knownTarget(open, targetSlug)];
    const targets: TargetStatus[] = [];
    for (const item of items) targets.push(await targetStatus(open, item));
    report.title =
      targets.length === 0 ? `Found no targets of ${projectSlug}` : `Found ${count(targets.length, 'target')}`;
    return {backend, projectSlug, targets};
  };
  const needed = targetSlug === undefined ? (['history', 'targets'] as const) : (['history'] as const);
  return readFrom(
    () => chooseCapable(options, needed, host).catch(withTarget),
    {name: 'status', title: `Look at the targets of ${projectSlug}`, read},
    host,
  );
}

/**
 * Finds the URL of a target.
 * @throws RuntimeCliError `ERR_REJECTED` if the server reports none; for everything else a user can cause.
 */
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
      ? `The ${backend} backend does not report the URL of the target "${targetSlug}".`
      : `Nothing is deployed to the target "${targetSlug}" of ${projectSlug}.`,
    {
      suggestions: deployed
        ? [`Look for it on the website of the hosting service.`]
        : [['Run: ', pushCommand({projectSlug, targetSlug})]],
    },
  );
}

export async function downloadBundle(
  options: DownloadBundleOptions,
  host: PipelineHost,
): Promise<DownloadBundleResult> {
  const read = async (selection: BackendSelection, report: StepReport) => {
    const downloaded = await downloadBundleFrom(selection, report.watch(options), host);
    const {bundleId, size, resumedFrom, sha256} = downloaded;
    const rest = resumedFrom === 0 ? '' : `, of which ${prettyBytes(resumedFrom)} earlier`;
    report.title = `Downloaded bundle ${String(bundleId)}: ${prettyBytes(size)}${rest}, sha256 ${sha256.slice(0, 12)}`;
    return downloaded;
  };
  return readFrom(
    () => chooseDownloadBackend(options, host),
    {name: 'download', title: `Download ${describeBundle(options.bundleId)}`, read},
    host,
  );
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
  const command = ['bundle:inspect', options.bundleId, ...placeFlags({projectSlug: options.projectSlug})];
  const read = async (selection: BackendSelection, report: StepReport) => {
    const workspace = await host.createTemporaryDirectory();
    try {
      const output = resolve(workspace.path, 'archive');
      const download = {...report.watch(options), output};
      const {backend, projectSlug, bundleId} = await downloadBundleFrom(selection, download, host);
      const inspection = await inspectFile(output, options);
      report.title = `Read bundle ${String(bundleId)}: ${count(inspection.files.length, 'file')}`;
      return {backend, projectSlug, bundleId, ...inspection};
    } finally {
      await workspace.remove();
    }
  };
  return readFrom(
    () => chooseForBundle(options, ['download', ...namingCapabilities(options.bundleId)], command, host),
    {name: 'read', title: `Download ${describeBundle(options.bundleId)} and read it`, read},
    host,
  );
}

export async function readDeploymentLogs(options: ReadLogsOptions, host: PipelineHost): Promise<ReadLogsResult> {
  const {projectSlug, targetSlug, onLines} = options;
  const read = async ({backend}: BackendSelection, report: StepReport) => {
    const open = await openBackend(backend, report.watch(options), host);
    const {deployment, bundleId, status} = await findDeployment(open, options, host);
    const lines: string[] = [];
    let total = 0;
    const take = (more: readonly string[]) => {
      total += more.length;
      if (onLines) callBackNow(() => onLines(more));
      else lines.push(...more);
    };
    const done = await readLog(open, deployment, take, options);
    report.title = `Read ${count(total, 'line')}${done ? '' : ' so far'}`;
    const {deploymentId} = deployment;
    return {backend, projectSlug, targetSlug, deploymentId, bundleId, status, lines, done};
  };
  return readFrom(
    () => chooseCapable(options, ['logs', 'history'], host),
    {name: 'read', title: `Read the log of a deployment to ${targetSlug}`, read},
    host,
  );
}
