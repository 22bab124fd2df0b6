import type {TargetStatus} from './options.js';
import {shownUrl} from '../../backends/answers.js';
import {isUnderWay} from '../../backends/members.js';
import type {BundleId, ProjectItem, TargetItem} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {amendError, createError, isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../../errors/index.js';
import type {RuntimeCliErrorOptions} from '../../errors/runtime-cli-error.js';
import {listPaths} from '../../text/entry-names.js';
import {suggestNames, meantNames, near, placeFlags} from '../../text/suggest.js';
import {liveDeployment, readHistory} from '../list-bundles.js';
import {allItems} from '../pages.js';
import {invoke, quickLook} from '../call-backend.js';
import {pollUntil} from '../deploy/poll.js';
import type {OpenBackend} from '../open-backend.js';
import type {TargetResult} from '../options.js';

/** Says of a backend that cannot list targets what to pass. */
export function withTarget(error: unknown): never {
  if (!isRuntimeCliError(error) || error.details?.['capability'] !== 'targets') throw error;
  const message = `The ${backendTitle(String(error.details['backend']))} backend cannot list targets.`;
  const suggestions = ['Pass --target SLUG to look at one, or set targetSlug in mycli.config.'];
  throw createError('ERR_CAPABILITY_UNSUPPORTED', message, {suggestions, details: error.details, cause: error});
}

export async function targetStatus(open: OpenBackend, {targetSlug, state, url}: TargetItem): Promise<TargetStatus> {
  const items = await readHistory(open, targetSlug);
  const [newest] = items;
  const live = liveDeployment(items);
  return {
    targetSlug,
    state,
    url: url ?? (live ?? newest)?.url,
    live,
    underway: items.find(({status}) => isUnderWay(status)),
    failed: newest?.status === 'failed' ? newest : undefined,
  };
}

export async function readTargets(open: OpenBackend): Promise<readonly TargetItem[]> {
  const targets = await allItems((range) => invoke(open, 'listTargets', range));
  return targets.map((target) => ({...target, url: shownUrl(target.url)}));
}

/** The targets of a project. Undefined if the backend, the service or the credentials do not allow to list them. */
export async function targetsIfListed(open: OpenBackend): Promise<readonly TargetItem[] | undefined> {
  if (open.backend.listTargets === undefined) return undefined;
  return readTargets(open).catch((error: unknown) => {
    if (isRuntimeCliError(error) && unlisted.has(error.code)) return undefined;
    throw error;
  });
}

/** Looks at the targets until `judge` returns a result, for at most 60 s: lists may be late. A failed look has none. */
export async function watchTargets<Found>(
  open: OpenBackend,
  judge: (targets: readonly TargetItem[] | undefined) => Found | undefined,
): Promise<Found | undefined> {
  const found = await pollUntil<readonly TargetItem[] | undefined, Found | undefined>(open, {
    defaults: {pollInterval: 2, timeout: 60},
    look: (polled) => targetsIfListed(polled).catch(() => undefined),
    judge,
    late: () => undefined,
  });
  open.signal.throwIfAborted();
  return found;
}

const unlisted: ReadonlySet<string> = new Set<ErrorCode>(['ERR_CAPABILITY_UNSUPPORTED', 'ERR_FORBIDDEN']);

export async function knownTarget(open: OpenBackend, targetSlug: string): Promise<TargetItem> {
  const targets = await targetsIfListed(open);
  return targets === undefined ? {targetSlug} : knownAmong(targets, open, targetSlug);
}

/** @throws RuntimeCliError if a target whose history is empty does not exist */
export async function verifyTarget(open: OpenBackend, targetSlug: string, history: readonly unknown[]): Promise<void> {
  if (history.length > 0 || open.backend.listTargets === undefined) return;
  const targets = await quickLook(open, readTargets);
  if (targets !== undefined) knownAmong(targets, open, targetSlug);
}

interface AwaitedTarget {
  readonly targetSlug: string;
  /** Whether it is known to have been there: a new one may not be listed yet. */
  readonly wasThere: boolean;
  /** What would have ended the waiting: `it was ready`. */
  readonly before: string;
  /** Of the error. @default ERR_DEPLOYMENT_FAILED */
  readonly code?: ErrorCode;
}

/** Whether a target is known to be there. @throws RuntimeCliError if it was deleted meanwhile */
export async function findAwaited(open: OpenBackend, awaited: AwaitedTarget): Promise<boolean> {
  const targets = await quickLook(open, targetsIfListed);
  open.signal.throwIfAborted();
  const item = targets?.find(({targetSlug}) => targetSlug === awaited.targetSlug);
  if (targets !== undefined) refuseDeleted(open, item, awaited);
  return awaited.wasThere || item !== undefined;
}

/** @throws RuntimeCliError if a target is deleted, or is about to be, while something waits for it. */
export function refuseDeleted(open: OpenBackend, item: TargetItem | undefined, awaited: AwaitedTarget): void {
  const {targetSlug, wasThere, before, code = 'ERR_DEPLOYMENT_FAILED'} = awaited;
  if (item === undefined ? !wasThere : item.state !== 'deleting') return;
  throw createError(code, `Target ${targetSlug} was deleted before ${before}.`, {
    suggestions: [['Check the targets of the project: ', {run: ['target:list', ...open.flags()]}]],
    details: {targetSlug, state: item?.state},
  });
}

/** Finds a target in a list. `advice`: if a push would not help. @throws RuntimeCliError with the nearest */
export function knownAmong(
  targets: readonly TargetItem[],
  open: OpenBackend,
  targetSlug: string,
  {advice}: {readonly advice?: readonly string[]} = {},
): TargetItem {
  const known = targets.find((item) => item.targetSlug === targetSlug);
  if (known !== undefined) return known;
  const {projectSlug} = open;
  const slugs = targets.map((item) => item.targetSlug);
  if (slugs.length === 0) throw noTargets(open, targetSlug, advice);
  throw createError('ERR_REJECTED', `The project "${projectSlug}" has no target "${targetSlug}".`, {
    suggestions: [
      ...suggestNames(meantTargets(targets, targetSlug)),
      `Its targets: ${listPaths(slugs)}`,
      ...(advice ?? []),
    ],
    details: {targetSlug, targets: slugs},
  });
}

/** The targets that a slug probably stands for: those of that name, then the nearest. `limit`: as for `near`. */
export function meantTargets(targets: readonly TargetItem[], slug: string, limit?: number): readonly string[] {
  const named = targets.filter(({name}) => name?.toLowerCase() === slug.toLowerCase());
  const slugsOf = (items: readonly TargetItem[]) => items.map(({targetSlug}) => targetSlug);
  return [...new Set([...slugsOf(named), ...near(slug, slugsOf(targets), limit)])];
}

/** Warns of a name that nothing has, if others are near. What it names may be missing on purpose. */
export function warnOfNear({host}: OpenBackend, name: string, others: readonly string[]): void {
  // Its own name may still be listed while it is being deleted.
  const meant = near(name, others).filter((other) => other !== name);
  if (meant.length > 0) host.outlet.warn(`Did you mean ${meantNames(meant)} instead of ${name}?`);
}

/** The error for a project without targets: servers answer alike for one that does not exist. */
export function noTargets(
  open: OpenBackend,
  targetSlug: string | undefined,
  advice?: readonly string[],
): RuntimeCliError {
  const push = {
    run: ['bundle:push', ...placeFlags({projectSlug: open.projectSlug, targetSlug: targetSlug ?? 'SLUG'})],
  };
  return emptyProject(open, 'targets', {
    suggestions: advice
      ? ['Check the name of the project.', ...advice]
      : ['Check the name of the project. Its first deployment may create the target:', [push]],
    details: {targetSlug, targets: []},
  });
}

function emptyProject({projectSlug}: OpenBackend, what: string, more: RuntimeCliErrorOptions): RuntimeCliError {
  return createError('ERR_REJECTED', `The project "${projectSlug}" has no ${what}, or does not exist.`, more);
}

/** Whether an error has found nothing in a project, as in one that does not exist. */
function foundNothing({code, details = {}}: RuntimeCliError): boolean {
  const lists = [details['targets'], details['bundles']];
  return code === 'ERR_BUNDLE_UNKNOWN' || lists.some((list) => Array.isArray(list) && list.length === 0);
}

/** The URL of a target in the backend's list of targets; undefined if it has no such list, or reports none. */
export async function listedUrl(open: OpenBackend, targetSlug: string): Promise<string | undefined> {
  return (await targetsIfListed(open))?.find((item) => item.targetSlug === targetSlug)?.url;
}

export interface FoundTarget extends TargetResult {
  /** http(s) URL. */
  readonly url: string;
}

export async function findRunning(
  open: OpenBackend,
  targetSlug: string,
): Promise<{readonly bundleId: BundleId; readonly message?: string | undefined}> {
  const items = await readHistory(open, targetSlug);
  const {bundleId, message} = liveDeployment(items) ?? {};
  if (bundleId !== undefined) return {bundleId, message};
  await verifyTarget(open, targetSlug, items);
  const {projectSlug} = open;
  throw createError(
    'ERR_REJECTED',
    items.length > 0
      ? `The server does not report which bundle the target "${targetSlug}" runs.`
      : `Nothing is deployed to the target "${targetSlug}" of ${projectSlug}.`,
    {suggestions: [['Check its deployments: ', {run: ['bundle:history', ...open.flags(targetSlug)]}]]},
  );
}

/** Says of a project that the credentials do not reach which ones they do. */
export async function explainMissingProject(error: unknown, open: OpenBackend): Promise<unknown> {
  if (!isRuntimeCliError(error)) return error;
  const isEmpty = foundNothing(error);
  const isUnreached = error.code === 'ERR_FORBIDDEN' || error.code === 'ERR_REJECTED';
  if (!isEmpty && !(isUnreached && (error.status === 403 || error.status === 404))) return error;
  const suggestions = describeReached(open, await otherProjects(open));
  if (suggestions.length === 0) return error;
  // Nobody is told to push to a project that is mistyped.
  return amendError(error, isEmpty ? {advice: suggestions} : {suggestions});
}

/**
 * Looks why a list of a project is empty: services answer alike for a project that does not exist.
 * @throws RuntimeCliError if the credentials reach others, but not this one
 */
export async function explainEmpty(open: OpenBackend, what: string): Promise<void> {
  const suggestions = describeReached(open, await otherProjects(open));
  if (suggestions.length > 0) throw emptyProject(open, what, {suggestions});
}

export function readProjects(open: OpenBackend): Promise<readonly ProjectItem[]> {
  return allItems((range) => invoke(open, 'listProjects', range));
}

/**
 * The slugs of the projects that the credentials reach. Undefined if this is one, or nobody knows.
 * @param look how long and how often they are read. @default as what only improves a message
 */
export async function otherProjects(
  open: OpenBackend,
  look: (read: typeof readProjects) => Promise<readonly ProjectItem[] | undefined> = (read) => quickLook(open, read),
): Promise<readonly string[] | undefined> {
  if (open.backend.listProjects === undefined) return undefined;
  const projects = await look(readProjects);
  const slugs = projects?.map(({projectSlug}) => projectSlug);
  return slugs?.includes(open.projectSlug) ? undefined : slugs;
}

/** Which projects the credentials reach instead, in sentences. */
export function describeReached({projectSlug}: OpenBackend, others: readonly string[] = []): readonly string[] {
  if (others.length === 0) return [];
  const reach = `The credentials do not reach a project "${projectSlug}". They reach: ${listPaths(others)}.`;
  return [...suggestNames(near(projectSlug, others), 'the project '), reach];
}
