import {closeSync, openSync, writeSync} from 'node:fs';
import {resolve} from 'node:path';
import {createError, exitCodes} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {EventFeed} from '../../pipelines/event-feed.js';
import type {EventError} from '../../operations/events.js';
import type {JsonDocument, Output} from './output.js';

/** The events of a command, on their way to a file or stdout. */
export interface RunEvents {
  readonly feed: EventFeed;
  /** The file that they are written to, if it is one. */
  readonly file: string | undefined;
  /** The last event, unless there is one already. */
  succeed(document: JsonDocument | undefined): void;
  /** The last event, unless there is one already. */
  fail(error: EventError, how: 'error' | 'interrupted'): void;
  /** The process is about to end. */
  close(): void;
}

/**
 * Opens the destination of `--events`.
 * @param destination a file, to which they are appended, or `-` for stdout.
 * @throws RuntimeCliError `ERR_USAGE` or `ERR_OUTPUT` when it cannot be used.
 */
export function openRunEvents(destination: string, cwd: string, output: Output): RunEvents {
  if (destination === '-' && output.json) {
    throw createError('ERR_USAGE', '--events - and --json cannot be used together: both write to stdout.', {
      suggestions: ['Pass --events FILE.'],
    });
  }
  const file = destination === '-' ? undefined : resolve(cwd, destination);
  const lines = file === undefined ? stdoutLines(output) : fileLines(file, output);
  const feed = new EventFeed(
    (event) => lines.write(`${output.jsonLine(event)}\n`),
    () => new Date(),
  );
  output.followWarnings((message) => feed.warn(message));
  return {
    feed,
    file,
    succeed(document) {
      const result = document && output.complete(document);
      feed.emit({type: 'outcome', status: 'success', ...(result && {result})});
    },
    fail(error, how) {
      feed.emit({type: 'outcome', status: how, error});
    },
    close() {
      const message = 'The process was ended before the command was done.';
      const error = {code: 'ERR_INTERRUPTED', message, exitCode: exitCodes.interrupted};
      feed.emit({type: 'outcome', status: 'interrupted', error});
      lines.close();
    },
  };
}

interface Lines {
  write(line: string): void;
  close(): void;
}

function stdoutLines(output: Output): Lines {
  output.claimStdout();
  return {write: (line) => output.data(line), close: () => undefined};
}

/** Appends each line at once, so that none is lost however the process ends. A full disk stops only the events. */
function fileLines(path: string, output: Output): Lines {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'a', 0o600);
  } catch (error) {
    throw createError('ERR_OUTPUT', asSentence(`The --events file ${path} cannot be written: ${reasonOf(error)}`), {
      suggestions: ['Pass --events a path in an existing folder that you can write to.'],
      cause: error,
    });
  }
  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    write(line) {
      if (descriptor === undefined) return;
      try {
        writeSync(descriptor, line);
      } catch (error) {
        close();
        output.warn(asSentence(`The rest of the events cannot be written: ${reasonOf(error)}`));
      }
    },
    close,
  };
}
