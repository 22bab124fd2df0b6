import type {Writable} from 'node:stream';
import {MessageChannel} from 'node:worker_threads';

/** What becomes of memory when a stream has written it. */
export interface WrittenMemoryOptions {
  /** Bytes that `destination` was given so far. */
  readonly given: () => number;
  /** Takes memory that can be used again; false when it cannot. */
  readonly reuse: (memory: Buffer) => boolean;
}

/**
 * Makes a function that takes memory whose last bytes were given to `destination`. When they are written, it is used again or
 * given back at once: the garbage collector would let tens of MiB pile up.
 */
export function freeWhenWritten(destination: Writable, {given, reuse}: WrittenMemoryOptions): (memory: Buffer) => void {
  // What is sent to a port that is closed is gone.
  const {port1, port2} = new MessageChannel();
  port2.close();
  const giveBack = ({buffer}: Buffer): void => {
    try {
      port1.postMessage(undefined, [buffer as ArrayBuffer]);
    } catch {
      // It is part of a pool that others look at, which Node does not let go: the garbage collector has it.
    }
  };
  const waiting: {readonly memory: Buffer; readonly end: number}[] = [];
  return (memory) => {
    waiting.push({memory, end: given()});
    const written = given() - destination.writableLength;
    for (let next = waiting[0]; next && next.end <= written; next = waiting[0]) {
      waiting.shift();
      if (!reuse(next.memory)) giveBack(next.memory);
    }
  };
}
