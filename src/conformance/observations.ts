import {AsyncLocalStorage} from 'node:async_hooks';
import {subscribe, unsubscribe} from 'node:diagnostics_channel';
import {getHeapStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {isRuntimeCliError} from '../errors/index.js';

const printing = ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'] as const;

/** Tells whether `call`, or anything it started, has opened a connection or printed to the console. */
export async function sideEffectsOf(call: () => Promise<unknown>) {
  const effects = {printed: false, connected: false};
  const isWithin = new AsyncLocalStorage<true>();
  const onSocket = () => {
    if (isWithin.getStore()) effects.connected = true;
  };
  const {console: output} = globalThis;
  const replaced = printing.map((name) => {
    const original = output[name];
    const own = (...values: readonly unknown[]) => {
      if (isWithin.getStore()) effects.printed = true;
      else Reflect.apply(original, output, values);
    };
    output[name] = own;
    return {name, original, own};
  });
  subscribe('net.client.socket', onSocket);
  try {
    await isWithin.run(true, call);
    return effects;
  } finally {
    unsubscribe('net.client.socket', onSocket);
    // Of calls that are watched side by side, another one may have replaced it since: that one calls this.
    for (const {name, original, own} of replaced) if (output[name] === own) output[name] = original;
  }
}

/** Everything of an error that could be printed: its message, stack, suggestions and details, and its causes. */
export function printableOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const facts = isRuntimeCliError(error) ? JSON.stringify([error.suggestions, error.details]) : '';
  const own = [error.message, error.stack, facts].join('\n');
  return error.cause === undefined ? own : `${own}\n${printableOf(error.cause)}`;
}

/** Bytes of memory that are in use, without those that are only waiting to be collected. */
export function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, []);
  const {used_heap_size: heap, external_memory: external} = getHeapStatistics();
  return heap + external;
}
