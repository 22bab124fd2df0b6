import {inspect} from 'node:util';
import type {EventEmitter} from 'node:events';
import {createError, signalExitCodes} from '../../errors/index.js';
import {systemCode} from '../../errors/system-failure.js';
import {asSentence} from '../../errors/sentence.js';
import {stdoutError, type Output} from '../output/output.js';

/** What can fail besides the command itself. */
interface ProcessFailure {
  /** Rejects on an uncaught exception, or when stdout cannot be written. */
  readonly failed: Promise<never>;
  /** Whether an error means that a pipe's reader has closed it, as in `| head`. */
  isClosedPipe(error: unknown): boolean;
}

/** Watches for uncaught exceptions and for streams that cannot be written. A closed pipe is not a failure. */
export function watchProcess(host: NodeJS.Process): ProcessFailure {
  let pipeClosed = false;
  const failed = new Promise<never>((_resolve, reject) => {
    host.on('uncaughtException', reject);
    // Before oclif's own listener, which throws.
    host.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') pipeClosed = true;
      else reject(stdoutError(error));
    });
    // Nobody is left to tell.
    host.stderr.on('error', () => undefined);
  });
  return {failed, isClosedPipe: (error) => pipeClosed && systemCode(error) === 'EPIPE'};
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** How long a command may clean up after a signal, in milliseconds. */
const cleanupMs = 800;

interface Interruption {
  readonly signal: AbortSignal;
  /** Rejects when a command has not ended after its time to clean up. */
  readonly overdue: Promise<never>;
}

/**
 * Handles SIGINT, SIGTERM and SIGHUP: the first one aborts and allows a short time to clean up, the second one exits at
 * once.
 * @param endNow exits immediately with an exit code.
 */
export function ownSignals(host: Pick<EventEmitter, 'on'>, endNow: (exitCode: number) => void): Interruption {
  const controller = new AbortController();
  const {signal} = controller;
  for (const name of signals) {
    host.on(name, () => {
      const exitCode = signalExitCodes[name];
      if (signal.aborted) endNow(exitCode);
      else controller.abort(createError('ERR_INTERRUPTED', `Interrupted by ${name}.`, {exitCode}));
    });
  }
  const overdue = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), cleanupMs));
  });
  return {signal, overdue};
}

/**
 * Prints warnings of Node, oclif and plugins' packages like our own, in the document too. `--no-warnings` still
 * suppresses them.
 */
export function adoptWarnings(host: NodeJS.Process, output: Pick<Output, 'warn' | 'debug'>): void {
  if (host.listenerCount('warning') === 0) return;
  host.removeAllListeners('warning');
  host.on('warning', (warning: unknown) => {
    const message = warning instanceof Error ? warning.message : inspect(warning);
    // oclif adds advice on separate lines, but DEBUG has no such effect here.
    const lines = message.split('\n').filter((line) => !line.includes('DEBUG=*'));
    output.warn(asSentence(lines.join(', ')));
    output.debug(inspect(warning));
  });
}
