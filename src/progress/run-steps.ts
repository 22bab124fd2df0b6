import {WriteStream} from 'node:tty';
import type {RunSteps, Step} from '../operations/steps.js';
import {describeDuration, createPlainView, declared, showIn, type StepTerminal} from './views.js';

/**
 * Shows the steps of operations: as a list that is redrawn on a terminal, as plain lines elsewhere.
 * @param resolved lines that tell where each setting comes from, shown below the step that chooses the backend.
 */
export function createStepRunner(terminal: StepTerminal, resolved: readonly string[] = []): RunSteps {
  const detailsOf = ({name}: Step) => (name === 'resolve' ? resolved : []);
  return async (steps, operation) => {
    const {interactive, stream} = terminal;
    if (interactive && stream instanceof WriteStream) {
      const {runTaskList} = await import('./task-list.js');
      return runTaskList({steps, operation, terminal, stream, detailsOf});
    }
    return operation(async (name, run) => {
      const step = declared(steps, name);
      terminal.info(step.title);
      const view = showIn(createPlainView(terminal), terminal);
      const result = await run(view);
      for (const line of detailsOf(step)) view.detail(line);
      return result;
    });
  };
}

/** Runs `operation` and tells how long it took, in words. */
export async function timed<Result>(
  operation: () => Promise<Result>,
): Promise<{readonly result: Result; readonly took: string}> {
  const startedAt = performance.now();
  const result = await operation();
  return {result, took: describeDuration(performance.now() - startedAt)};
}
