import {resolve} from 'node:path';
import type {
  BundleInspection,
  DownloadBundleOptions,
  DownloadBundleResult,
  InspectArchiveOptions,
  InspectBundleOptions,
  ListBundlesOptions,
  ListBundlesResult,
  ListDeploymentsOptions,
  ListDeploymentsResult,
} from '../operations/bundle-options.js';
import type {ProjectStatus, ProjectStatusOptions} from '../operations/targets/options.js';
import prettyBytes from 'pretty-bytes';
import {createError} from '../errors/index.js';
import {count} from '../text/sentence.js';
import {placeFlags} from '../text/suggest.js';
import {
  describeBundle,
  downloadBundleFrom,
  downloadCapabilities,
  readDownloaded,
} from '../operations/download-bundle.js';
import {inspectFile, type ArchiveInspection} from '../bundle/contents/bundle-contents.js';
import {collectDeployments, readBundles} from '../operations/list-bundles.js';
import {listRange} from '../operations/pages.js';
import {backendTitle} from '../backends/names.js';
import {sideBySide} from '../operations/side-by-side.js';
import {
  explainEmpty,
  knownTarget,
  noTargets,
  verifyTarget,
  readTargets,
  targetsIfListed,
  targetStatus,
  withTarget,
  type FoundTarget,
} from '../operations/targets/find-targets.js';
import type {PipelineHost} from './host.js';
import {runPipeline, type Step} from './run.js';
import {withBackend} from './steps.js';

export async function listBundles(options: ListBundlesOptions, host: PipelineHost): Promise<ListBundlesResult> {
  const part = listRange(options);
  return withBackend(options, host, {
    needs: ['list'],
    name: 'list',
    title: 'List the bundles',
    async run(open, outlet) {
      const {items, total} = await readBundles(open, part);
      if (items.length === 0 && part.offset === 0) await explainEmpty(open, 'bundles');
      outlet.title(`Found ${count(items.length, 'bundle')} of ${open.projectSlug}`);
      return {...open.project, bundles: items, total};
    },
  });
}

export async function listDeployments(
  options: ListDeploymentsOptions,
  host: PipelineHost,
): Promise<ListDeploymentsResult> {
  const {targetSlug} = options;
  const range = listRange(options);
  return withBackend(options, host, {
    needs: ['history'],
    name: 'list',
    title: `List the deployments to ${targetSlug}`,
    async run(open, outlet) {
      const {items, total} = await collectDeployments(open, targetSlug, range);
      if (range.offset === 0) await verifyTarget(open, targetSlug, items);
      outlet.title(`Found ${count(items.length, 'deployment')} to ${targetSlug} of ${open.projectSlug}`);
      return {...open.project, targetSlug, deployments: items, total};
    },
  });
}

export async function getProjectStatus(options: ProjectStatusOptions, host: PipelineHost): Promise<ProjectStatus> {
  const {projectSlug, targetSlug, allTargets = targetSlug === undefined} = options;
  const needed = targetSlug === undefined ? (['history', 'targets'] as const) : (['history'] as const);
  return withBackend(options, host, {
    needs: needed,
    name: 'status',
    title: `Look at the targets of ${projectSlug}`,
    async run(open, outlet) {
      const all = targetSlug === undefined ? await readTargets(open) : allTargets && (await targetsIfListed(open));
      if (all && all.length === 0) throw noTargets(open, targetSlug);
      const items = all || [await knownTarget(open, targetSlug ?? '')];
      let seen = 0;
      const targets = await sideBySide(items, async (item) => {
        const status = await targetStatus(open, item);
        outlet.title(`Looked at ${String((seen += 1))} of ${count(items.length, 'target')}`);
        return status;
      });
      outlet.title(`Found ${count(targets.length, 'target')} of ${projectSlug}`);
      return {...open.project, targets};
    },
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
  if (target?.live === undefined && target?.underway === undefined)
    throw createError('ERR_REJECTED', `Nothing is deployed to the target "${targetSlug}" of ${projectSlug}.`, {
      suggestions: [['Run: ', {run: ['bundle:push', ...placeFlags({projectSlug, targetSlug})]}]],
    });
  const message = `The ${backendTitle(backend)} backend does not report the URL of the target "${targetSlug}".`;
  throw createError('ERR_REJECTED', message, {suggestions: ['Look for it on the website of the hosting service.']});
}

export async function downloadBundle(
  options: DownloadBundleOptions,
  host: PipelineHost,
): Promise<DownloadBundleResult> {
  return withBackend(options, host, {
    needs: downloadCapabilities(options.bundleId),
    name: 'download',
    title: `Download ${describeBundle(options.bundleId)}`,
    async run(open, outlet) {
      const downloaded = await downloadBundleFrom(open, options);
      const {bundleId, size, resumedFrom, sha256} = downloaded;
      const rest = resumedFrom === 0 ? '' : `, of which ${prettyBytes(resumedFrom)} earlier`;
      outlet.title(`Downloaded bundle ${String(bundleId)}: ${prettyBytes(size)}${rest}, sha256 ${sha256.slice(0, 12)}`);
      return downloaded;
    },
  });
}

/** @param path relative to the host's working directory. */
export async function inspectArchive(
  path: string,
  options: InspectArchiveOptions,
  host: PipelineHost,
): Promise<ArchiveInspection> {
  const read: Step = {
    name: 'read',
    title: `Read ${path}`,
    async run(_, {cwd, outlet}) {
      const result = await inspectFile(resolve(cwd, path), options);
      outlet.title(`Read ${path}: ${count(result.files.length, 'file')}`);
      return {result};
    },
  };
  const {result} = await runPipeline([read], {}, host);
  return result as ArchiveInspection;
}

export async function inspectBundle(options: InspectBundleOptions, host: PipelineHost): Promise<BundleInspection> {
  return withBackend(options, host, {
    needs: downloadCapabilities(options.bundleId),
    name: 'read',
    title: `Download ${describeBundle(options.bundleId)} and read it`,
    async run(open, outlet) {
      const {result, ...bundle} = await readDownloaded(open, options.bundleId, (path) => inspectFile(path, options));
      outlet.title(`Read bundle ${String(bundle.bundleId)}: ${count(result.files.length, 'file')}`);
      return {...bundle, ...result};
    },
  });
}
