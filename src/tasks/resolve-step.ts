import type {BackendSelection} from '../backends/select.js';
import {reached, runPipeline, type PipelineStep, type PipelineTerminal} from './run-pipeline.js';

/** What a pipeline tells of the backend before anything is sent. */
export interface ResolveOptions {
  readonly terminal: PipelineTerminal;
  /** Lines that tell what was resolved from where. */
  readonly resolved: readonly string[];
}

/** Chooses the backend and tells which, why, and where it sends what. */
export function resolveStep<Context extends {selection?: BackendSelection}>(
  {resolved}: Pick<ResolveOptions, 'resolved'>,
  choose: () => Promise<BackendSelection>,
): PipelineStep<Context> {
  return {
    title: 'Resolve the backend',
    async run(context, view) {
      const selection = await choose();
      context.selection = selection;
      view.done(`Backend: ${selection.backend} (${selection.reason})`);
      for (const line of resolved) view.detail(line);
    },
  };
}

/** Chooses the backend in a pipeline of its own. */
export async function resolveBackend(
  options: ResolveOptions,
  choose: () => Promise<BackendSelection>,
): Promise<BackendSelection> {
  const context: {selection?: BackendSelection} = {};
  await runPipeline([resolveStep(options, choose)], context, options.terminal);
  return reached(context.selection);
}
