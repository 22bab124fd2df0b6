import {withTimeout} from '../backends/call.js';
import type {OpenBackend} from './open-backend.js';

/** How long a look may take, in milliseconds. */
const longestLookMs = 2000;

/**
 * Asks the service for what only improves a text: once, for at most 2 s, without a word about it. Resolves to undefined
 * if that fails, because the outcome is the same with and without it.
 */
export async function quickLook<Result>(
  {reopen, context}: OpenBackend,
  look: (open: OpenBackend) => Promise<Result>,
): Promise<Result | undefined> {
  const late = AbortSignal.timeout(longestLookMs);
  try {
    const open = await reopen({once: true, signal: AbortSignal.any([context.signal, late])});
    return await withTimeout(look(open), longestLookMs, context.signal);
  } catch {
    return undefined;
  }
}
