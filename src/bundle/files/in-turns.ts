import {setImmediate as nextTurn} from 'node:timers/promises';

/** Maximum time that signals, timers and requests have to wait, in milliseconds. */
const turnMilliseconds = 20;

/** Work that can pause at each yield. */
export type Turnwise<Result> = Generator<undefined, Result, undefined>;

/**
 * Does long work on untrusted input in short turns, so that the thread can serve everything else in between.
 * @throws `signal.reason` when aborted, or whatever the work throws.
 */
export async function inTurns<Result>(work: Turnwise<Result>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    signal?.throwIfAborted();
    const ends = performance.now() + turnMilliseconds;
    let step = work.next();
    while (step.done !== true && performance.now() < ends) step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
