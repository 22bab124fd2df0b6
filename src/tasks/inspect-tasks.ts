import type {BackendSelection} from '../backends/select.js';
import {chooseForBundle} from '../operations/choose-for-bundle.js';
import type {DownloadBundleOptions} from '../operations/download-bundle.js';
import type {Host} from '../operations/host.js';
import {
  inspectArchive,
  inspectBundle,
  type ArchiveInspection,
  type BundleInspection,
  type InspectArchiveOptions,
} from '../operations/inspect-bundle.js';
import {count} from './describe.js';
import {showIn} from './progress.js';
import {resolveStep, type ResolveOptions} from './resolve-step.js';
import {reached, runPipeline, type PipelineTerminal} from './run-pipeline.js';

/** A look into an archive file as a pipeline of tasks. */
export interface InspectFileTasksOptions {
  readonly path: string;
  readonly inspection: InspectArchiveOptions;
  readonly host: Host;
  readonly terminal: PipelineTerminal;
}

/** A look into an uploaded bundle as a pipeline of tasks. */
export interface InspectBundleTasksOptions extends ResolveOptions {
  readonly inspection: Omit<DownloadBundleOptions, 'output' | 'force'> & InspectArchiveOptions;
  readonly host: Host;
}

/** Looks into an archive file. */
export async function runInspectFileTasks(options: InspectFileTasksOptions): Promise<ArchiveInspection> {
  const {path, inspection, host, terminal} = options;
  const context: {result?: ArchiveInspection} = {};
  await runPipeline<typeof context>(
    [
      {
        title: `Read ${path}`,
        async run(state, view) {
          state.result = await inspectArchive(path, inspection, host);
          view.done(`Read ${path}: ${count(state.result.files.length, 'file')}`);
        },
      },
    ],
    context,
    terminal,
  );
  return reached(context.result);
}

/** Looks into an uploaded bundle step by step: resolve, download and read. */
export async function runInspectBundleTasks(options: InspectBundleTasksOptions): Promise<BundleInspection> {
  const {inspection, host, terminal} = options;
  const context: {selection?: BackendSelection; result?: BundleInspection} = {};
  await runPipeline<typeof context>(
    [
      resolveStep(options, () => chooseForBundle(inspection, ['download'], host)),
      {
        title: `Download bundle ${String(inspection.bundleId)} and read it`,
        async run(state, view) {
          state.result = await inspectBundle(reached(state.selection), {...inspection, ...showIn(view)}, host);
          view.done(`Read bundle ${String(inspection.bundleId)}: ${count(state.result.files.length, 'file')}`);
        },
      },
    ],
    context,
    terminal,
  );
  return reached(context.result);
}
