import {setImmediate as nextTurn} from 'node:timers/promises';

/** How long signals, timers and requests may have to wait for their turn, milliseconds. */
const turnMilliseconds = 20;

/** Work that can pause wherever it yields. */
export type Turnwise<Result> = Generator<undefined, Result, undefined>;

/**
 * Does long work over what somebody else wrote a little at a time: all else that waits for the one thread is served
 * between.
 * @throws `signal.reason` when aborted, and what the work throws.
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
