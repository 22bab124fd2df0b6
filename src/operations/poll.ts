import {setTimeout as sleep} from 'node:timers/promises';
import type {Host} from './host.js';
import type {WaitOptions} from './options.js';

const defaultPollSeconds = 5;
const defaultTimeoutSeconds = 600;

/** The pauses between looks at something that takes its time. */
export interface Poll {
  /** Seconds after which there is no pause any more; 0: never. */
  readonly timeout: number;
  /**
   * Pauses until the next look is due; false, at once, when the time is up.
   * @throws `signal.reason` when aborted.
   */
  pause(): Promise<boolean>;
}

/** Begins to poll: the time runs from now on. */
export function startPoll(
  {pollInterval = defaultPollSeconds, timeout = defaultTimeoutSeconds}: WaitOptions,
  signal: AbortSignal,
  host: Pick<Host, 'now'>,
): Poll {
  const started = host.now().getTime();
  return {
    timeout,
    async pause() {
      const waited = (host.now().getTime() - started) / 1000;
      if (timeout > 0 && waited >= timeout) return false;
      const seconds = timeout > 0 ? Math.min(pollInterval, timeout - waited) : pollInterval;
      await sleep(seconds * 1000, undefined, {signal}).catch(() => {
        signal.throwIfAborted();
      });
      return true;
    },
  };
}
