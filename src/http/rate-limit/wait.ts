/**
 * Waits, unless and until `signal` is aborted.
 * @returns Whether the time passed: false at once when the signal ends the wait.
 */
export async function wait(delayMs: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return false;
  return new Promise((resolve) => {
    const end = (passed: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(passed);
    };
    const onAbort = () => end(false);
    const timer = setTimeout(() => end(true), delayMs);
    signal?.addEventListener('abort', onAbort);
  });
}
