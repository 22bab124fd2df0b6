import type {WriteStream} from 'node:tty';
import {styleText} from 'node:util';
import {
  DefaultRenderer,
  ListrDefaultRendererLogLevels as levels,
  ListrLogger,
  ProcessOutput,
  SilentRenderer,
  Spinner,
} from 'listr2';
import type {StepTerminal} from './host.js';
import {describeDuration} from './report.js';

/** How listr2 shows steps: as a redrawn list on a terminal. A log is written from their events. */
export function rendererOf(terminal: StepTerminal | undefined) {
  if (terminal?.redraws !== true) return {renderer: SilentRenderer};
  return {renderer: TerminalRenderer, rendererOptions: terminalOptions(terminal)};
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
