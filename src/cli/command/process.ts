import {inspect} from 'node:util';
import type {EventEmitter} from 'node:events';
import {createError, signalExitCodes} from '../../errors/index.js';
import {systemCode} from '../../errors/system-failure.js';
import {asSentence} from '../../errors/sentence.js';
import {stdoutError, type Output} from '../output/output.js';

/**
 * Watches for uncaught exceptions and for streams that cannot be written: `failed` rejects. A pipe whose reader has
 * closed it, as in `| head`, is not a failure: `isClosedPipe`.
 */
export function watchProcess(host: NodeJS.Process) {
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
  return {failed, isClosedPipe: (error: unknown) => pipeClosed && systemCode(error) === 'EPIPE'};
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** How long a command may clean up after a signal, in milliseconds. */
const cleanupMs = 800;

/**
 * Handles SIGINT, SIGTERM and SIGHUP: the first one aborts and allows a short time to clean up, the second one exits at
 * once. `overdue` rejects when the command has not ended after its time to clean up.
 */
export function ownSignals(host: Pick<EventEmitter, 'on'>, endNow: (exitCode: number) => void) {
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
