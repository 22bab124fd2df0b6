import {resolve} from 'node:path';
import {createError, exitCodes} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {EventFeed} from '../../pipelines/event-feed.js';
import type {EventError, RuntimeEvent} from '../../operations/events.js';
import {openDescriptor, openFile, placeOf, stdout, type Destination} from './event-destination.js';
import type {JsonDocument, Output} from './output.js';

/** The events of a command, on their way to a file or a pipe. */
export interface RunEvents {
  readonly feed: EventFeed;
  /** The file that they are written to, if it is one. */
  readonly file: string | undefined;
  /** The last event, unless there is one already. */
  succeed(document: JsonDocument | undefined): void;
  /** The last event, unless there is one already. */
  fail(error: EventError, how: 'error' | 'interrupted'): void;
  /** Writes what is left, within a second, because the process is about to end. */
  close(): void;
}

/**
 * Opens the destination of `--events`.
 * @param destination a file, `-` for stdout, or `fd:3` for a descriptor that the caller has opened.
 * @throws RuntimeCliError `ERR_USAGE` or `ERR_OUTPUT` when it cannot be used.
 */
export function openRunEvents(destination: string, cwd: string, output: Output): RunEvents {
  const place = placeOf(destination);
  if (place === stdout && output.json) {
    throw createError('ERR_USAGE', '--events - and --json cannot be used together: both write to stdout.', {
      suggestions: ['Pass --events a file, or fd:3 and open that descriptor.'],
    });
  }
  const lines = new LineWriter(
    typeof place === 'string' ? openFile(resolve(cwd, place)) : openDescriptor(place),
    (why) => {
      output.warn(asSentence(`The rest of the events cannot be written: ${why}`));
    },
  );
  if (place === stdout) output.claimStdout();
  const feed = new EventFeed(
    (event) => {
      lines.write(lineOf(event, output), {mayBeDropped: event.type !== 'outcome'});
    },
    () => new Date(),
  );
  output.followWarnings((message) => {
    feed.warn(message);
  });
  return {
    feed,
    file: typeof place === 'string' ? resolve(cwd, place) : undefined,
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

/** How many bytes may wait for a slow reader. */
const queueLimit = 1024 * 1024;
/** How often to try again when a reader is slow, in milliseconds. */
const retryMs = 20;
/** How long to wait for a slow reader at the end, in milliseconds. */
const lastWaitMs = 1000;

/** Writes whole lines without ever waiting for their reader. If it leaves, nothing more is written. */
class LineWriter {
  readonly #destination: Destination;
  readonly #onFailure: (why: string) => void;
  #queue: Uint8Array[] = [];
  #queued = 0;
  /** Bytes of the first line in the queue that are written. */
  #written = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;

  /** @param onFailure called once if lines can no longer be written, unless it is for want of a reader. */
  constructor(destination: Destination, onFailure: (why: string) => void) {
    this.#destination = destination;
    this.#onFailure = onFailure;
  }

  write(line: Buffer, {mayBeDropped}: {readonly mayBeDropped: boolean}): void {
    if (!this.#isOpen || (mayBeDropped && this.#queued + line.length > queueLimit)) return;
    this.#queue.push(line);
    this.#queued += line.length;
    if (this.#timer === undefined) this.#flush();
  }

  close(): void {
    if (!this.#isOpen) return;
    const endsAt = performance.now() + lastWaitMs;
    const never = new Int32Array(new SharedArrayBuffer(4));
    this.#flush();
    while (this.#queue.length > 0 && performance.now() < endsAt) {
      Atomics.wait(never, 0, 0, retryMs);
      this.#flush();
    }
    this.#stop();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      for (let line = this.#queue[0]; line !== undefined; line = this.#queue[0]) {
        this.#written += this.#destination.write(line.subarray(this.#written));
        if (this.#written < line.length) continue;
        this.#queue.shift();
        this.#queued -= line.length;
        this.#written = 0;
      }
    } catch (error) {
      const code = systemCode(error) ?? '';
      if (!isForNow.has(code)) {
        this.#stop();
        if (code !== 'EPIPE' && code !== 'ECONNRESET') this.#onFailure(reasonOf(error));
        return;
      }
      this.#timer = setTimeout(() => {
        this.#flush();
      }, retryMs).unref();
    }
  }

  #stop(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    try {
      if (this.#written > 0) this.#destination.takeBack?.(this.#written);
      this.#destination.close();
    } catch {
      // Nothing depends on it.
    }
    this.#queue = [];
  }
}

/** Failures that may be over later: a full pipe, or one that nobody reads yet. */
const isForNow: ReadonlySet<string> = new Set(['EAGAIN', 'ENXIO', 'EINTR']);

/** The longest line in bytes: what POSIX pipes on Linux take as a whole or not at all. */
const lineLimit = 4096;

/** The line of an event. If it would be too long, its outcome loses the largest keys, and texts are cut. */
function lineOf(event: RuntimeEvent, output: Output): Buffer {
  let fitting = event;
  for (;;) {
    const line = Buffer.from(`${output.jsonLine(fitting)}\n`);
    if (line.length <= lineLimit) return line;
    fitting = shorter(fitting);
  }
}

function shorter(event: RuntimeEvent): RuntimeEvent {
  if (event.type !== 'outcome') return withShorterText(event);
  const {omitted = []} = event;
  if (event.status === 'success') {
    const {kept, left} = withoutLargest(event.result);
    return left === undefined ? {...event, result: undefined} : {...event, result: kept, omitted: [...omitted, left]};
  }
  const {details, suggestions, ...error} = event.error;
  if (details !== undefined) {
    const {kept, left} = withoutLargest(details);
    const rest: EventError = {...event.error, details: left === undefined ? undefined : kept};
    return {...event, error: rest, omitted: left === undefined ? omitted : [...omitted, `details.${left}`]};
  }
  if (suggestions !== undefined) return {...event, error, omitted: [...omitted, 'suggestions']};
  return {...event, error: withShorterText(error)};
}

/** An object without its largest value, and the key of that. */
function withoutLargest(value: unknown): {readonly kept: Readonly<Record<string, unknown>>; readonly left?: string} {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const sized = entries.map(([key, item]) => ({key, size: JSON.stringify([item]).length}));
  const left = sized.toSorted((a, b) => b.size - a.size)[0]?.key;
  return left === undefined ? {kept: {}} : {kept: Object.fromEntries(entries.filter(([key]) => key !== left)), left};
}

/** The same with its longest text cut in half. */
function withShorterText<Value extends object>(value: Value): Value {
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [longest] = texts.toSorted(([, a], [, b]) => b.length - a.length);
  if (longest === undefined) return value;
  const [key, text] = longest;
  return {...value, [key]: `${text.slice(0, Math.floor(text.length / 2)).replace(/[\uD800-\uDBFF]$/, '')}…`};
}
