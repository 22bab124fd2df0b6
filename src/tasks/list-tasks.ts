import type {BackendSelection} from '../backends/select.js';
import type {Host} from '../operations/host.js';
import {chooseListBackend, listBundlesOf, type ListBundlesResult} from '../operations/list-bundles.js';
import {
  chooseHistoryBackend,
  listDeploymentsOf,
  type ListDeploymentsOptions,
  type ListDeploymentsResult,
} from '../operations/list-deployments.js';
import type {ListBundlesOptions} from '../operations/options.js';
import {count} from './describe.js';
import {showIn} from './progress.js';
import {resolveStep, type ResolveOptions} from './resolve-step.js';
import {reached, runPipeline} from './run-pipeline.js';

/** A list as a pipeline of tasks. */
export interface ListTasksOptions<Options> extends ResolveOptions {
  readonly list: Options;
  readonly host: Host;
}

interface ListContext<Result> {
  selection?: BackendSelection;
  result?: Result;
}

/** Lists the bundles of a project step by step: resolve, list. */
export async function runListTasks(options: ListTasksOptions<ListBundlesOptions>): Promise<ListBundlesResult> {
  const {list, host, terminal} = options;
  const context: ListContext<ListBundlesResult> = {};
  await runPipeline<typeof context>(
    [
      resolveStep(options, () => chooseListBackend(list, host)),
      {
        title: 'List the bundles',
        async run(state, view) {
          state.result = await listBundlesOf(reached(state.selection), {...list, ...showIn(view)}, host);
          view.done(`Found ${count(state.result.bundles.length, 'bundle')}`);
        },
      },
    ],
    context,
    terminal,
  );
  return reached(context.result);
}

/** Lists the deployments to a target step by step: resolve, list. */
export async function runHistoryTasks(
  options: ListTasksOptions<ListDeploymentsOptions>,
): Promise<ListDeploymentsResult> {
  const {list, host, terminal} = options;
  const context: ListContext<ListDeploymentsResult> = {};
  await runPipeline<typeof context>(
    [
      resolveStep(options, () => chooseHistoryBackend(list, host)),
      {
        title: `List the deployments to ${list.targetSlug}`,
        async run(state, view) {
          state.result = await listDeploymentsOf(reached(state.selection), {...list, ...showIn(view)}, host);
          view.done(`Found ${count(state.result.deployments.length, 'deployment')}`);
        },
      },
    ],
    context,
    terminal,
  );
  return reached(context.result);
}
