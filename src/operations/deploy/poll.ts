import {setTimeout as sleep} from 'node:timers/promises';
import {optionProblems, rejectProblems} from '../../settings/option-problems.js';
import {defaultWait, longestTimeoutSeconds} from '../../settings/schemas.js';
import type {WaitOptions} from '../options.js';

/** The first pause between looks, in milliseconds. */
const firstPauseMs = 500;

/** Waits. @throws `signal.reason` when aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, {signal}).catch(() => {
    signal.throwIfAborted();
  });
}

/** The pause after the nth look: grows by half each time, up to the interval. */
export function pauseMs(intervalMs: number, looks: number): number {
  return Math.min(intervalMs, firstPauseMs * 1.5 ** (looks - 1));
}

/** Looks at something until it has changed. */
export interface Poll {
  /** Maximum seconds to wait; 0 for no limit. */
  readonly timeout: number;
  /** For requests: aborted by the caller, or when the time is up. */
  readonly signal: AbortSignal;
  /** Milliseconds until the time is up; undefined without a limit. */
  leftMs(): number | undefined;
  /** Whether the time is up. */
  isLate(): boolean;
  /**
   * Pauses until the next look is due, or the time is up.
   * @param options `longest`: for the whole interval
   * @throws the reason of the caller's abort.
   */
  pause(options?: {readonly longest: boolean}): Promise<void>;
}

/**
 * Starts polling: the timeout counts from now on.
 * @param given the caller's signal
 */
export function startPoll(options: WaitOptions, given: AbortSignal): Poll {
  const {pollInterval = defaultWait.pollInterval, timeout = defaultWait.timeout} = options;
  rejectProblems(optionProblems(options, ['pollInterval', 'timeout']));
  const intervalMs = Math.min(pollInterval, longestTimeoutSeconds) * 1000;
  // A timer, because the system time may jump.
  const limitMs = Math.ceil(Math.min(timeout, longestTimeoutSeconds) * 1000);
  const endsAt = performance.now() + limitMs;
  const leftMs = () => (limitMs > 0 ? Math.max(0, Math.round(endsAt - performance.now())) : undefined);
  let looks = 0;
  return {
    timeout,
    signal: limitMs > 0 ? AbortSignal.any([given, AbortSignal.timeout(limitMs)]) : given,
    leftMs,
    isLate: () => leftMs() === 0,
    async pause({longest} = {longest: false}) {
      looks += 1;
      const ms = longest ? intervalMs : pauseMs(intervalMs, looks);
      await pause(Math.min(ms, leftMs() ?? ms), given);
    },
  };
}
