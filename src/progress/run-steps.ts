import {WriteStream} from 'node:tty';
import type {RunSteps, Step} from '../operations/steps.js';
import {describeDuration, createPlainView, declared, showIn, type StepTerminal} from './views.js';

/**
 * Creates a runner that shows the steps of operations: as a redrawn list on a terminal, as plain lines elsewhere.
 * @param resolved lines with the source of each setting, shown below the step that chooses the backend.
 */
export function createStepRunner(terminal: StepTerminal, resolved: readonly string[] = []): RunSteps {
  const detailsOf = ({name}: Step) => (name === 'resolve' ? resolved : []);
  return async (steps, operation) => {
    const {interactive, stream} = terminal;
    const left = new Set(steps.map(({name}) => name));
    try {
      if (interactive && stream instanceof WriteStream) {
        const {runTaskList} = await import('./task-list.js');
        const followed: typeof operation = (step) =>
          operation((name, run) => {
            left.delete(name);
            return step(name, run);
          });
        return await runTaskList({steps, operation: followed, terminal, stream, detailsOf});
      }
      return await operation(async (name, run) => {
        const step = declared(steps, name);
        left.delete(name);
        const lines = createPlainView(step.title, terminal);
        const result = await run(showIn(lines, terminal)).catch((error: unknown) => {
          lines.end('failed');
          throw error;
        });
        lines.end('done');
        for (const line of detailsOf(step)) lines.detail(line);
        return result;
      });
    } catch (error) {
      if (left.size > 0) terminal.info(`Not run: ${[...left].join(', ')}`);
      throw error;
    }
  };
}

/** Runs `operation` and describes how long it took. */
export async function timed<Result>(
  operation: () => Promise<Result>,
): Promise<{readonly result: Result; readonly took: string}> {
  const startedAt = performance.now();
  const result = await operation();
  return {result, took: describeDuration(performance.now() - startedAt)};
}
