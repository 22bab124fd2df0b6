import {WriteStream} from 'node:tty';
import {createPlainView} from './plain-view.js';
import {describeDuration} from './describe.js';

/** Where a pipeline shows itself. */
export interface PipelineTerminal {
  /** A terminal that can be redrawn. Otherwise plain lines are written with `info`. */
  readonly interactive: boolean;
  /** Whether `stream` is coloured. */
  readonly color: boolean;
  /** Whether `stream` shows more than ASCII. */
  readonly unicode: boolean;
  /** The stream of the terminal. */
  readonly stream: NodeJS.WritableStream;
  /** Writes a line for people. */
  info(line: string): void;
  /** Text as it may be shown: without control characters and secrets. */
  clean(text: string): string;
}

/** What a step shows while it runs. */
export interface StepView {
  /** What the step has come to, in place of its title. */
  done(title: string): void;
  /** A line that stays. */
  detail(line: string): void;
  /** A wait, counted down on a terminal until the next progress. A plain log has the line of the client's own log. */
  countdown(describe: (leftMs: number) => string, delayMs: number): void;
  /** A state that the next one replaces. `fraction`: how much is done, 0 to 1. */
  progress(text: string, fraction?: number): void;
}

/** A step of a pipeline. */
export interface PipelineStep<Context> {
  readonly title: string;
  run(context: Context, view: StepView): Promise<void>;
}

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
