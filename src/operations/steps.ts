import type {PlannedWrite, WriteOutcome} from '../backends/contract.js';
import type {BackendSelection} from '../backends/select.js';
import type {TemporaryDirectory} from '../files/temporary-directory.js';
import type {Environment, Logger, RetryEvent} from '../http/types.js';
import type {CommonOptions, OperationProgress} from './options.js';

/** What operations use of the process that runs them. Library calls use the actual process; tests provide their own. */
export interface Host {
  /** Absolute base directory for relative paths. */
  readonly cwd: string;
  /** Absolute folder of the configuration file. @default the base directory of a call */
  readonly configDirectory?: string | undefined;
  readonly env: Environment;
  /** `MYCLI_SAFETY` as the process was started with; `env` can add to it. @default nothing */
  readonly safety?: string | undefined;
  readonly logger: Logger;
  /** `User-Agent` of every request; starts with `mycli/<semver>`. */
  readonly userAgent: string;
  /** Values to mask in all output. */
  readonly secrets?: readonly string[] | undefined;
  /** Called with a secret that a backend learns, to mask it in all output from then on. */
  readonly maskSecret?: ((secret: string) => void) | undefined;
  now(): Date;
  /** Runs and shows the steps of an operation. */
  readonly runSteps: RunSteps;
  /** Absolute paths of files that the caller writes during this call, such as a log. They make no work tree dirty. */
  readonly ownFiles?: readonly string[] | undefined;
  /** Flags that commands shown to the user repeat, to reach the same backend as this call. @default none */
  readonly commandFlags?: readonly string[] | undefined;
  /** Is asked before an operation changes something, and told what comes of it. @default nobody is asked */
  readonly writes?: WriteObserver | undefined;
  /** Called with a cleanup after an abort, which the process should wait for. @default the call waits for it */
  readonly onCleanup?: ((work: Promise<void>) => void) | undefined;
  /** Creates a private folder for archives. The caller must remove it. */
  createTemporaryDirectory(): Promise<TemporaryDirectory>;
}

/** Follows what an operation changes. */
interface WriteObserver {
  /**
   * Called before the first byte of a change is sent, and again for a fallback.
   * @param options `dryRun`: the change will not be made
   * @throws RuntimeCliError if it must not be made.
   */
  before(write: PlannedWrite, options?: {readonly dryRun: boolean}): Promise<void>;
  /** Called with what is known about the outcome so far. */
  learn(facts: WriteFacts): void;
  /**
   * Called when a change has ended although the operation goes on: with another change, or with an error about the
   * change before.
   */
  conclude(ended: {readonly error?: unknown}): void;
}

/** What becomes known about a change while it is made. */
export type WriteFacts = Partial<Pick<WriteOutcome, 'bundleIds' | 'deployment' | 'status' | 'url'>>;

/** A step of an operation, declared before the operation starts. */
export interface Step<Name extends string = string> {
  readonly name: Name;
  /** What the step does, for users: `Upload the bundle`. */
  readonly title: string;
}

/** How a running step reports to its viewer. */
export interface StepView {
  /** The outcome of the step, which replaces its title. */
  done(summary: string): void;
  /** A permanent line. */
  detail(line: string): void;
  /** Something that needs attention. It is also part of the operation's result. */
  warn(message: string): void;
  /** The progress of the step. */
  progress(progress: OperationProgress): void;
  /** A wait before a retry. */
  retry(event: RetryEvent): void;
}

/** Runs one of the declared steps; rejects with what `run` rejects with. */
export type RunStep<Name extends string> = <Result>(
  name: Name,
  run: (view: StepView) => Promise<Result>,
) => Promise<Result>;

/**
 * Runs an operation, which runs the steps in declared order, each at most once. The viewer sees all of them from the
 * start.
 */
export type RunSteps = <Name extends string, Result>(
  steps: readonly Step<Name>[],
  operation: (step: RunStep<Name>) => Promise<Result>,
) => Promise<Result>;

const ignore = () => undefined;
/** Shows nothing. */
export const silentView: StepView = {done: ignore, detail: ignore, warn: ignore, progress: ignore, retry: ignore};

/** Creates a runner that reports all steps to one view. */
export function runStepsIn(view: StepView): RunSteps {
  return (_, operation) => operation((_name, run) => run(view));
}

/** Runs an operation without showing its steps, as the library does. */
export const runStepsSilently: RunSteps = runStepsIn(silentView);

/** The options of an operation for one of its steps: callbacks go to both the caller and the view. */
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

/** The step that verifies a build before anything is packed or sent. */
export const verifyStep = {name: 'verify', title: 'Verify the build and its configuration'} as const;

/** The step that waits for a deployment to end. */
export const waitStep = {name: 'wait', title: 'Wait for the deployment'} as const;

/** Chooses the backend of an operation, and reports which one and why. */
export async function resolveBackend<Selection extends BackendSelection>(
  view: StepView,
  choose: () => Promise<Selection>,
): Promise<Selection> {
  const selection = await choose();
  view.done(`Backend: ${selection.backend} (${selection.reason})`);
  return selection;
}

/** Shows warnings that are also in the result. */
export function warnAll(view: StepView, warnings: readonly string[]): void {
  for (const warning of warnings) view.warn(warning);
}

/**
 * Calls a caller's callback before anything is sent, and awaits it: it may be async, whatever its type says.
 * @throws whatever it throws.
 */
export async function callBack(callback: () => unknown): Promise<void> {
  await callback();
}

/** Calls a caller's callback when it is too late to fail: its errors, synchronous or not, are ignored. */
export function callBackSafely(callback: () => unknown): void {
  callBack(callback).catch(() => undefined);
}

/**
 * Calls a caller's callback during work that can still fail, without awaiting it: a returned promise may reject
 * unnoticed.
 * @throws what it throws synchronously.
 */
export function callBackNow(callback: () => unknown): void {
  const returned = callback();
  if (returned instanceof Promise) returned.catch(() => undefined);
}
