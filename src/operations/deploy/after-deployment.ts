import type {BundleId, DeploymentItem, DeploymentStatus} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/select.js';
import {readHistory} from '../list.js';
import {openBackend, registryOf} from '../open-backend.js';
import type {CommonOptions, ConnectionOptions} from '../options.js';
import {quickLook} from '../quick-look.js';
import type {Host} from '../host.js';
import {listedUrl} from '../targets.js';
import {failedChecks} from './check-deployment.js';
import {previousDeployment} from './rollback-bundle.js';

/** What users can do after a deployment. */
export interface NextSteps {
  /** Flags that suggested commands repeat. */
  readonly commandFlags?: readonly string[] | undefined;
  /** Whether there is a bundle to roll back to. */
  readonly canRollBack: boolean;
  /** Whether the backend has a history. */
  readonly hasHistory: boolean;
}

/** The result of a deployment, or of a push without one. */
export interface Deployed {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  readonly bundleId: BundleId;
  readonly status?: DeploymentStatus | undefined;
  readonly url?: string | undefined;
}

/**
 * Looks for what a command shows after a deployment that has succeeded: its URL, and whether it could be rolled back.
 * @param history whether to ask for the latter
 */
export async function lookAfter<Result extends Deployed>(
  result: Result,
  options: CommonOptions & ConnectionOptions,
  host: Host,
  {history}: {readonly history: boolean},
): Promise<{readonly result: Result; readonly next: NextSteps}> {
  const {backend, projectSlug, targetSlug, status} = result;
  const hasHistory = registryOf(options).get(backend).listDeployments !== undefined;
  const next = {commandFlags: host.commandFlags, hasHistory, canRollBack: false};
  if (targetSlug === undefined) return {result, next};
  const open = await openBackend(backend, {...options, projectSlug, targetSlug}, host);
  const asks = history && hasHistory && status === 'finished';
  const [url, items = []] = await Promise.all([
    result.url ?? quickLook(open, (again) => listedUrl(again, targetSlug)),
    asks ? quickLook(open, (again) => readHistory(again, targetSlug)) : ([] as readonly DeploymentItem[]),
  ]);
  host.writes?.learn({url});
  const failed = items.length === 0 ? [] : await failedChecks(backend, {...options, projectSlug, targetSlug}, host);
  const {previous} = previousDeployment(items, failed);
  return {result: {...result, url}, next: {...next, canRollBack: previous !== undefined}};
}
