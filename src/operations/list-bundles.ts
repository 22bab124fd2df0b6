import {requestedBundleId, shownUrl} from '../backends/answers.js';
import type {HostBackend} from '../backends/host-backend.js';
import type {BackendCapability, BundleId, BundleItem, DeploymentItem} from '../backends/contract.js';
import {amendError, createError, isRuntimeCliError, type Suggestion} from '../errors/index.js';
import {placeFlags} from '../text/suggest.js';
import {invoke} from './call-backend.js';
import type {OpenBackend} from './open-backend.js';
import {collectPages, everything, listPages, type ListPart} from './pages.js';

async function findLatestBundle(open: OpenBackend): Promise<BundleItem> {
  const {projectSlug} = open;
  const {items} = await readBundles(open);
  const latest = items.find(({status}) => status === 'ready' || status === 'unknown');
  if (latest?.status === 'ready') return latest;
  if (latest !== undefined) {
    const message = `The server does not report whether bundle ${String(latest.bundleId)}, the newest, can be deployed.`;
    throw createError('ERR_RESPONSE_INVALID', message, {suggestions: ['Pass a bundle ID instead of "latest".']});
  }
  const advice = items.length > 0 ? 'Push one with ' : 'Check the name of the project, or push one with ';
  throw createError('ERR_REJECTED', `The project "${projectSlug}" has no bundle that can be deployed.`, {
    suggestions: [[advice, {run: ['bundle:push', ...placeFlags({projectSlug})]}]],
    ...(items.length === 0 && {details: {bundles: []}}),
  });
}

export async function findBundle(open: OpenBackend, bundleId: BundleId): Promise<BundleItem | undefined> {
  for await (const {items} of listPages(everything, (range) => invoke(open, 'listBundles', range))) {
    const found = items.find((item) => item.bundleId === bundleId);
    if (found) return found;
  }
  return undefined;
}

/** The target in `running:TARGET`, which stands for the bundle that it runs. */
export function targetIn(text: BundleId): string | undefined {
  return /^running:(.+)$/s.exec(String(text))?.[1];
}

export function namingCapabilities(bundleId: BundleId | undefined): readonly BackendCapability[] {
  if (bundleId === 'latest') return ['list'];
  return bundleId !== undefined && targetIn(bundleId) !== undefined ? ['history'] : [];
}

/** Resolves a caller's bundle ID: looks up `latest`, and converts any other ID to what the backend accepts. */
export async function resolveBundleId(open: OpenBackend, bundleId: BundleId): Promise<BundleId> {
  return bundleId === 'latest' ? (await findLatestBundle(open)).bundleId : idFor(open.backend, bundleId);
}

/**
 * Refuses what is no ID before anything is sent.
 * @param meant What users may mean by what they typed, which is missing if it may be a secret.
 */
export function verifyId(
  backend: HostBackend,
  bundleId: BundleId,
  meant: (typed: string | undefined) => readonly Suggestion[],
): void {
  try {
    if (bundleId !== 'latest') idFor(backend, bundleId);
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    const typed = error.details?.['bundleId'];
    throw amendError(error, {suggestions: meant(typeof typed === 'string' ? typed : undefined)});
  }
}

export function idFor({name, bundleIds}: HostBackend, bundleId: BundleId): BundleId {
  if (bundleId === '.' || bundleId === '..') {
    throw createError('ERR_OPTION_INVALID', `"${bundleId}" is not a bundle ID.`, {
      suggestions: [['Run ', {run: ['bundle:list']}, ' to list the bundles.']],
      details: {bundleId},
    });
  }
  return bundleIds === 'number' ? requestedBundleId(bundleId, name) : bundleId;
}

/** A part of the bundles of a project, and how many there are, if the server reports it. */
export function readBundles(open: OpenBackend, part = everything) {
  return collectPages(part, (range) => invoke(open, 'listBundles', range), open.backend);
}

/** A part of the deployments to a target. What is skipped is read too: the live one may be there. */
export async function collectDeployments(open: OpenBackend, targetSlug: string, {limit, offset}: ListPart) {
  const {items, total} = await historyPages(open, targetSlug, offset + limit);
  const live = liveDeployment(items);
  return {items: items.slice(offset).map((item) => ({...item, live: item === live})), total};
}

/** The newest deployment that has finished. None if a newer one is unclear, because that may be running. */
export function liveDeployment(items: readonly DeploymentItem[]): DeploymentItem | undefined {
  const ended = items.find((item) => item.status === 'finished' || isUnclear(item));
  return ended?.status === 'finished' ? ended : undefined;
}

/** Whether a row of a history says too little to be passed over as the newest. */
export function isUnclear(item: DeploymentItem): boolean {
  return item.status === 'unknown' || isNameless(item);
}

/** Whether a row of a history has no ID of any kind, so that it may be of any bundle. */
export function isNameless({deployment: {deploymentId}, bundleId}: DeploymentItem): boolean {
  return bundleId === undefined && deploymentId === undefined;
}

/** How many of the newest deployments are looked at to tell what a target runs, and ran before. */
export const recentDeployments = 50;

/** The newest deployments to a target, and how many there are, if the server reports it. */
function historyPages(open: OpenBackend, targetSlug: string, limit: number) {
  return collectPages({limit, offset: 0}, async (range) => {
    const {items, ...page} = await invoke(open, 'listDeployments', {...range, targetSlug});
    const shown = ({url, logUrl, ...item}: DeploymentItem) => ({...item, url: shownUrl(url), logUrl: shownUrl(logUrl)});
    return {...page, items: items.map(shown)};
  });
}

/** The newest deployments to a target: by default enough to tell what it runs, and ran before. */
export async function readHistory(
  open: OpenBackend,
  targetSlug: string,
  limit = recentDeployments,
): Promise<readonly DeploymentItem[]> {
  return (await historyPages(open, targetSlug, limit)).items;
}
