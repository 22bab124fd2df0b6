import {closeSync, existsSync, openSync, writeSync} from 'node:fs';
import {resolve} from 'node:path';
import {createError, exitCodes, isRuntimeCliError, outputError, reasonOf} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {notOurs, ownKind, readHead} from '../../files/own-files.js';
import {createEventFeed} from '../../pipelines/event-feed.js';
import {verifyRegular} from '../../files/write-files.js';
import type {EventError} from '../../operations/events.js';
import type {JsonDocument, Output} from './output.js';

export class RunEvents {
  readonly emit: ReturnType<typeof createEventFeed>;
  /** The file that they are written to, if it is one. */
  readonly file: string | undefined;
  readonly #output: Output;
  /** Of the file; undefined once it is closed. */
  #descriptor: number | undefined;

  /** @param destination A file, to which events are appended, or `-` for stdout. */
  constructor(destination: string, cwd: string, output: Output) {
    if (destination === '-' && output.json) {
      throw createError('ERR_USAGE', '--events - and --json cannot be used together: both write to stdout.', {
        suggestions: ['Pass --events FILE.'],
      });
    }
    this.#output = output;
    this.file = destination === '-' ? undefined : resolve(cwd, destination);
    if (this.file === undefined) output.claimStdout();
    else this.#descriptor = openFile(this.file);
    this.emit = createEventFeed((event) => this.#write(`${output.jsonLine(event)}\n`));
    output.followWarnings((message) => this.emit({type: 'warning', message}));
  }

  succeed(document: JsonDocument | undefined): void {
    const result = document && this.#output.complete(document);
    this.emit({type: 'outcome', status: 'success', ...(result && {result})});
  }

  fail(error: EventError, how: 'error' | 'interrupted'): void {
    this.emit({type: 'outcome', status: how, error});
  }

  close(): void {
    const message = 'The process ended before the command finished.';
    this.fail({code: 'ERR_INTERRUPTED', message, exitCode: exitCodes.interrupted, suggestions: []}, 'interrupted');
    this.#closeFile();
  }

  /** Each line at once, so that none is lost however the process ends. A full disk stops only the events. */
  #write(line: string): void {
    if (this.file === undefined) this.#output.data(line);
    if (this.#descriptor === undefined) return;
    try {
      writeSync(this.#descriptor, line);
    } catch (error) {
      this.#closeFile();
      this.#output.warn(asSentence(`The rest of the events cannot be written: ${reasonOf(error)}`));
    }
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function openFile(path: string): number {
  try {
    verifyRegular(path);
    const head = existsSync(path) ? readHead(path) : '';
    if (head !== '' && ownKind(head) !== 'events') throw notOurs(path, '--events');
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw isRuntimeCliError(error) ? error : outputError(path, error);
  }
}
