import {styleText} from 'node:util';
import prettyBytes from 'pretty-bytes';
import {describeRetry} from '../http/rate-limit/policy.js';
import type {OperationProgress} from '../operations/options.js';
import type {Step, StepView} from '../operations/steps.js';

/** Where to show steps. */
export interface StepTerminal {
  /** Whether the terminal can be redrawn. Otherwise plain lines are written with `info`. */
  readonly interactive: boolean;
  /** Whether `stream` supports color. */
  readonly color: boolean;
  /** Whether `stream` can show more than ASCII. */
  readonly unicode: boolean;
  /** The stream of the terminal. */
  readonly stream: NodeJS.WritableStream;
  /** Writes a line for users. */
  info(line: string): void;
  /** Writes a warning. */
  warn(message: string): void;
  /** Removes control characters and masks secrets. */
  clean(text: string): string;
  /** The lines of a text on a terminal this wide, broken between words. Those after the first begin with `indent`. */
  wrap(text: string, width: number, indent: string): readonly string[];
}

/** Shows a step in permanent lines or in a redrawn list. */
interface StepLines {
  /** The outcome of the step, which replaces its title. */
  done(title: string): void;
  /** A permanent line. */
  detail(line: string): void;
  /** A wait, counted down on a terminal until the next progress. Plain logs contain the client's own line. */
  countdown(describe: (leftMs: number) => string, delayMs: number): void;
  /** A temporary state. `fraction`: how much is done, 0 to 1. */
  progress(text: string, fraction?: number): void;
  /** A state of what is waited for, with the time that it has taken. */
  waiting(text: string, fraction?: number): void;
}

/** @throws Error when an operation runs an undeclared step, which is a bug. */
export function declared<Name extends string>(steps: readonly Step<Name>[], name: Name): Step<Name> {
  const step = steps.find((candidate) => candidate.name === name);
  if (step === undefined) throw new Error(`Bug: the step "${name}" was not declared.`);
  return step;
}

/** The starting point for measuring a rate. */
interface FirstProgress extends Pick<OperationProgress, 'transferred' | 'attempt'> {
  readonly at: number;
}

/** Describes what a step reports. */
export function showIn(lines: StepLines, terminal: Pick<StepTerminal, 'warn'>): StepView {
  let first: FirstProgress | undefined;
  return {
    done: lines.done,
    detail: lines.detail,
    warn: (message) => {
      terminal.warn(message);
    },
    progress: (progress) => {
      switch (progress.phase) {
        case 'deploy':
          return;
        case 'slot':
          lines.waiting(`waiting: ${progress.description ?? ''}`);
          return;
        case 'wait':
          // What has finished is told by what comes of the step.
          if (progress.status === 'finished') return;
          lines.waiting(describeDeployment(progress), progress.total === undefined ? undefined : fractionOf(progress));
          return;
        case 'check':
          lines.waiting(progress.description ?? '');
          return;
        case 'build':
        case 'upload':
        case 'download':
          // Bytes that were there before or are resent, and waits for a retry, do not count toward the rate.
          if (first === undefined || first.attempt !== progress.attempt || first.transferred > progress.transferred)
            first = {at: performance.now(), transferred: progress.transferred, attempt: progress.attempt};
          lines.progress(describeBytes(progress, first), fractionOf(progress));
      }
    },
    retry: (event) => {
      first = undefined;
      lines.countdown((leftMs) => describeRetry(event, `${String(Math.ceil(leftMs / 1000))} s`), event.delayMs);
    },
  };
}

/** `in progress, 40 %: copying the files` */
function describeDeployment({status = 'queued', transferred, total, description}: OperationProgress): string {
  const done = total === undefined ? '' : `, ${String(transferred)} %`;
  const said = description === undefined ? '' : `: ${description.replaceAll(/\s+/g, ' ')}`;
  return `${status.replace('_', ' ')}${done}${said}`;
}

/**
 * `12 MB of 40 MB (6 MB/s, 5 s left)`; without a rate until it is known. After the last byte of an upload, we wait for
 * the server.
 */
function describeBytes({phase, transferred, total}: OperationProgress, first: FirstProgress): string {
  const done = `${prettyBytes(transferred)}${total === undefined ? '' : ` of ${prettyBytes(total)}`}`;
  if (transferred === total) return phase === 'upload' ? `${done}, waiting for the server` : done;
  const elapsedMs = performance.now() - first.at;
  if (transferred === first.transferred || elapsedMs === 0) return done;
  const rate = ((transferred - first.transferred) / elapsedMs) * 1000;
  const left = total === undefined ? '' : `, ${String(Math.ceil((total - transferred) / rate))} s left`;
  return `${done} (${prettyBytes(Math.round(rate))}/s${left})`;
}

function fractionOf({transferred, total}: OperationProgress): number {
  return total ? transferred / total : 0;
}

/** Print that a step is running after this time without progress. */
const silenceMs = 5000;

/** Print progress every 5 s, or every 10 % if that takes at least a second. */
const plainProgress = {afterMs: 5000, fraction: 0.1, fractionAfterMs: 1000};

/** A view in a log. */
interface PlainView extends StepLines {
  /** Prints the outcome: the one line that each step has. */
  end(how: 'done' | 'failed'): void;
}

/** Shows a step in lines for a log, which are never redrawn. */
export function createPlainView(title: string, terminal: Pick<StepTerminal, 'info'>): PlainView {
  const startedAt = performance.now();
  const elapsed = () => describeDuration(performance.now() - startedAt);
  let outcome = title;
  let shownAt = startedAt;
  let shownFraction = 0;
  const silence = setTimeout(() => {
    terminal.info(`${title}: running`);
  }, silenceMs).unref();
  const progress = (text: string, fraction = 0) => {
    clearTimeout(silence);
    const now = performance.now();
    const since = now - shownAt;
    const farther = fraction - shownFraction >= plainProgress.fraction && since >= plainProgress.fractionAfterMs;
    if (!farther && since < plainProgress.afterMs) return;
    shownAt = now;
    shownFraction = fraction;
    terminal.info(`${title}: ${text}`);
  };
  return {
    done: (text) => {
      outcome = text;
    },
    detail: (text) => {
      terminal.info(`  ${text}`);
    },
    countdown: () => undefined,
    progress,
    waiting: (text, fraction) => {
      progress(`${text} (${elapsed()})`, fraction);
    },
    end: (how) => {
      clearTimeout(silence);
      terminal.info(how === 'done' ? `${outcome} [${elapsed()}]` : `${title}: failed [${elapsed()}]`);
    },
  };
}

/** The line of a step in a redrawn list, and what is shown below it. */
export interface RedrawnTask {
  title: string | undefined;
  output: string | undefined;
}

/** A view that must be ended with its step. */
interface RedrawnView extends StepLines {
  /** Removes the temporary state, and shows how long the step took. */
  end(): void;
}

/** Width of a step's progress bar, in characters. */
const barWidth = 20;

/** Shows a step in a redrawn list. */
export function createRedrawnView(task: RedrawnTask, terminal: Pick<StepTerminal, 'clean' | 'color'>): RedrawnView {
  const clean = (text: string) => terminal.clean(text);
  const startedAt = performance.now();
  const details: string[] = [];
  let counting: NodeJS.Timeout | undefined;
  const draw = (text: string) => {
    task.output = [...details, clean(text)].filter(Boolean).join('\n');
  };
  const show = (text: string) => {
    clearInterval(counting);
    draw(text);
  };
  const count = (describe: () => string) => {
    show(describe());
    counting = setInterval(() => {
      draw(describe());
    }, 1000).unref();
  };
  return {
    done: (title) => {
      task.title = clean(title);
      show('');
    },
    detail: (line) => {
      details.push(clean(line));
      show('');
    },
    countdown: (describe, delayMs) => {
      const endsAt = performance.now() + delayMs;
      count(() => describe(Math.max(0, endsAt - performance.now())));
    },
    progress: (text, fraction) => {
      show(withBar(text, fraction));
    },
    waiting: (text, fraction) => {
      count(() => `${withBar(text, fraction)} (${describeDuration(performance.now() - startedAt)})`);
    },
    end: () => {
      show('');
      // Never broken at the end of a line.
      const took = `[${describeDuration(performance.now() - startedAt).replaceAll(' ', '\u00A0')}]`;
      task.title = `${task.title ?? ''} ${terminal.color ? styleText('dim', took, {validateStream: false}) : took}`;
    },
  };
}

function withBar(text: string, fraction: number | undefined): string {
  return fraction === undefined ? text : `${bar(fraction)} ${text}`;
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
}

/** `85 ms`, `2.3 s`, `4 min 5 s` */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 59_950) return `${String(Math.round(ms / 100) / 10)} s`;
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`;
}
