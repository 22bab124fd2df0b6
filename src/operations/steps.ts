import prettyBytes from 'pretty-bytes';
import type {BackendSelection} from '../backends/select.js';
import type {BundlePlan} from '../bundle/index.js';
import type {Bundle} from '../bundle/types.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import type {Environment, Logger, RetryEvent} from '../http/types.js';
import type {CommonOptions, OperationProgress} from './options.js';

/**
 * What operations know of the process that runs them. Library calls get the process's own; tests give what they like.
 */
export interface Host {
  /** Absolute path that relative ones start from. */
  readonly cwd: string;
  readonly env: Environment;
  readonly logger: Logger;
  /** `User-Agent` of every request; begins with `mycli/<semver>`. */
  readonly userAgent: string;
  /** Values that are masked in everything that is printed. */
  readonly secrets?: readonly string[] | undefined;
  now(): Date;
  /** Runs the steps of an operation, and shows them to whoever watches. */
  readonly runSteps: RunSteps;
  /** Flags that a command shown to the user repeats, to reach the same backend as this call. @default none */
  readonly commandFlags?: readonly string[] | undefined;
  /** Makes a private folder for archives. Whoever asks for it removes it. */
  createTemporaryDirectory(): Promise<TemporaryDirectory>;
}

/** A step of an operation, declared before the operation starts. */
export interface Step<Name extends string = string> {
  readonly name: Name;
  /** What the step does, for people: `Upload the bundle`. */
  readonly title: string;
}

/** What a running step tells whoever watches it. */
export interface StepView {
  /** What came of the step, in place of its title. */
  done(summary: string): void;
  /** A line that stays. */
  detail(line: string): void;
  /** Something to look at. It is part of the operation's result as well. */
  warn(message: string): void;
  /** How far the step is. */
  progress(progress: OperationProgress): void;
  /** A wait before a request is sent again. */
  retry(event: RetryEvent): void;
}

/** Runs one of the declared steps; rejects with what `run` rejects with. */
export type RunStep<Name extends string> = <Result>(
  name: Name,
  run: (view: StepView) => Promise<Result>,
) => Promise<Result>;

/**
 * Runs an operation: `operation` runs the steps, in the order in which they are declared, each of them once at most.
 * Whoever watches sees all of them from the start.
 */
export type RunSteps = <Name extends string, Result>(
  steps: readonly Step<Name>[],
  operation: (step: RunStep<Name>) => Promise<Result>,
) => Promise<Result>;

const ignore = () => undefined;
const silentView: StepView = {done: ignore, detail: ignore, warn: ignore, progress: ignore, retry: ignore};

/** Runs an operation that nobody watches: the library's way. */
export const runStepsSilently: RunSteps = (_, operation) => operation((_name, run) => run(silentView));

/**
 * The options of an operation, for one of its steps: the caller's callbacks are called, and so is the view.
 */
export function watched<Options extends Pick<CommonOptions, 'onProgress' | 'onRetry'>>(
  options: Options,
  view: StepView,
): Options {
  const {onProgress, onRetry} = options;
  return {
    ...options,
    onProgress: (progress: OperationProgress) => {
      view.progress(progress);
      callBackNow(() => onProgress?.(progress));
    },
    onRetry: (event: RetryEvent) => {
      view.retry(event);
      callBackNow(() => onRetry?.(event));
    },
  };
}

/** The step that chooses the backend. */
export const resolveStep = {name: 'resolve', title: 'Resolve the backend'} as const;

/** The step that looks at a build before anything is packed or sent. */
export const verifyStep = {name: 'verify', title: 'Verify the build and its configuration'} as const;

/** The step that waits until a deployment has ended. */
export const waitStep = {name: 'wait', title: 'Wait for the deployment'} as const;

/** Chooses the backend of an operation, and tells which and why. */
export async function resolveBackend<Selection extends BackendSelection>(
  view: StepView,
  choose: () => Promise<Selection>,
): Promise<Selection> {
  const selection = await choose();
  view.done(`Backend: ${selection.backend} (${selection.reason})`);
  return selection;
}

/** Tells the view of warnings that the result carries too. */
export function warnAll(view: StepView, warnings: readonly string[]): void {
  for (const warning of warnings) view.warn(warning);
}

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

/** `12 files, 3.2 MB` */
export function describeFiles({files, totalBytes}: Pick<BundlePlan, 'files' | 'totalBytes'>): string {
  return `${count(files.length, 'file')}, ${prettyBytes(totalBytes)}`;
}

/** `v2 archive, 12 files, 1.1 MB, sha256 0123456789ab` */
export function describeArchive(bundle: Bundle): string {
  return `${describeSize(bundle)}, sha256 ${bundle.sha256.slice(0, 12)}`;
}

/** `v2 archive, 12 files, 1.1 MB` */
export function describeSize({format, files, size}: Pick<Bundle, 'format' | 'files' | 'size'>): string {
  return `${format} archive, ${count(files.length, 'file')}, ${prettyBytes(size)}`;
}

/** `1 file`, `2 files` */
export function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
