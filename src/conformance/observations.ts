import {AsyncLocalStorage, createHook} from 'node:async_hooks';
import {isRuntimeCliError} from '../errors/index.js';
import {getHeapStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import type {Logger} from '../http/types.js';

/** Progress as a backend reports it. */
interface ReportedProgress {
  readonly transferred: number;
  readonly total?: number | undefined;
}

/** Records what a backend reports. */
export class Recording {
  /** Everything that was logged. */
  readonly messages: string[] = [];
  /** Progress, by attempt. */
  readonly attempts: ReportedProgress[][] = [[]];
  /** Collects `messages`. */
  readonly logger: Logger;
  /** Called after each report of progress. */
  afterProgress: (progress: ReportedProgress) => void = () => undefined;

  constructor() {
    const add = (message: string) => {
      this.messages.push(message);
    };
    this.logger = {debug: add, info: add, warn: add};
  }

  /** How often a request was retried. */
  get retries(): number {
    return this.attempts.length - 1;
  }

  /** Adds progress of the current attempt. */
  addProgress(progress: ReportedProgress): void {
    this.attempts.at(-1)?.push(progress);
    this.afterProgress(progress);
  }

  /** Starts the next attempt. */
  addRetry(): void {
    this.attempts.push([]);
  }
}

/** The resources that Node creates for lookups, connections and requests: TCP, pipes, UDP, DNS and HTTP. */
const networkResources: ReadonlySet<string> = new Set([
  'GETADDRINFOREQWRAP',
  'QUERYWRAP',
  'TCPCONNECTWRAP',
  'PIPECONNECTWRAP',
  'UDPSENDWRAP',
  'HTTPCLIENTREQUEST',
]);

/**
 * The watch that a call belongs to. One for all: Node never releases a storage, and consults each for every promise.
 */
const watches = new AsyncLocalStorage<object>();

/** Calls `call` and reports whether it, or anything it started, used the network. */
export async function watchNetwork<Result>(
  call: () => Promise<Result>,
): Promise<{readonly result: Result; readonly reached: boolean}> {
  const watch = {};
  let reached = false;
  const hook = createHook({
    init(_, type) {
      if (networkResources.has(type) && watches.getStore() === watch) reached = true;
    },
  }).enable();
  try {
    return {result: await watches.run(watch, call), reached};
  } finally {
    hook.disable();
  }
}

const printing = ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'] as const;
/** Whether each watched call has printed something so far. */
const printed = new Map<object, boolean>();
/** Takes the console as it was before. */
let restoreConsole: (() => void) | undefined;

/** Calls `call` and reports whether it, or anything it started, printed to the console. */
export async function watchConsole(call: () => Promise<unknown>): Promise<boolean> {
  const watch = {};
  printed.set(watch, false);
  restoreConsole ??= replaceConsole();
  try {
    await watches.run(watch, call);
    return printed.get(watch) === true;
  } finally {
    printed.delete(watch);
    // Calls may be watched side by side.
    if (printed.size === 0) {
      restoreConsole();
      restoreConsole = undefined;
    }
  }
}

function replaceConsole(): () => void {
  const {console: output} = globalThis;
  const originals = printing.map((name) => [name, output[name]] as const);
  for (const [name, original] of originals) {
    output[name] = (...values: readonly unknown[]) => {
      const watch = watches.getStore();
      if (watch && printed.has(watch)) printed.set(watch, true);
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
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `${name} is ${String(value)}`;
    case 'object':
      return objectProblem(value, name);
    default:
      return `${name} is a ${typeof value}`;
  }
}

function objectProblem(value: object | null, name: string): string | undefined {
  if (value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return `${name} is an instance of ${value.constructor.name}`;
  }
  for (const [key, member] of Object.entries(value)) {
    const problem = plainJsonProblem(member, `${name}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * A view of `value` that refuses changes, in its objects and arrays too, and names each to `onChange`. Unlike a frozen
 * object, it also notices those of code that is not in strict mode. Instances of classes are passed on as they are.
 */
export function protectedFrom<Value>(value: Value, name: string, onChange: (path: string) => void): Value {
  return typeof value === 'object' && value !== null ? protectedObject(value, name, onChange) : value;
}

function protectedObject<Value extends object>(value: Value, name: string, onChange: (path: string) => void): Value {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  const refuse = (_: Value, key: string | symbol) => {
    onChange(`${name}.${String(key)}`);
    return false;
  };
  return new Proxy(value, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      // A proxy must return the very value of a member that cannot change anyway.
      const isFixed = Reflect.getOwnPropertyDescriptor(target, key)?.configurable === false;
      return isFixed ? member : protectedFrom(member, `${name}.${String(key)}`, onChange);
    },
    set: refuse,
    deleteProperty: refuse,
    defineProperty: refuse,
  });
}

/** Bytes of memory that are in use, without those that are only waiting to be collected. */
export function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, []);
  const {used_heap_size: heap, external_memory: external} = getHeapStatistics();
  return heap + external;
}
