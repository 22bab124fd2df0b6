import {setTimeout as sleep} from 'node:timers/promises';
import {isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../../errors/index.js';
import {defaultWait, longestTimeoutSeconds} from '../../settings/schemas.js';
import type {OpenBackend} from '../open-backend.js';
import type {WaitOptions} from '../options.js';

/** The least pause between looks, in milliseconds. */
const leastPauseMs = 500;

/** Waits. @throws `signal.reason` when aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, {signal}).catch(() => signal.throwIfAborted());
}

/** The next pause, at most the interval: a fifth of the time waited, so that the end is noticed at most that late. */
export function pauseMs(intervalMs: number, waitedMs: number): number {
  return Math.min(intervalMs, Math.max(leastPauseMs, waitedMs / 5));
}

interface Waiting<Seen, Found> {
  /** What the run has no limit for. */
  readonly defaults?: WaitOptions;
  /** Looks once. Calls of `polled` end when the time is up. */
  readonly look: (polled: OpenBackend) => Promise<Seen>;
  /** What has come of a look. Undefined: look again. @param leftMs until the time is up; undefined without a limit */
  readonly judge: (seen: Seen, leftMs: number | undefined) => Promise<Found | undefined> | Found | undefined;
  /** What it comes to when the time is up. @param timeout in seconds @param isLooking whether a look has no answer */
  readonly late: (timeout: number, isLooking: boolean) => Found;
  /** The error of looks that fail for good, or too often in a row. @default the first failure */
  readonly unreadable?: (failure: RuntimeCliError) => Error;
  /** Called with each failure that may be temporary. @param leftMs as of `judge` */
  readonly onLost?: (failure: RuntimeCliError, leftMs: number | undefined) => Promise<void>;
}

/** Consecutive failed looks before the state counts as unknown. */
export const maxLostPolls = 5;

/** What is waited for exists, so an answer that does not know it, or is about something else, proves nothing. */
export function isLost({code, status}: RuntimeCliError): boolean {
  return lostCodes.has(code) || status === 404 || status === 408;
}

const lostCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_NETWORK',
  'ERR_TIMEOUT',
  'ERR_SERVER',
  'ERR_MAINTENANCE',
  'ERR_RATE_LIMITED',
  'ERR_RESPONSE_INVALID',
  'ERR_BACKEND_FAILED',
]);

/** Looks at something until it has come to something. @throws `signal.reason` when the caller aborts */
export async function pollUntil<Seen, Found>(open: OpenBackend, waiting: Waiting<Seen, Found>): Promise<Found> {
  const {look, judge, late, unreadable, onLost} = waiting;
  const poll = startPoll(open, waiting.defaults);
  const polled = open.with({signal: poll.signal});
  let lost = 0;
  const lookOnce = async (): Promise<Found | undefined> => {
    let seen: Seen;
    try {
      seen = await look(polled);
    } catch (error) {
      if (poll.signal.aborted || unreadable === undefined || !isRuntimeCliError(error)) throw error;
      lost += 1;
      if (!isLost(error)) throw unreadable(error);
      await onLost?.(error, poll.leftMs());
      if (lost === maxLostPolls) throw unreadable(error);
      return undefined;
    }
    lost = 0;
    return judge(seen, poll.leftMs());
  };
  try {
    do {
      const found = await lookOnce();
      if (found !== undefined) return found;
      // A service that has failed gets time to recover.
      await poll.pause({longest: lost > 0});
    } while (poll.leftMs() !== 0);
  } catch (error) {
    open.signal.throwIfAborted();
    // Of a request that was under way when the time was up.
    if (error !== poll.signal.reason) throw error;
    return late(poll.timeout, true);
  }
  return late(poll.timeout, false);
}

function startPoll({limits, signal}: OpenBackend, defaults: WaitOptions = {}) {
  const {pollInterval = defaults.pollInterval ?? defaultWait.pollInterval} = limits;
  const {timeout = defaults.timeout ?? defaultWait.timeout} = limits;
  const intervalMs = Math.min(pollInterval, longestTimeoutSeconds) * 1000;
  // A timer, because the system time may jump.
  const limitMs = Math.ceil(Math.min(timeout, longestTimeoutSeconds) * 1000);
  const startedAt = performance.now();
  const leftMs = () => (limitMs > 0 ? Math.max(0, Math.round(startedAt + limitMs - performance.now())) : undefined);
  return {
    timeout,
    signal: limitMs > 0 ? AbortSignal.any([signal, AbortSignal.timeout(limitMs)]) : signal,
    leftMs,
    /** Pauses until the next look is due (with `longest`, for the whole interval), or the time is up. */
    async pause({longest}: {readonly longest: boolean}) {
      const ms = longest ? intervalMs : pauseMs(intervalMs, performance.now() - startedAt);
      await pause(Math.min(ms, leftMs() ?? ms), signal);
    },
  };
}
