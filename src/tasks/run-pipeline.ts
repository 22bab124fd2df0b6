import {WriteStream} from 'node:tty';
import {describeDuration} from './describe.js';
import type {PipelineStep, PipelineTerminal} from './pipeline.js';
import {createPlainView} from './plain-view.js';

export type {PipelineStep, PipelineTerminal, StepView} from './pipeline.js';

/**
 * Runs the steps one after the other on `context`; rejects with the error of the first that fails.
 * @returns how long it took, in words.
 */
export async function runPipeline<Context extends object>(
  steps: readonly PipelineStep<Context>[],
  context: Context,
  terminal: PipelineTerminal,
): Promise<string> {
  const startedAt = performance.now();
  const {interactive, stream} = terminal;
  if (interactive && stream instanceof WriteStream) {
    const {runTaskList} = await import('./task-list.js');
    await runTaskList(steps, context, terminal, stream);
  } else {
    for (const step of steps) {
      terminal.info(step.title);
      await step.run(context, createPlainView(terminal));
    }
  }
  return describeDuration(performance.now() - startedAt);
}

/**
 * What an earlier step has made.
 * @throws Error when the steps stand in a wrong order: a bug.
 */
export function reached<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step of the pipeline ran before the one that it needs');
  return value;
}
