import type {WriteStream} from 'node:tty';
import {styleText} from 'node:util';
import {
  DefaultRenderer,
  ListrDefaultRendererLogLevels as levels,
  ListrLogger,
  ListrTaskEventType,
  ListrTaskState,
  ProcessOutput,
  Spinner,
  type ListrRenderer,
} from 'listr2';
import type {StepTerminal} from './host.js';
import {describeDuration} from './progress-text.js';

/** How listr2 shows steps: as a redrawn list on a terminal, as plain lines elsewhere. */
export function rendererOf(terminal: StepTerminal) {
  if (terminal.interactive) return {renderer: TerminalRenderer, rendererOptions: terminalOptions(terminal)};
  const info = (line: string) => {
    terminal.info(line);
  };
  return {renderer: LogRenderer, rendererOptions: {info}};
}

/** The default renderer of listr2, for stderr, whatever stdout is. */
class TerminalRenderer extends DefaultRenderer {
  static override readonly nonTTY = true;
}

class AsciiSpinner extends Spinner {
  protected override readonly spinner = ['-', '\\', '|', '/'];
}

function terminalOptions({stream, color, unicode}: StepTerminal): NonNullable<typeof DefaultRenderer.rendererOptions> {
  const terminal = stream as WriteStream;
  const paint = (style: 'dim' | 'green' | 'red' | 'yellow') => (text?: string) =>
    color ? styleText(style, text ?? '', {validateStream: false}) : (text ?? '');
  return {
    // We give it stderr for both streams, because a command's stdout is not its concern.
    logger: new ListrLogger({processOutput: new ProcessOutput(terminal, terminal)}),
    collapseErrors: false,
    showErrorMessage: false,
    timer: {
      condition: true,
      field: (ms = 0) => describeDuration(ms),
      format: () => paint('dim'),
    },
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

/** A renderer for logs: a line for each output, and one for the outcome of each step. */
class LogRenderer implements ListrRenderer {
  static readonly nonTTY = true;
  static rendererOptions: {readonly info?: (line: string) => void} = {};
  static rendererTaskOptions = {};
  readonly #tasks: ConstructorParameters<typeof ListrRenderer>[0];
  readonly #info: (line: string) => void;

  constructor(tasks: ConstructorParameters<typeof ListrRenderer>[0], {info}: typeof LogRenderer.rendererOptions) {
    this.#tasks = tasks;
    this.#info = info ?? (() => undefined);
  }

  render(): void {
    for (const task of this.#tasks) {
      let startedAt = 0;
      const took = () => `[${describeDuration(performance.now() - startedAt)}]`;
      task.on(ListrTaskEventType.OUTPUT, this.#info);
      task.on(ListrTaskEventType.STATE, (state) => {
        if (state === ListrTaskState.STARTED) startedAt = performance.now();
        if (state === ListrTaskState.COMPLETED) this.#info(`${task.title ?? ''} ${took()}`);
        if (state === ListrTaskState.FAILED) this.#info(`${task.initialTitle ?? ''}: failed ${took()}`);
      });
    }
  }

  end(): void {
    // Every line has been written.
  }
}
