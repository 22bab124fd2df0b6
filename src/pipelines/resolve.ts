import {describeSelection, type BundleSelection} from '../operations/choose-backend.js';
import type {PipelineRun, Step} from './run.js';

/** A run that needs a backend. */
export interface ResolvedRun extends PipelineRun {
  selection?: BundleSelection;
}

/** The step that chooses the backend. */
export function resolveStep(choose: () => Promise<BundleSelection>): Step<ResolvedRun> {
  return {
    name: 'resolve',
    title: 'Resolve the backend',
    task: async (run, report) => {
      run.selection = await choose();
      report.title = describeSelection(run.selection, run.host);
    },
  };
}
