import {lookAfter, type Deployed, type NextSteps} from '../operations/deploy/after-deployment.js';
import type {CommonOptions, ConnectionOptions} from '../operations/options.js';
import type {PipelineHost} from './host.js';
import {describeDuration} from './progress-text.js';

/**
 * Runs a push or a deployment, and looks for what a command shows after it.
 * @param options `history`: whether to look for a bundle to roll back to
 */
export async function timeDeployment<Result extends Deployed>(
  run: () => Promise<Result>,
  options: CommonOptions & ConnectionOptions,
  host: PipelineHost,
  {history}: {readonly history: boolean},
): Promise<{readonly result: Result; readonly next: NextSteps; readonly took: string}> {
  const startedAt = performance.now();
  const result = await run();
  const took = describeDuration(performance.now() - startedAt);
  return {took, ...(await lookAfter(result, options, host, {history}))};
}
