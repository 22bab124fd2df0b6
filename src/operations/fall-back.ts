import {failedTwice, fallbackWarning} from '../backends/select.js';
import type {ChosenBackend} from './choose-backend.js';
import {callBackSafely} from './host.js';
import type {OpenBackend} from './open-backend.js';
import type {Outlet} from './outlet.js';

/** What falls back from Api to legacy. */
interface FallingBack<Result> {
  /** Why a failure may fall back. Undefined when it must not. @throws Error the failure with more advice */
  readonly reasonFor: (error: unknown) => string | undefined;
  readonly first: (open: OpenBackend) => Promise<Result>;
  readonly second: (open: OpenBackend) => Promise<Result>;
}

/**
 * Lets the chosen backend serve a call. With `auto`, legacy takes over if Api definitely refuses. The caller hears
 * which backend is about to serve: as long as nothing has been sent, a callback that throws fails the call.
 */
export async function withFallback<Result>(
  {selection: {fellBack}, open, fallback}: ChosenBackend,
  {reasonFor, first, second}: FallingBack<Result>,
  outlet: Outlet,
): Promise<Result> {
  if (fellBack !== undefined) await outlet.fallBack(fellBack);
  await outlet.resolve(open.backendName);
  try {
    return await first(open);
  } catch (error) {
    const reason = fallback === undefined ? undefined : reasonFor(error);
    if (fallback === undefined || reason === undefined) throw error;
    outlet.note(`Falling back to the Runtime (API key) backend: ${reason}`);
    callBackSafely(() => outlet.fallBack(reason));
    callBackSafely(() => outlet.resolve(fallback.backend.name));
    outlet.warn(fallbackWarning(reason));
    try {
      return await second(await fallback.open());
    } catch (failure) {
      throw failedTwice(error, failure);
    }
  }
}
