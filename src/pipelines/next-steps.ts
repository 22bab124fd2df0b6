import type {BundleId, DeploymentItem, DeploymentStatus} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/names.js';
import {readHistory} from '../operations/list.js';
import {openBackend, quickLook, registryOf} from '../operations/open-backend.js';
import type {CommonOptions, ConnectionOptions} from '../operations/options.js';
import {listedUrl} from '../operations/targets.js';
import {failedChecks} from '../operations/deploy/check-deployment.js';
import {previousDeployment} from '../operations/deploy/rollback-bundle.js';
import type {PipelineHost} from './host.js';
import {describeDuration} from './report.js';

/** What users can do after a deployment. */
export interface NextSteps {
  /** Flags that suggested commands repeat. */
  readonly commandFlags?: readonly string[] | undefined;
  /** Whether there is a bundle to roll back to. */
  readonly canRollBack: boolean;
  /** Whether the backend has a history. */
  readonly hasHistory: boolean;
}

/** What a command shows after a push or a deployment. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly next: NextSteps;
  /** How long it took, in words. */
  readonly took: string;
}

interface Deployed {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  readonly bundleId: BundleId;
  readonly status?: DeploymentStatus | undefined;
  readonly url?: string | undefined;
}

/**
 * Runs a push or a deployment, and looks for what a command shows after it.
 * @param options `history`: whether to look for a bundle to roll back to
 */
export async function withNextSteps<Result extends Deployed>(
  run: () => Promise<Result>,
  options: CommonOptions & ConnectionOptions,
  host: PipelineHost,
  {history}: {readonly history: boolean},
): Promise<Outcome<Result>> {
  const startedAt = performance.now();
  const result = await run();
  const took = describeDuration(performance.now() - startedAt);
  const {backend, projectSlug, targetSlug, status} = result;
  const hasHistory = registryOf(options).get(backend).listDeployments !== undefined;
  const next = {commandFlags: host.commandFlags, hasHistory, canRollBack: false};
  if (targetSlug === undefined) return {took, result, next};
  const open = await openBackend(backend, {...options, projectSlug, targetSlug}, host);
  const asks = history && hasHistory && status === 'finished';
  const [url, items = []] = await Promise.all([
    result.url ?? quickLook(open, (again) => listedUrl(again, targetSlug)),
    asks ? quickLook(open, (again) => readHistory(again, targetSlug)) : ([] as readonly DeploymentItem[]),
  ]);
  host.writes?.learn({url});
  const failed = items.length === 0 ? [] : await failedChecks(backend, {...options, projectSlug, targetSlug}, host);
  const {previous} = previousDeployment(items, failed);
  return {took, result: {...result, url}, next: {...next, canRollBack: previous !== undefined}};
}
