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
