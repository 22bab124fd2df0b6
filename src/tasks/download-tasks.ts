import prettyBytes from 'pretty-bytes';
import type {BackendSelection} from '../backends/select.js';
import {
  chooseDownloadBackend,
  downloadBundleFrom,
  type DownloadBundleOptions,
  type DownloadBundleResult,
} from '../operations/download-bundle.js';
import type {Host} from '../operations/host.js';
import {showIn} from './progress.js';
import {resolveStep, type ResolveOptions} from './resolve-step.js';
import {reached, runPipeline} from './run-pipeline.js';

/** A download as a pipeline of tasks. */
export interface DownloadTasksOptions extends ResolveOptions {
  readonly download: DownloadBundleOptions;
  readonly host: Host;
}

interface DownloadContext {
  selection?: BackendSelection;
  result?: DownloadBundleResult;
}

/** Runs a download step by step: resolve, download. */
export async function runDownloadTasks(options: DownloadTasksOptions): Promise<DownloadBundleResult> {
  const {download, host, terminal} = options;
  const context: DownloadContext = {};
  await runPipeline<DownloadContext>(
    [
      resolveStep(options, () => chooseDownloadBackend(download, host)),
      {
        title: `Download bundle ${String(download.bundleId)}`,
        async run(state, view) {
          state.result = await downloadBundleFrom(reached(state.selection), {...download, ...showIn(view)}, host);
          const {size, resumedFrom, sha256} = state.result;
          const rest = resumedFrom === 0 ? '' : `, the first ${prettyBytes(resumedFrom)} of it earlier`;
          view.done(`Downloaded ${prettyBytes(size)}${rest}, sha256 ${sha256.slice(0, 12)}`);
        },
      },
    ],
    context,
    terminal,
  );
  return reached(context.result);
}
