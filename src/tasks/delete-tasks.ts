import type {BackendSelection} from '../backends/select.js';
import {
  chooseDeleteBackend,
  deleteBundlesFrom,
  type DeleteBundlesOptions,
  type DeleteBundlesResult,
} from '../operations/delete-bundles.js';
import type {Host} from '../operations/host.js';
import {count} from './describe.js';
import {showIn} from './progress.js';
import {resolveBackend, type ResolveOptions} from './resolve-step.js';
import {reached, runPipeline} from './run-pipeline.js';

/** A deletion as a pipeline of tasks. */
export interface DeleteTasksOptions extends ResolveOptions {
  readonly deletion: DeleteBundlesOptions;
  readonly host: Host;
  /** Asked when the backend is known and nothing was sent yet; rejects when nothing is to be deleted. */
  confirm(selection: BackendSelection): Promise<void>;
}

/** Runs a deletion step by step: resolve, confirm, delete. */
export async function runDeleteTasks(options: DeleteTasksOptions): Promise<DeleteBundlesResult> {
  const {deletion, host, terminal} = options;
  const selection = await resolveBackend(options, () => chooseDeleteBackend(deletion, host));
  await options.confirm(selection);
  const context: {result?: DeleteBundlesResult} = {};
  await runPipeline<typeof context>(
    [
      {
        title: `Delete ${count(deletion.bundleIds.length, 'bundle')}`,
        async run(state, view) {
          const onDeletion: DeleteBundlesOptions['onDeletion'] = ({bundleId, error}) => {
            const became = error === undefined ? 'was deleted' : `was not deleted: ${error.message}`;
            view.detail(`bundle ${String(bundleId)} ${became}`);
          };
          state.result = await deleteBundlesFrom(selection, {...deletion, ...showIn(view), onDeletion}, host);
          view.done(`Deleted ${count(state.result.deleted.length, 'bundle')}`);
        },
      },
    ],
    context,
    terminal,
  );
  return reached(context.result);
}
