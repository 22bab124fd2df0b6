import {AsyncLocalStorage, createHook} from 'node:async_hooks';
import {isRuntimeCliError} from '../../errors/index.js';
import type {Logger} from '../../http/types.js';

/** Progress as a backend reports it. */
interface ReportedProgress {
  readonly transferred: number;
  readonly total?: number | undefined;
}

/** What a backend said while it worked. */
export class Recording {
  /** Everything that went to the logger. */
  readonly messages: string[] = [];
  /** Progress, a list for each attempt. */
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

  /** How often a request was sent again. */
  get retries(): number {
    return this.attempts.length - 1;
  }

  /** Adds to the progress of the attempt under way. */
  addProgress(progress: ReportedProgress): void {
    this.attempts.at(-1)?.push(progress);
    this.afterProgress(progress);
  }

  /** Begins the next attempt. */
  addRetry(): void {
    this.attempts.push([]);
  }
}

/** What Node makes when a program looks up a name, connects, or sends: of TCP, pipes, UDP, DNS and HTTP. */
const networkResources: ReadonlySet<string> = new Set([
  'GETADDRINFOREQWRAP',
  'QUERYWRAP',
  'TCPCONNECTWRAP',
  'PIPECONNECTWRAP',
  'UDPSENDWRAP',
  'HTTPCLIENTREQUEST',
]);

/**
 * The watch that a call belongs to. One for all: Node never lets go of a storage, and asks each about every promise.
 */
const watches = new AsyncLocalStorage<object>();

/** Calls `call` and tells whether it, or anything that it set off, reached for the network. */
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

/** The first of `secrets` that `text` shows: as it is, escaped for JSON or a URL, or inside anything in base64. */
export function findLeak(text: string, secrets: readonly string[]): string | undefined {
  const decoded = (text.match(/[\w+/-]{8,}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString());
  const texts = [text, ...decoded];
  return secrets.find((secret) => {
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    return texts.some((one) => forms.some((form) => one.includes(form)));
  });
}

/** Everything of an error that may be printed: its message, stack, suggestions and details, and those of its causes. */
export function printableOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const facts = isRuntimeCliError(error) ? JSON.stringify([error.suggestions, error.details]) : '';
  const own = [error.message, error.stack, facts].join('\n');
  return error.cause === undefined ? own : `${own}\n${printableOf(error.cause)}`;
}

/** What keeps `value` from being plain JSON, with its place below `name`; undefined when nothing does. */
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
