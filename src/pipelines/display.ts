import type {WriteStream} from 'node:tty';
import stringWidth from 'fast-string-width';
import {
  ListrEventType,
  ProcessOutput,
  SilentRenderer,
  type ListrEventManager,
  type ListrRenderer,
  type ListrRendererFactory,
} from 'listr2';
import type {StepTerminal} from './host.js';
import {describeDuration, frameMs} from './report.js';

/** How listr2 shows steps: as a redrawn list on a terminal. A log is written from their events. */
export function rendererOf(terminal: StepTerminal | undefined) {
  if (terminal?.redraws !== true) return {renderer: SilentRenderer};
  return {renderer: StepList, rendererOptions: {terminal}};
}

type Tasks = ConstructorParameters<ListrRendererFactory>[0];
type Task = Tasks[number];

const symbols = {
  unicode: {spinner: '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', completed: '✔', failed: '✖', waiting: '◼', output: '›'},
  ascii: {spinner: '-\\|/', completed: '+', failed: 'x', waiting: '.', output: '>'},
};

const csi = '\u001B[';
const [saveCursor, restoreCursor, hideCursor] = ['\u001B7', '\u001B8', `${csi}?25l`];
const [lineStart, eraseLine, eraseBelow] = [`${csi}G`, `${csi}2K`, `${csi}J`];

/** Lines below the list that stay free: after an Enter the cursor is there, and the list has not been scrolled. */
const spareLines = 2;

/** A list that is redrawn in place: only the lines that have changed. Between two drawings the cursor is below it. */
class StepList implements ListrRenderer {
  static readonly nonTTY = true;
  static readonly rendererOptions: {readonly terminal?: StepTerminal} = {};
  static readonly rendererTaskOptions = {};
  readonly #tasks: Tasks;
  readonly #terminal: StepTerminal;
  readonly #stream: WriteStream;
  readonly #events: ListrEventManager;
  readonly #output: ProcessOutput;
  #drawn: readonly string[] = [];
  #drawnAt = 0;
  #columns = 0;
  #frames = 0;
  #next: NodeJS.Timeout | undefined;

  constructor(tasks: Tasks, {terminal}: {readonly terminal: StepTerminal}, events: ListrEventManager) {
    this.#tasks = tasks;
    this.#terminal = terminal;
    this.#stream = terminal.stream as WriteStream;
    this.#events = events;
    // We give it stderr for both streams, because a command's stdout is not its concern.
    this.#output = new ProcessOutput(this.#stream, this.#stream);
  }

  render(): void {
    this.#output.hijack();
    this.#events.on(ListrEventType.SHOULD_REFRESH_RENDER, () => {
      const pauseMs = Math.max(0, this.#drawnAt + frameMs - performance.now());
      this.#next ??= setTimeout(() => this.#draw(), pauseMs);
    });
    this.#stream.on('continue', this.#drawAnew);
  }

  /** Below what the shell has written while the process was stopped. */
  readonly #drawAnew = () => {
    this.#output.toStdout(hideCursor, false);
    this.#drawn = [];
    this.#draw();
  };

  /** Draws the last state, all of it: what has left the screen at the top stays in the scrollback. */
  end(): void {
    this.#events.off(ListrEventType.SHOULD_REFRESH_RENDER);
    this.#stream.off('continue', this.#drawAnew);
    clearTimeout(this.#next);
    this.#output.toStdout(`${this.#backTo(0)}${lineStart}${eraseBelow}${this.#lines().map(ended).join('')}`, false);
    this.#output.release();
  }

  #draw(): void {
    this.#next = undefined;
    this.#drawnAt = performance.now();
    this.#frames += 1;
    const lines = this.#fitting(this.#lines());
    const before = this.#isResized() ? [] : this.#drawn;
    const isSame = (line: string, index: number) => line === before[index];
    const isInPlace =
      lines.length === before.length &&
      lines.every((line, index) => isSame(line, index) || this.#rowsOf([line, before[index] ?? '']) === 2);
    const first = lines.findIndex((line, index) => !isSame(line, index));
    if (isInPlace && first === -1) return;
    const start = first === -1 ? lines.length : first;
    const rest = lines.slice(start);
    const text = isInPlace
      ? rest.map((line, index) =>
          isSame(line, start + index) ? '\n'.repeat(this.#rowsOf([line])) : ended(eraseLine + line),
        )
      : [eraseBelow, ...rest.map(ended), '\n'.repeat(spareLines), `${csi}${String(spareLines)}A`, saveCursor];
    this.#output.toStdout(this.#backTo(start) + text.join(''), false);
    this.#drawn = lines;
    this.#columns = this.#stream.columns;
  }

  /** To the start of a line that is drawn. What was typed since is erased. */
  #backTo(line: number): string {
    if (this.#drawn.length === 0) return '';
    const rows = this.#rowsOf(this.#drawn.slice(line));
    // A terminal that is resized moves the lines, and the cursor with them.
    const toEnd = this.#isResized() ? lineStart : restoreCursor;
    return `${toEnd}${eraseBelow}${rows > 0 ? `${csi}${String(rows)}A` : ''}`;
  }

  #isResized(): boolean {
    return this.#columns !== this.#stream.columns;
  }

  /** How many rows of the terminal lines take: one that has no place to be broken takes several. */
  #rowsOf(lines: readonly string[]): number {
    const {columns} = this.#stream;
    return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);
  }

  /** The last lines, as many as the terminal can show. */
  #fitting(lines: readonly string[]): readonly string[] {
    let room = (this.#stream.rows || 24) - spareLines - 1;
    const from = lines.findLastIndex((line) => {
      room -= this.#rowsOf([line]);
      return room < 0;
    });
    return lines.slice(from + 1);
  }

  #lines(): readonly string[] {
    const terminal = this.#terminal;
    const {output} = symbols[terminal.unicode ? 'unicode' : 'ascii'];
    return this.#tasks
      .filter((task) => task.isEnabled())
      .flatMap((task) => {
        const outputs = task.output?.split('\n').filter((line) => line !== '') ?? [];
        return [
          ...terminal.wrap(this.#titleOf(task), '  '),
          ...outputs.flatMap((line, index) => terminal.wrap(`  ${index === 0 ? output : ' '} ${line}`, '    ')),
        ];
      });
  }

  #titleOf(task: Task): string {
    const terminal = this.#terminal;
    const {spinner, completed, failed, waiting} = symbols[terminal.unicode ? 'unicode' : 'ascii'];
    const {title = ''} = task;
    if (task.hasFailed()) return `${terminal.paint('red', failed)} ${title}`;
    if (task.isStarted()) return `${terminal.paint('yellow', spinner[this.#frames % spinner.length] ?? '')} ${title}`;
    if (!task.isCompleted()) return `${terminal.paint('dim', waiting)} ${title}`;
    const took = `[${describeDuration(task.message.duration ?? 0)}]`;
    return `${terminal.paint('green', completed)} ${title} ${terminal.paint('dim', took)}`;
  }
}

function ended(line: string): string {
  return `${line}\n`;
}
