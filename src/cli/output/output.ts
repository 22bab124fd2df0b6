import {Writable} from 'node:stream';
import {isDeepStrictEqual, styleText} from 'node:util';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../text/json.js';
import {createRedactor} from '../../http/redact.js';
import type {Logger} from '../../http/types.js';
import {
  annotation,
  withoutCommands,
  withoutCommandsInJson,
  escapeControls,
  sanitize,
  terminalWidth,
  type MaybeTerminal,
  unbroken,
  wrapSentence,
} from './terminal.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {systemCode} from '../../errors/system-failure.js';
import {shellLine} from '../../text/suggest.js';
import {
  completeCommand,
  hiddenWord,
  nowhere,
  partsOf,
  suggestionText,
  type CommandToRun,
  type RunSetting,
  type RunSurroundings,
  type Suggestion,
} from '../../errors/suggestion.js';

/** A result for programs: plain JSON, without `schemaVersion`. */
export type JsonDocument = object;

export type LineStyle = 'bold' | 'dim' | 'red' | 'yellow';

interface HintContext extends RunSurroundings {
  readonly aliases: ReadonlyMap<string, string>;
}

export interface OutputOptions {
  readonly stdout: Writable & MaybeTerminal;
  readonly stderr: Writable & MaybeTerminal;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debugging: boolean;
  /** Whether stderr is a terminal with escape sequences, outside CI. */
  readonly interactive: boolean;
  /** Whether to color what stderr gets. */
  readonly color: boolean;
  /** Whether stdout is a terminal with colors. */
  readonly colorsResults: boolean;
  readonly unicode: boolean;
  /** For GitHub Actions: warnings and errors are annotations, and no other line is a command. */
  readonly annotating: boolean;
}

/**
 * Everything that a command prints, without control characters and secrets. Results go to stdout, or to stderr if
 * stdout carries data; everything else goes to stderr.
 */
export class Output implements Logger {
  readonly json: boolean;
  readonly interactive: boolean;
  readonly redraws: boolean;
  readonly unicode: boolean;
  /** How many characters fit on a line of results; unlimited unless it is a terminal. */
  readonly width: number;
  /** stderr, for task lists and prompts. Neither sanitizes nor masks. */
  readonly stream: Writable & MaybeTerminal;
  stdoutClaimed: boolean;
  readonly #options: OutputOptions;
  readonly #writeStdout: Writable['write'];
  readonly #writeStderr: Writable['write'];
  #secrets: string[] = [];
  readonly #warnings = new Set<string>();
  readonly #shownUrls = new Set<string>();
  #redact = createRedactor(this.#secrets, this.#shownUrls);
  #hints: HintContext = {...nowhere, aliases: new Map()};
  #documentWritten = false;
  #hasLines = false;
  #onWarning: ((message: string) => void) | undefined;
  #showWarning: ((label: string, text: string) => void) | undefined;

  constructor(options: OutputOptions) {
    const {stdout, stderr, json, quiet, debugging, interactive, unicode} = options;
    this.json = json;
    this.interactive = interactive;
    // Nothing else can be printed while a list is redrawn, but debugging needs lines as they happen.
    this.redraws = interactive && !quiet && !json && !debugging && stderr.columns !== 0;
    this.unicode = unicode;
    this.width = terminalWidth(stdout);
    this.stream = stderr;
    this.stdoutClaimed = json;
    this.#options = options;
    this.#writeStdout = stdout.write.bind(stdout);
    this.#writeStderr = stderr.write.bind(stderr);
  }

  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  /** How the user runs mycli, for commands that no setting of the run changes. */
  get program(): readonly string[] {
    return this.#hints.program;
  }

  /** What the commands that users are told to type depend on from now on. */
  completeHints(context: Partial<HintContext>): void {
    this.#hints = {...this.#hints, ...context};
  }

  addSecrets(values: readonly string[]): void {
    for (const value of values) if (!this.#secrets.includes(value)) this.#secrets.push(value);
  }

  /** Shows this URL with its query, wherever it is printed. */
  showQuery(url: string): void {
    this.#shownUrls.add(url);
  }

  /** Shows these values from now on, for a command that returns them. */
  revealSecrets(values: readonly string[]): void {
    this.#secrets = this.#secrets.filter((secret) => !values.includes(secret));
    this.#redact = createRedactor(this.#secrets, this.#shownUrls);
  }

  /** Sends what plugins and configuration files print to stderr: stdout is for results. */
  redirectStdout(): void {
    this.#options.stdout.write = ((...args: Parameters<Writable['write']>) =>
      this.stream.write(...args)) as Writable['write'];
  }

  /** Reserves stdout for data, by the returned stream. What else is printed to it goes to stderr. */
  claimStdout(): Writable {
    this.stdoutClaimed = true;
    return new Writable({
      write: (chunk: Uint8Array, _encoding, done) => void this.#writeStdout(chunk, done),
    });
  }

  data(text: string): void {
    this.#writeStdout(text);
  }

  /** Takes `stream` back from a task list that has not ended: it hides the cursor and holds back other output. */
  releaseStream(): void {
    if (!this.redraws) return;
    this.stream.write = this.#writeStderr;
    this.showCursor();
  }

  /** Ends the line on which a terminal shows the key of a signal, as `^C`. */
  endLine(): void {
    if (this.stream.isTTY === true) this.#writeStderr('\n');
  }

  /** Shows the cursor before the process is stopped, even while other output is held back. */
  showCursor(): void {
    this.#writeStderr('\u001B[?25h');
  }

  releaseStdout(): void {
    this.stdoutClaimed = false;
    this.#options.stdout.write = this.#writeStdout;
  }

  /** Waits until stdout has everything. Resolves to false if its reader has left. */
  async flush(): Promise<boolean> {
    const error = await new Promise<Error | null | undefined>((resolve) => void this.#writeStdout('', resolve));
    if (error && systemCode(error) !== 'EPIPE') throw stdoutError(error);
    return !error;
  }

  /** A line of the outcome, for users. With `--json`, the document has it. `style`: on a terminal with colors. */
  result(line: string, {style}: {readonly style?: LineStyle | undefined} = {}): void {
    if (this.json) return;
    const text = this.#plain(this.clean(line));
    const {color, colorsResults} = this.#options;
    const isColored = this.stdoutClaimed ? color : colorsResults;
    const shown = `${style !== undefined && isColored ? inStyle(style, text) : text}\n`;
    if (this.stdoutClaimed) this.stream.write(shown);
    else this.#writeStdout(shown);
  }

  /** A sentence of the outcome, wrapped between words on a terminal. `indent`: what its other lines begin with. */
  outcome(sentence: Suggestion, indent = '  '): void {
    for (const line of wrapSentence(this.#render(sentence), this.width, indent)) this.result(line);
  }

  /** What to do next, after the outcome. It is no result, so `--quiet` leaves it out. */
  hint(sentence: Suggestion): void {
    if (!this.#options.quiet) this.outcome(sentence);
  }

  /** Prints what a question is about where it is asked: on stderr, with `--quiet` and `--json` too. */
  get subject() {
    return {
      width: terminalWidth(this.stream),
      clean: (text: string) => this.clean(text),
      result: (line: string) => void this.stream.write(`${this.#plain(this.clean(line))}\n`),
    };
  }

  /** A message about progress or next steps. */
  info(line: Suggestion): void {
    if (!this.#options.quiet) this.#write(this.#render(line));
  }

  /**
   * A warning, in one line, so that a server's can't look like several, and part of the document. Printed once, unless
   * it `recurs`.
   */
  warn(message: string, suggestions: readonly Suggestion[] = [], {recurs = false} = {}): void {
    const texts = this.texts(suggestions);
    // The last one may end in a command, which users copy.
    const told = [message, ...texts.slice(0, -1).map(asSentence), ...texts.slice(-1)].join(' ');
    const text = oneLine(this.clean(told));
    if (this.#warnings.has(text) && !recurs) return;
    this.#warnings.add(text);
    this.#onWarning?.(text);
    if (this.#options.annotating) this.stream.write(`${annotation('warning', text)}\n`);
    else if (this.#showWarning) this.#showWarning(`${this.paint('yellow', 'Warning:')} `, text);
    else this.#write(this.#render(text), 'Warning:', 'yellow');
  }

  debug(line: string): void {
    if (this.#options.debugging) this.stream.write(`${this.#plain(this.paint('dim', `debug: ${this.clean(line)}`))}\n`);
  }

  error(message: string, suggestions: readonly Suggestion[]): void {
    const text = this.clean(message);
    if (this.#options.annotating) this.stream.write(`${annotation('error', text)}\n`);
    else this.#write(this.#render(text), 'Error:', 'red');
    for (const suggestion of suggestions) this.#write(this.#render(suggestion), ' ');
  }

  /** Writes the JSON document once, with `--json` only. */
  document(document: JsonDocument): void {
    if (!this.json || this.#documentWritten) return;
    this.#documentWritten = true;
    this.#writeStdout(`${this.#json(this.complete(document), this.#hasLines ? 0 : 2)}\n`);
  }

  /** One of any number of documents, with `--json` only. */
  documentLine(document: JsonDocument): void {
    if (this.json) this.#writeStdout(`${this.#json({schemaVersion: 1, ...document}, 0)}\n`);
  }

  /** From now on, a document is a line: for commands that print until they are stopped. */
  expectLines(): void {
    this.#hasLines = true;
  }

  complete(document: JsonDocument): JsonDocument {
    const {warnings: own}: {readonly warnings?: unknown} = document;
    const listed: readonly unknown[] = Array.isArray(own) ? own : [];
    const all = new Set([...listed.map((item) => oneLine(this.clean(String(item)))), ...this.#warnings]);
    return {schemaVersion: 1, ...document, ...(all.size > 0 && {warnings: [...all]})};
  }

  jsonLine(value: unknown): string {
    return this.#json(value, 0);
  }

  /** Redirects warnings from stderr; undefined: to stderr again. */
  showWarnings(show: ((label: string, text: string) => void) | undefined): void {
    this.#showWarning = show;
  }

  followWarnings(onWarning: (message: string) => void): void {
    this.#warnings.forEach(onWarning);
    this.#onWarning = onWarning;
  }

  clean(text: string): string {
    return this.#redact(sanitize(text));
  }

  wrap(line: string, indent: string): readonly string[] {
    return wrapSentence(line, terminalWidth(this.stream), indent);
  }

  /** Suggestions. For programs, with the commands' full names, and the flags that configure the same anyway. */
  texts(suggestions: readonly Suggestion[], forPrograms = this.json): readonly string[] {
    if (forPrograms) return suggestions.map((suggestion) => suggestionText(suggestion, this.#surroundings()));
    return suggestions.map((suggestion) => this.#spell(suggestion, (command) => command));
  }

  /** With `hiddenValue` for what would be masked. Of an option, its name stays. */
  #surroundings(): RunSurroundings {
    const {typed, settings} = this.#hints;
    const shown = (flag: string, words: readonly string[]) =>
      words.map((word) => (this.clean(word) === word ? word : hiddenWord(flag, word)));
    const isNew = ({run, fresh}: RunSetting) => !isDeepStrictEqual(run, fresh);
    return {
      ...this.#hints,
      typed: typed.map((one) => ({...one, words: shown(one.flag, one.words)})),
      settings: settings.map((one) => (isNew(one) ? {...one, run: shown(one.flag, one.run)} : one)),
    };
  }

  #render(sentence: Suggestion): string {
    return this.#spell(sentence, unbroken);
  }

  #spell(sentence: Suggestion, spellCommand: (command: string) => string): string {
    return partsOf(sentence)
      .map((part) => this.clean(typeof part === 'string' ? part : spellCommand(this.#shortest(part))))
      .join('');
  }

  /** A command with its short name, and without the flags that would resolve to the same without it. */
  #shortest(command: CommandToRun): string {
    const [id = '', ...args] = completeCommand(command, this.#surroundings(), true);
    return shellLine(...this.#hints.program, this.#hints.aliases.get(id) ?? id, ...args);
  }

  // Masks value by value, because a secret in the finished text may be escaped.
  #json(value: unknown, indent: number): string {
    const masked = (_key: string, item: unknown): unknown => {
      if (typeof item === 'string') return this.#redact(item);
      if (!isRecord(item)) return item;
      return Object.fromEntries(Object.entries(item).map(([key, inner]) => [this.#redact(key), inner]));
    };
    const json = escapeControls(JSON.stringify(value, masked, indent));
    return this.#options.annotating ? withoutCommandsInJson(json) : json;
  }

  /** For what stderr gets. */
  paint(style: LineStyle | 'green', text: string): string {
    return this.#options.color ? inStyle(style, text) : text;
  }

  #plain(text: string): string {
    return this.#options.annotating ? withoutCommands(text) : text;
  }

  #write(sentence: string, label = '', style?: 'red' | 'yellow'): void {
    const lead = label === '' ? '' : `${label} `;
    const indent = ' '.repeat(style === undefined ? lead.length + 2 : lead.length);
    const [first = '', ...more] = this.wrap(lead + sentence, indent);
    const shown = style === undefined ? first : this.paint(style, label) + first.slice(label.length);
    for (const line of [shown, ...more]) this.stream.write(`${this.#plain(line)}\n`);
  }
}

function inStyle(style: LineStyle | 'green', text: string): string {
  return styleText(style, text, {validateStream: false});
}

export function stdoutError(error: Error): Error {
  return createError('ERR_OUTPUT', asSentence(`stdout cannot be written: ${error.message}`), {cause: error});
}
