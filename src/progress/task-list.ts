import type {WriteStream} from 'node:tty';
import {styleText} from 'node:util';
import type {DefaultRenderer, ProcessOutput} from 'listr2';
import stringWidth from 'string-width';
import type {RunStep, Step, StepView} from '../operations/steps.js';
import {createRedrawnView, declared, showIn, type StepTerminal} from './views.js';

/** An operation, and where to show its steps. */
interface TaskListOptions<Name extends string, Result> {
  readonly steps: readonly Step<Name>[];
  operation(step: RunStep<Name>): Promise<Result>;
  readonly terminal: StepTerminal;
  readonly stream: WriteStream;
  /** Lines to show below a step that succeeded. */
  detailsOf(step: Step): readonly string[];
}

/**
 * Runs an operation and shows its steps as a redrawn list. listr2 runs tasks while the operation runs steps, so each
 * task waits until the operation reaches its step or ends without it.
 */
export async function runTaskList<Name extends string, Result>(
  options: TaskListOptions<Name, Result>,
): Promise<Result> {
  const {steps, operation, terminal, stream, detailsOf} = options;
  const {Listr} = await import('listr2');
  const processOutput = await createProcessOutput(stream);
  const write = (text: string) => void processOutput.toStdout(text, false);
  const renderer = await createTaskListRenderer(stream, write, terminal);
  const gates = new Map(steps.map(({name}) => [name, createGate()]));
  const list = new Listr<object, typeof DefaultRenderer, 'silent'>(
    steps.map((step) => ({
      title: step.title,
      rendererOptions: {persistentOutput: true},
      task: async (_, task) => {
        const run = await gates.get(step.name)?.reached;
        if (run === undefined) {
          // One line after the list tells all of them.
          task.title = '';
          return;
        }
        const lines = createRedrawnView(task, terminal);
        const view = showIn(lines, terminal);
        try {
          await run(view);
          for (const line of detailsOf(step)) view.detail(line);
        } finally {
          lines.end();
        }
      },
    })),
    {
      renderer,
      fallbackRenderer: 'silent',
      registerSignalListeners: false,
      concurrent: false,
      // A failure ends the operation, which skips the remaining steps.
      exitOnError: false,
      rendererOptions: await rendererOptions(terminal, processOutput),
    },
  );
  // The operation gets the step's error and decides what it means.
  const shown = list.run().catch(() => undefined);
  try {
    return await operation(
      (name, run) =>
        new Promise((resolve, reject) => {
          gates.get(declared(steps, name).name)?.open(async (view) => {
            try {
              resolve(await run(view));
            } catch (error) {
              reject(error);
              throw error;
            }
          });
        }),
    );
  } finally {
    for (const gate of gates.values()) gate.open(undefined);
    await shown;
  }
}

type StepWork = ((view: StepView) => Promise<void>) | undefined;

/** What a task waits for: the work of its step, or undefined if the operation ended without it. */
function createGate(): {readonly reached: Promise<StepWork>; open(work: StepWork): void} {
  let open: (work: StepWork) => void = () => undefined;
  const reached = new Promise<StepWork>((resolve) => {
    open = resolve;
  });
  return {reached, open};
}

/** We provide both of listr2's streams, because a command's stdout is not its concern. */
async function createProcessOutput(stream: WriteStream): Promise<ProcessOutput> {
  const listr2 = await import('listr2');
  class LiveProcessOutput extends listr2.ProcessOutput {
    // listr2 passes the renderer a copy with the terminal's initial size.
    override get stdout(): WriteStream {
      return Object.create(stream, {write: {value: super.stdout.write}}) as WriteStream;
    }
  }
  return new LiveProcessOutput(stream, stream);
}

async function rendererOptions({color, unicode}: StepTerminal, processOutput: ProcessOutput) {
  const {ListrDefaultRendererLogLevels: levels, ListrLogger, Spinner} = await import('listr2');
  const paint = (style: 'dim' | 'green' | 'red' | 'yellow') => (text?: string) =>
    color ? styleText(style, text ?? '', {validateStream: false}) : (text ?? '');
  class AsciiSpinner extends Spinner {
    protected override readonly spinner = ['-', '\\', '|', '/'];
  }
  return {
    logger: new ListrLogger({processOutput}),
    collapseErrors: false,
    showErrorMessage: false,
    color: {
      [levels.PENDING]: paint('yellow'),
      [levels.COMPLETED]: paint('green'),
      [levels.FAILED]: paint('red'),
      [levels.WAITING]: paint('dim'),
    },
    ...(unicode
      ? {}
      : {
          icon: {[levels.COMPLETED]: '+', [levels.FAILED]: 'x', [levels.OUTPUT]: '>', [levels.WAITING]: '.'},
          spinner: new AsciiSpinner(),
        }),
  };
}

/** Moves up a line and clears it. */
const eraseLineAbove = '\u001B[1A\u001B[2K';

/**
 * listr2's renderer for a terminal that can be resized: a narrower one wraps the lines already drawn, and the next
 * frame would leave the extra ones behind. It breaks lines between words, where listr2 cuts them. Loads listr2.
 * @param write bypasses what keeps others from writing while the list is drawn.
 */
async function createTaskListRenderer(
  stream: WriteStream,
  write: (text: string) => void,
  terminal: Pick<StepTerminal, 'wrap'>,
): Promise<typeof DefaultRenderer> {
  const listr2 = await import('listr2');
  return class extends listr2.DefaultRenderer {
    // The list goes to stderr, whatever stdout is.
    static override readonly nonTTY = true;

    #frame = '';
    #columns = stream.columns;
    readonly #onResize = () => {
      const more = rowsOf(this.#frame, stream.columns) - rowsOf(this.#frame, this.#columns);
      this.#columns = stream.columns;
      if (more > 0) write(eraseLineAbove.repeat(more));
    };

    override async render(): Promise<void> {
      await super.render();
      stream.on('resize', this.#onResize);
    }

    override create(options?: Parameters<DefaultRenderer['create']>[0]): string {
      // A process that was stopped meanwhile, say with Ctrl-Z, draws before it gets the signal of a resize.
      (stream as WriteStream & {_refreshSize?(): void})._refreshSize?.();
      this.#frame = super.create(options);
      this.#columns = stream.columns;
      return this.#frame;
    }

    protected override format(message: string, icon: string, level: number): string[] {
      if (message.trim() === '') return [];
      const indent = '  '.repeat(level);
      const width = stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY;
      return message
        .split('\n')
        .flatMap((line, index) =>
          terminal.wrap(`${indent}${index === 0 ? `${icon} ` : '  '}${line.trimEnd()}`, width, `${indent}  `),
        );
    }

    override end(): void {
      stream.off('resize', this.#onResize);
      super.end();
    }
  };
}

/** How many rows a text takes on a terminal. One without a width, such as one that just closed, wraps nothing. */
function rowsOf(text: string, columns: number): number {
  const width = columns > 0 ? columns : Number.POSITIVE_INFINITY;
  const rows = text.split('\n').map((line) => Math.ceil(stringWidth(line) / width));
  return rows.reduce((sum, count) => sum + Math.max(1, count), 0);
}
