import {createError, signalExitCodes} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {commandLine} from '../../errors/suggest.js';
import type {Session} from './session.js';

/**
 * The error of a command that something else ended.
 * @param plugin the plugin that ended it, if known
 */
export function endedEarly(plugin?: string): Error {
  const message = 'The command ended before it was done';
  if (plugin !== undefined) {
    return createError('ERR_ENDED_EARLY', `${message}: plugin ${plugin} ended the process.`, {
      suggestions: [withoutPlugin(plugin)],
    });
  }
  return createError('ERR_ENDED_EARLY', `${message}.`, {
    suggestions: [
      'Code that it ran ended the process or waits for something that never happens. Check config.server, mycli.config and plugins.',
    ],
  });
}

/** The error of a command whose plugins' hooks wait for something that never happens. */
export function hooksUnfinished({event, names}: NonNullable<Session['hooks']>): Error {
  const [name = '', ...others] = names;
  const message = `The command ended before it was done: the ${event} hook of ${names.join(' or ')} did not finish.`;
  return createError('ERR_ENDED_EARLY', message, {
    suggestions: [
      others.length === 0
        ? withoutPlugin(name)
        : 'Set MYCLI_SKIP_PLUGINS=1 to go on without plugins. Uninstall them one by one to find the one to report.',
    ],
  });
}

/** What to do about a plugin that breaks a command. */
export function withoutPlugin(plugin: string): string {
  return `Report this to the authors of ${plugin}. To go on without it, run ${commandLine('plugins:uninstall', plugin)}, or set MYCLI_SKIP_PLUGINS=1.`;
}

/** What can end a process besides the command itself. */
interface AbnormalEnd {
  /** Rejects on an uncaught exception, or when stdout cannot be written. */
  readonly failed: Promise<never>;
  /** Whether an error means that a pipe's reader has closed it, as in `| head`. */
  isClosedPipe(error: unknown): boolean;
}

/**
 * Watches for uncaught exceptions and for streams that cannot be written. A closed pipe is not a failure.
 * @param idleError the error of a command that waits for something that never happens
 */
export function watchProcess(host: NodeJS.Process, idleError: () => Error): AbnormalEnd {
  let pipeClosed = false;
  const failed = new Promise<never>((_resolve, reject) => {
    host.on('uncaughtException', reject);
    // Nothing is pending, but the command has not ended.
    host.once('beforeExit', () => reject(idleError()));
    // Before oclif's own listener, which throws.
    host.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') pipeClosed = true;
      else reject(createError('ERR_OUTPUT', asSentence(`stdout cannot be written: ${error.message}`), {cause: error}));
    });
    // Nobody is left to tell.
    host.stderr.on('error', () => undefined);
  });
  return {failed, isClosedPipe: (error) => pipeClosed && isBrokenPipe(error)};
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/**
 * Decides the exit code of the process, whatever loaded code does with `process.exit` and `process.exitCode`.
 * @param onForeignExit called when something else ends the process; returns the exit code to use, or undefined to keep
 * it
 * @returns a function that ends the process
 */
export function ownExit(host: NodeJS.Process, onForeignExit: () => number | undefined): (exitCode: number) => void {
  const {exit} = host;
  const reallyExit: unknown = Reflect.get(host, 'reallyExit');
  let decided: number | undefined;
  const endNow = (asked: unknown) => {
    const exitCode = decided ?? asked;
    if (typeof reallyExit === 'function') Reflect.apply(reallyExit, host, [exitCode]);
  };
  // The last function that Node calls, after listeners that may set another exit code or exit again.
  Reflect.set(host, 'reallyExit', (asked: unknown) => {
    decided ??= onForeignExit();
    endNow(asked);
  });
  host.once('exit', () => {
    if (decided !== undefined) return;
    decided = onForeignExit();
    if (decided !== undefined) endNow(decided);
  });
  return (exitCode) => {
    decided = exitCode;
    try {
      exit.call(host, exitCode);
    } finally {
      // In case a listener of `exit` threw.
      endNow(exitCode);
    }
  };
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** How long a command may clean up after a signal, in milliseconds. */
const cleanupMs = 800;

/** Where signals arrive: the process. */
interface SignalSource {
  on(name: (typeof signals)[number], listener: (name: (typeof signals)[number]) => void): unknown;
  off(name: (typeof signals)[number], listener: (name: (typeof signals)[number]) => void): unknown;
}

/** Handles signals from the start of the process to its end. */
interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Rejects when a command has not ended after its time to clean up. */
  readonly overdue: Promise<never>;
  /** Stops handling signals. */
  dispose(): void;
}

/**
 * Handles SIGINT, SIGTERM and SIGHUP: the first one aborts and allows a short time to clean up, the second one exits at
 * once.
 * @param endNow exits immediately with an exit code.
 */
export function ownSignals(host: SignalSource, endNow: (exitCode: number) => void): Interruption {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => {
      timer = setTimeout(() => reject(controller.signal.reason), cleanupMs);
    });
  });
  const onSignal = (name: (typeof signals)[number]) => {
    if (controller.signal.aborted) {
      endNow(signalExitCodes[name]);
      return;
    }
    controller.abort(createError('ERR_INTERRUPTED', `Interrupted by ${name}.`, {exitCode: signalExitCodes[name]}));
  };
  for (const name of signals) host.on(name, onSignal);
  return {
    signal: controller.signal,
    overdue,
    dispose() {
      clearTimeout(timer);
      for (const name of signals) host.off(name, onSignal);
    },
  };
}
