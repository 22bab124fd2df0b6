import {createError} from '../errors/index.js';

/** The error of a command that something else has ended. */
export function endedEarly(): Error {
  return createError('ERR_ENDED_EARLY', 'The command ended before its work was done.', {
    suggestions: [
      'Code that it ran has ended the process, or waits for something that never comes: look at config.server, mycli.config and plugins.',
    ],
  });
}

/** What can end a process beside the command itself. */
export interface AbnormalEnd {
  /** Rejects when an exception was caught nowhere, or stdout cannot be written. */
  readonly failed: Promise<never>;
  /** Whether an error is that of a pipe that its reader has closed: `| head`. */
  isClosedPipe(error: unknown): boolean;
}

/** Watches for exceptions that nothing catches and for streams that cannot be written. A closed pipe is no failure. */
export function watchProcess(host: NodeJS.Process): AbnormalEnd {
  let pipeClosed = false;
  const failed = new Promise<never>((_resolve, reject) => {
    host.on('uncaughtException', reject);
    // Nothing is left to wait for, and the command has not come to its end.
    host.once('beforeExit', () => reject(endedEarly()));
    // Before oclif's own listener, which throws.
    host.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') pipeClosed = true;
      else reject(createError('ERR_OUTPUT', `stdout cannot be written: ${error.message}.`, {cause: error}));
    });
    // Nobody is left to be told.
    host.stderr.on('error', () => undefined);
  });
  return {failed, isClosedPipe: (error) => pipeClosed && isBrokenPipe(error)};
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
