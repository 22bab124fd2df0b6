import type {WriteStream} from 'node:tty';
import {styleText} from 'node:util';
import type {DefaultRenderer, ProcessOutput} from 'listr2';
import {createRedrawnView} from './redrawn-view.js';
import type {PipelineStep, PipelineTerminal} from './pipeline.js';
import {createTaskListRenderer} from './task-list-renderer.js';

/** Runs the steps as a list that is redrawn on `stream`; rejects with the error of the first that fails. */
export async function runTaskList<Context extends object>(
  steps: readonly PipelineStep<Context>[],
  context: Context,
  terminal: PipelineTerminal,
  stream: WriteStream,
): Promise<void> {
  const {Listr} = await import('listr2');
  const processOutput = await createProcessOutput(stream);
  const renderer = await createTaskListRenderer(stream, (text) => void processOutput.toStdout(text, false));
  const clean = (text: string) => terminal.clean(text);
  const list = new Listr<Context, typeof DefaultRenderer, 'silent'>(
    steps.map((step) => ({
      title: step.title,
      rendererOptions: {persistentOutput: true},
      task: async (_, task) => {
        const view = createRedrawnView(task, {clean, color: terminal.color});
        try {
          await step.run(context, view);
        } finally {
          view.end();
        }
      },
    })),
    {
      ctx: context,
      renderer,
      fallbackRenderer: 'silent',
      registerSignalListeners: false,
      concurrent: false,
      exitOnError: true,
      rendererOptions: await rendererOptions(terminal, processOutput),
    },
  );
  await list.run();
}

/** Both streams of listr2 are ours: what a command prints on stdout is not its business. */
async function createProcessOutput(stream: WriteStream): Promise<ProcessOutput> {
  const listr2 = await import('listr2');
  class LiveProcessOutput extends listr2.ProcessOutput {
    // listr2 gives the renderer a copy, with the size that the terminal has at the start.
    override get stdout(): WriteStream {
      return Object.create(stream, {write: {value: super.stdout.write}}) as WriteStream;
    }
  }
  return new LiveProcessOutput(stream, stream);
}

async function rendererOptions({color, unicode}: PipelineTerminal, processOutput: ProcessOutput) {
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
