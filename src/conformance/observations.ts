import {AsyncLocalStorage} from 'node:async_hooks';
import {subscribe, unsubscribe} from 'node:diagnostics_channel';
import {getHeapStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {isRuntimeCliError} from '../errors/index.js';

/** What a call has done that nobody asked it for. */
interface SideEffects {
  printed: boolean;
  connected: boolean;
}

/** The watched call that something belongs to. Calls may be watched side by side. */
const watched = new AsyncLocalStorage<SideEffects>();
const printing = ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'] as const;
/** How many calls are watched now. There is one console for all. */
let calls = 0;
let restoreConsole: () => void = () => undefined;

/** Tells whether `call`, or anything it started, has opened a connection or printed to the console. */
export async function sideEffectsOf(call: () => Promise<unknown>): Promise<SideEffects> {
  const effects = {printed: false, connected: false};
  const onSocket = () => {
    if (watched.getStore() === effects) effects.connected = true;
  };
  subscribe('net.client.socket', onSocket);
  if (calls === 0) restoreConsole = replaceConsole();
  calls += 1;
  try {
    await watched.run(effects, call);
    return effects;
  } finally {
    unsubscribe('net.client.socket', onSocket);
    calls -= 1;
    if (calls === 0) restoreConsole();
  }
}

function replaceConsole(): () => void {
  const {console: output} = globalThis;
  const originals = printing.map((name) => [name, output[name]] as const);
  for (const [name, original] of originals) {
    output[name] = (...values: readonly unknown[]) => {
      const effects = watched.getStore();
      if (effects) effects.printed = true;
      else Reflect.apply(original, output, values);
    };
  }
  return () => {
    for (const [name, original] of originals) output[name] = original;
  };
}

/** The first of `secrets` that `text` contains: verbatim, escaped for JSON or a URL, or within base64. */
export function findLeak(text: string, secrets: readonly string[]): string | undefined {
  const decoded = (text.match(/[\w+/-]{8,}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString());
  const texts = [text, ...decoded];
  return secrets.find((secret) => {
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    return texts.some((one) => forms.some((form) => one.includes(form)));
  });
}

/**
 * Everything of an error that could be printed: its message, stack, suggestions and details, and those of its causes.
 */
export function printableOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const facts = isRuntimeCliError(error) ? JSON.stringify([error.suggestions, error.details]) : '';
  const own = [error.message, error.stack, facts].join('\n');
  return error.cause === undefined ? own : `${own}\n${printableOf(error.cause)}`;
}

/** Why `value` is not plain JSON, with the path from `name`; undefined if it is. */
export function plainJsonProblem(value: unknown, name: string): string | undefined {
  if (value === null || ['string', 'boolean', 'undefined'].includes(typeof value)) return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${name} is ${String(value)}`;
  if (typeof value !== 'object') return `${name} is a ${typeof value}`;
  if (!isPlain(value)) return `${name} is an instance of ${value.constructor.name}`;
  return Object.entries(value)
    .map(([key, member]) => plainJsonProblem(member, `${name}.${key}`))
    .find((problem) => problem !== undefined);
}

/** What a backend could change of `value`, as text. Instances of classes may change themselves. */
export function snapshotOf(value: unknown): string {
  const plain = (_: string, member: unknown) =>
    typeof member === 'object' && member !== null && !isPlain(member) ? undefined : member;
  return JSON.stringify([value], plain);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

/** Bytes of memory that are in use, without those that are only waiting to be collected. */
export function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, []);
  const {used_heap_size: heap, external_memory: external} = getHeapStatistics();
  return heap + external;
}
