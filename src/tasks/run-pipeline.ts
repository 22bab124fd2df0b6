import {WriteStream} from 'node:tty';
import type {Listr} from 'listr2';

/** Where a pipeline shows itself. */
export interface PipelineTerminal {
  /** A terminal that can be redrawn. Otherwise plain lines are written with `info`. */
  readonly interactive: boolean;
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
  /** News for a terminal, replaced by the next progress. A plain log has the line of the client's own log. */
  notice(text: string): void;
  /** A state that the next one replaces. `fraction`: how much is done, 0 to 1. */
  progress(text: string, fraction?: number): void;
}

/** A step of a pipeline. */
export interface PipelineStep<Context> {
  readonly title: string;
  run(context: Context, view: StepView): Promise<void>;
}

/** Runs the steps one after the other on `context`; rejects with the error of the first that fails. */
export async function runPipeline<Context extends object>(
  steps: readonly PipelineStep<Context>[],
  context: Context,
  terminal: PipelineTerminal,
): Promise<void> {
  const pipeline = await createPipeline(steps, terminal);
  await pipeline.run(context);
}

/** Characters of the bar of a step. */
const barWidth = 20;

/** Plain progress comes every 5 s, or every tenth of the way when that takes a second at least. */
const plainProgress = {afterMs: 5000, fraction: 0.1, fractionAfterMs: 1000};

async function createPipeline<Context extends object>(
  steps: readonly PipelineStep<Context>[],
  terminal: PipelineTerminal,
): Promise<Listr<Context, 'default' | 'silent', 'silent'>> {
  const {Listr, ListrLogger, ProcessOutput} = await import('listr2');
  // Both of the renderer's streams are ours: what a command prints on stdout is not its business.
  const stream = terminal.interactive && terminal.stream instanceof WriteStream ? terminal.stream : undefined;
  return new Listr<Context, 'default' | 'silent', 'silent'>(
    steps.map((step) => ({
      title: step.title,
      rendererOptions: {persistentOutput: true},
      task: async (context, task) => {
        const view = stream ? redrawnView(task, terminal) : plainView(step.title, terminal);
        await step.run(context, view);
      },
    })),
    {
      renderer: stream ? 'default' : 'silent',
      fallbackRenderer: 'silent',
      registerSignalListeners: false,
      concurrent: false,
      exitOnError: true,
      rendererOptions: stream
        ? {
            logger: new ListrLogger({processOutput: new ProcessOutput(stream, stream)}),
            collapseErrors: false,
            showErrorMessage: false,
          }
        : {},
    },
  );
}

function redrawnView(
  task: {title: string | undefined; output: string | undefined},
  terminal: PipelineTerminal,
): StepView {
  const details: string[] = [];
  const show = (progress: string) => {
    task.output = [...details, terminal.clean(progress)].filter(Boolean).join('\n');
  };
  return {
    done: (title) => {
      task.title = terminal.clean(title);
      show('');
    },
    detail: (line) => {
      details.push(terminal.clean(line));
      show('');
    },
    notice: show,
    progress: (text, fraction) => {
      show(fraction === undefined ? text : `${bar(fraction)} ${text}`);
    },
  };
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
}

function plainView(title: string, terminal: PipelineTerminal): StepView {
  let shownAt = Date.now();
  let shownFraction = 0;
  const line = (text: string) => {
    terminal.info(`  ${text}`);
  };
  terminal.info(title);
  return {
    done: line,
    detail: line,
    notice: () => undefined,
    progress: (text, fraction = 0) => {
      const elapsed = Date.now() - shownAt;
      const farther = fraction - shownFraction >= plainProgress.fraction && elapsed >= plainProgress.fractionAfterMs;
      if (!farther && elapsed < plainProgress.afterMs) return;
      shownAt = Date.now();
      shownFraction = fraction;
      line(text);
    },
  };
}

/**
 * What an earlier step has made.
 * @throws Error when the steps stand in a wrong order: a bug.
 */
export function reached<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step of the pipeline ran before the one that it needs');
  return value;
}
