/**
 * Calls a callback of the caller before anything is sent, and waits for it: it may be async, whatever its type says.
 * @throws whatever it throws.
 */
export async function callBack(callback: () => unknown): Promise<void> {
  await callback();
}

/** Calls a callback of the caller when it is too late to fail: what it throws, now or later, is ignored. */
export function callBackSafely(callback: () => unknown): void {
  callBack(callback).catch(() => undefined);
}

/**
 * Calls a callback of the caller in the midst of work that can still fail, and does not wait for it: a promise that it
 * returns may reject unseen.
 * @throws what it throws itself.
 */
export function callBackNow(callback: () => unknown): void {
  const returned = callback();
  if (returned instanceof Promise) returned.catch(() => undefined);
}
