import type {EventEmitter} from 'node:events';
import {createError, signalExitCodes} from '../../errors/index.js';
import type {Output} from '../output/output.js';

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** How long a command may clean up after a signal, in milliseconds. */
const cleanupMs = 800;

/** Milliseconds within which a signal is the first one again: `timeout` and npm pass on what the group got already. */
const repeatMs = 1000;

/**
 * The first SIGINT, SIGTERM or SIGHUP aborts, and `overdue` rejects when the time to clean up is over. A later one
 * exits at once. While `guardCode` runs code, signals end the process at once, even if that code loops.
 */
export function ownSignals(
  host: Pick<EventEmitter, 'on' | 'rawListeners' | 'removeAllListeners'>,
  endNow: (exitCode: number) => void,
) {
  const controller = new AbortController();
  const {signal} = controller;
  let firstAt = 0;
  for (const name of signals) {
    host.on(name, () => {
      const exitCode = signalExitCodes[name];
      if (!signal.aborted) {
        firstAt = performance.now();
        controller.abort(createError('ERR_INTERRUPTED', `Interrupted by ${name}.`, {exitCode}));
      } else if (performance.now() - firstAt > repeatMs) endNow(exitCode);
    });
  }
  const overdue = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), cleanupMs));
  });
  const guardCode = async <T>(load: () => Promise<T>): Promise<T> => {
    const listeners = signals.flatMap((name) =>
      host.rawListeners(name).map((one) => [name, one as () => void] as const),
    );
    for (const name of signals) host.removeAllListeners(name);
    try {
      return await load();
    } finally {
      for (const [name, listener] of listeners) host.on(name, listener);
    }
  };
  return {signal, overdue, guardCode};
}

/** Shows the cursor before Ctrl-Z or Ctrl-\. `stream` emits `stop`, which ends a question, and `continue`. */
export function yieldTerminal(host: NodeJS.Process, output: Output): void {
  const {stream} = output;
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    output.showCursor();
    stream.emit('stop');
  };
  const goOn = () => {
    if (isStopped) stream.emit('continue');
    isStopped = false;
  };
  const onStop = () => {
    stop();
    // Once a question has ended.
    setImmediate(() => {
      // What has started us stops as well, such as npx: a terminal in raw mode tells nobody else.
      host.kill(0, 'SIGTSTP');
      host.once('SIGTSTP', onStop);
      // Where no shell could let it go on, the system has not stopped it.
      setImmediate(goOn);
    });
  };
  host.once('SIGTSTP', onStop);
  host.once('SIGQUIT', () => {
    output.showCursor();
    host.kill(host.pid, 'SIGQUIT');
  });
  host.on('SIGCONT', () => {
    if (!isStopped) stop();
    setImmediate(goOn);
  });
}
