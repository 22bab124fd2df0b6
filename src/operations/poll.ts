import {setTimeout as sleep} from 'node:timers/promises';
import {createError} from '../errors/index.js';
import {longestTimeoutSeconds} from './longest-timeout.js';
import type {WaitOptions} from './options.js';

/** How often to look at something that takes its time, and how long. */
export interface PollTimes {
  /** Milliseconds between two looks, as far as a timer reaches. */
  readonly intervalMs: number;
  /** Seconds to wait at most; 0: without end. */
  readonly timeout: number;
}

/**
 * The times that the options of an operation ask for.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` for a pause that is none, and for a negative time-out.
 */
export function pollTimes({pollInterval = 5, timeout = 600}: WaitOptions): PollTimes {
  if (!(pollInterval > 0)) {
    throw createError('ERR_OPTION_INVALID', `pollInterval must be above 0, not ${String(pollInterval)}`);
  }
  if (!(timeout >= 0)) throw createError('ERR_OPTION_INVALID', `timeout must be at least 0, not ${String(timeout)}`);
  return {intervalMs: Math.min(pollInterval, longestTimeoutSeconds) * 1000, timeout};
}

/** The first pause between two looks, milliseconds. */
const firstPauseMs = 500;

/** How long to pause after the `looks`-th look that told something, the first being 1: longer each time, up to the interval. */
export function pauseMs({intervalMs}: Pick<PollTimes, 'intervalMs'>, looks: number): number {
  return Math.min(intervalMs, firstPauseMs * 2 ** (looks - 1));
}

/** The pauses between looks. */
export interface Poll extends Pick<PollTimes, 'timeout'> {
  /**
   * Pauses until the next look is due; false, at once, when the time is up.
   * @throws `signal.reason` when aborted.
   */
  pause(): Promise<boolean>;
}

/** Begins to poll: the time runs from now on. */
export function startPoll(options: WaitOptions, signal: AbortSignal): Poll {
  const {intervalMs, timeout} = pollTimes(options);
  // Not the time of day, which may jump.
  const endsAt = timeout > 0 ? performance.now() + timeout * 1000 : Number.POSITIVE_INFINITY;
  let looks = 0;
  return {
    timeout,
    async pause() {
      const left = endsAt - performance.now();
      if (left <= 0) return false;
      looks += 1;
      await sleep(Math.min(pauseMs({intervalMs}, looks), left), undefined, {signal}).catch(() => {
        signal.throwIfAborted();
      });
      return true;
    },
  };
}
