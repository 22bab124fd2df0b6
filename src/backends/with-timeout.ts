import {setTimeout as delay} from 'node:timers/promises';

/** How long a plugin may take for what needs no network, milliseconds. */
export const pluginTimeoutMs = 10_000;

/**
 * The result of `work` when it comes in time. The timer keeps the process alive: one that only waits for a promise that
 * nothing will settle ends silently. A synchronous endless loop cannot be stopped.
 * @throws Error when it does not; `signal.reason` when aborted.
 */
export async function withTimeout<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Result> {
  const done = new AbortController();
  const late = delay(timeoutMs, undefined, {signal: AbortSignal.any([signal, done.signal])}).then(
    () => {
      throw new Error(`no answer within ${String(timeoutMs / 1000)} s`);
    },
    () => {
      throw signal.reason;
    },
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
