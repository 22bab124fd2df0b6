import {callBackend} from '../backends/call.js';
import type {DeploymentItem, ListRange, ListResult} from '../backends/contract.js';
import type {BackendSelection, RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {createError} from '../errors/index.js';
import type {Host} from './host.js';
import {collectPages, listRange} from './list-pages.js';
import {chooseBackend, openBackend, type OpenBackend} from './open-backend.js';
import type {CommonOptions, ConnectionOptions} from './options.js';
import {verifySlugs} from './plan-push.js';

/** Options of `listDeployments`. */
export interface ListDeploymentsOptions extends CommonOptions, ConnectionOptions {
  readonly preference: RuntimeBackendPreference;
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** How many at most; `Infinity`: all of them. @default 25 */
  readonly limit?: number | undefined;
  /** How many of the newest to pass over. @default 0 */
  readonly offset?: number | undefined;
}

/** A part of the deployments to a target. */
export interface ListDeploymentsResult {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** Newest first. */
  readonly deployments: readonly DeploymentItem[];
  /** How many there are in all, when the server tells. */
  readonly total?: number | undefined;
}

/**
 * Lists the deployments to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function listDeployments(options: ListDeploymentsOptions, host: Host): Promise<ListDeploymentsResult> {
  return listDeploymentsOf(await chooseHistoryBackend(options, host), options, host);
}

/** Verifies a list of deployments and chooses its backend; nothing is sent. */
export async function chooseHistoryBackend(options: ListDeploymentsOptions, host: Host): Promise<BackendSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  listRange(options);
  return chooseBackend(options.preference, options, ['history'], host);
}

/** Lists the deployments to a target with the backend that was chosen. */
export async function listDeploymentsOf(
  {backend}: BackendSelection,
  options: ListDeploymentsOptions,
  host: Host,
): Promise<ListDeploymentsResult> {
  const {projectSlug, targetSlug} = options;
  const open = await openBackend(backend, 'deploy', options, host);
  const {items, total} = await collectPages(listRange(options), (range) => historyPage(open, targetSlug, range));
  return {backend, projectSlug, targetSlug, deployments: items, total};
}

/** One page of the deployments to a target. */
export function historyPage(
  {backend, context}: OpenBackend,
  targetSlug: string,
  range: ListRange,
): Promise<ListResult<DeploymentItem>> {
  const list = backend.listDeployments;
  if (!list) throw createError('ERR_CAPABILITY_UNSUPPORTED', `the ${backend.name} backend does not support "history"`);
  return callBackend(backend, 'listing the deployments', context.signal, () =>
    list.call(backend, {...range, targetSlug}, context),
  );
}
