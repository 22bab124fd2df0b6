import type {DeploymentItem, ListRange, ListResult} from '../backends/contract.js';
import type {RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import type {Host} from './host.js';
import {invoke, type OpenBackend} from './open-backend.js';
import type {CommonOptions, ConnectionOptions} from './options.js';
import {runList} from './run-list.js';

/** Options of `listDeployments`. */
export interface ListDeploymentsOptions extends CommonOptions, ConnectionOptions {
  readonly preference: RuntimeBackendPreference;
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** Maximum number of entries; `Infinity` for all. @default 25 */
  readonly limit?: number | undefined;
  /** Number of newest entries to skip. @default 0 */
  readonly offset?: number | undefined;
}

/** One page of a target's deployments. */
export interface ListDeploymentsResult {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** Newest first. */
  readonly deployments: readonly DeploymentItem[];
  /** Total number, if the server reports it. */
  readonly total?: number | undefined;
}

/**
 * Lists the deployments to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function listDeployments(options: ListDeploymentsOptions, host: Host): Promise<ListDeploymentsResult> {
  const {projectSlug, targetSlug} = options;
  const list = {
    title: `List the deployments to ${targetSlug}`,
    capability: 'history',
    noun: 'deployment',
  } as const;
  const page = (open: OpenBackend, range: ListRange) => historyPage(open, targetSlug, range);
  const {backend, items, total} = await runList(options, list, host, page);
  return {backend, projectSlug, targetSlug, deployments: items, total};
}

/** One page of the deployments to a target. */
export function historyPage(
  open: OpenBackend,
  targetSlug: string,
  range: ListRange,
): Promise<ListResult<DeploymentItem>> {
  return invoke(open, 'listDeployments', {...range, targetSlug});
}
