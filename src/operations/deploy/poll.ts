import {setTimeout as sleep} from 'node:timers/promises';
import {defaultWait, longestTimeoutSeconds} from '../../settings/schemas.js';
import type {OpenBackend} from '../open-backend.js';
import type {WaitOptions} from '../options.js';

/** The least pause between looks, in milliseconds. */
const leastPauseMs = 500;

/** Waits. @throws `signal.reason` when aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, {signal}).catch(() => {
    signal.throwIfAborted();
  });
}

/** The next pause, at most the interval: a fifth of the time waited, so that the end is noticed at most that late. */
export function pauseMs(intervalMs: number, waitedMs: number): number {
  return Math.min(intervalMs, Math.max(leastPauseMs, waitedMs / 5));
}

/**
 * Starts looking at something until it has changed: the timeout counts from now on.
 * @param defaults of what the run has no limit for
 */
export function startPoll({limits, signal}: Pick<OpenBackend, 'limits' | 'signal'>, defaults: WaitOptions = {}) {
  const {pollInterval = defaults.pollInterval ?? defaultWait.pollInterval} = limits;
  const {timeout = defaults.timeout ?? defaultWait.timeout} = limits;
  const intervalMs = Math.min(pollInterval, longestTimeoutSeconds) * 1000;
  // A timer, because the system time may jump.
  const limitMs = Math.ceil(Math.min(timeout, longestTimeoutSeconds) * 1000);
  const startedAt = performance.now();
  /** Milliseconds until the time is up; undefined without a limit. */
  const leftMs = () => (limitMs > 0 ? Math.max(0, Math.round(startedAt + limitMs - performance.now())) : undefined);
  return {
    /** Maximum seconds to wait; 0 for no limit. */
    timeout,
    /** For requests: aborted by the caller, or when the time is up. */
    signal: limitMs > 0 ? AbortSignal.any([signal, AbortSignal.timeout(limitMs)]) : signal,
    leftMs,
    isLate: () => leftMs() === 0,
    /** Pauses until the next look is due (with `longest`, for the whole interval), or the time is up. */
    async pause({longest} = {longest: false}) {
      const ms = longest ? intervalMs : pauseMs(intervalMs, performance.now() - startedAt);
      await pause(Math.min(ms, leftMs() ?? ms), signal);
    },
  };
}

export type Poll = ReturnType<typeof startPoll>;
