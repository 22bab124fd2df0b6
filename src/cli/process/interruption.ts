import {createError} from '../../errors/index.js';

const exitCodes = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const;
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** How long a command may take to clean up after a signal, in milliseconds. */
const cleanupMs = 800;

/** Signals, owned from the start of the process to its end. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Rejects when a command has had its time to clean up and has not ended. */
  readonly overdue: Promise<never>;
  /** Gives the signals back. */
  dispose(): void;
}

/**
 * Owns SIGINT, SIGTERM and SIGHUP: the first one aborts and grants a short time to clean up, a second one ends at once.
 * @param endNow ends the process with an exit code, whatever is going on.
 */
export function ownSignals(host: NodeJS.Process, endNow: (exitCode: number) => void): Interruption {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => {
      timer = setTimeout(() => reject(controller.signal.reason), cleanupMs);
    });
  });
  const onSignal = (name: (typeof signals)[number]) => {
    if (controller.signal.aborted) {
      endNow(exitCodes[name]);
      return;
    }
    controller.abort(createError('ERR_INTERRUPTED', `Interrupted by ${name}.`, {exitCode: exitCodes[name]}));
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
