import type {BackendSelection} from '../backends/select.js';
import type {PipelineRun, Step} from './run.js';

/** A run that needs a backend. */
export interface ResolvedRun<Selection extends BackendSelection = BackendSelection> extends PipelineRun {
  selection?: Selection | undefined;
}

/** The step that chooses the backend. */
export function resolveStep<Selection extends BackendSelection>(
  choose: () => Promise<Selection>,
): Step<ResolvedRun<Selection>> {
  return {
    name: 'resolve',
    title: 'Resolve the backend',
    task: async (run, report) => {
      const selection = await choose();
      run.selection = selection;
      report.title = `Backend: ${selection.backend} (${selection.reason})`;
    },
  };
}
