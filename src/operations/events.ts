import type {DeploymentStatus} from '../backends/contract.js';

/** What every event has. */
interface EventBase<Type extends string> {
  /** Version of the events. Increased when a key is removed or changes meaning, but not for new keys and types. */
  readonly version: 1;
  /** 1 for the first event of a run, then one more for each. A gap means that events were lost to a slow reader. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** Tells it from other events. */
  readonly type: Type;
}

/** What every event of a step has. */
interface EventOfStep<Type extends string> extends EventBase<Type> {
  /** Name of the step: `upload`, `deploy`. */
  readonly step: string;
}

/** A step began, ended or was skipped. */
export interface StepEvent extends EventOfStep<'step'> {
  /** What the step does, for users. */
  readonly title: string;
  /** `skipped`: the operation ended without running it. */
  readonly status: 'started' | 'done' | 'skipped' | 'failed';
  /** The outcome of a step that is `done`, for users. */
  readonly summary?: string | undefined;
  /** Milliseconds from start to end; if it is `done` or `failed`. */
  readonly durationMs?: number | undefined;
  /** Code of the error, if it `failed` with one of ours. */
  readonly code?: string | undefined;
}

/** The progress of a step; a few times a second at most. */
export interface ProgressEvent extends EventOfStep<'progress'> {
  /** `wait`: the deployment. */
  readonly phase: 'build' | 'upload' | 'download' | 'wait';
  /** What `transferred` and `total` count. */
  readonly unit: 'bytes' | 'percent';
  /** Bytes, or percent of a deployment. */
  readonly transferred: number;
  /** Absent if it is not known. */
  readonly total?: number | undefined;
  /** Uploads only: 1 for the first attempt. A retry starts again at 0. */
  readonly attempt?: number | undefined;
}

/** A pause before a request is repeated. */
export interface RetryWaitEvent extends EventOfStep<'wait'> {
  /** `rate-limit`: the server asked to slow down. `retry`: it could not be reached, or failed. */
  readonly reason: 'rate-limit' | 'retry';
  /** When the request is repeated, ISO 8601. */
  readonly until: string;
  /** Number of the upcoming retry, from 1. */
  readonly attempt: number;
  /** How often a request is sent again. */
  readonly maxRetries: number;
  /** HTTP status of the response, if there was one. */
  readonly httpStatus?: number | undefined;
  /** Why, for users: `429 Too Many Requests`. */
  readonly description: string;
}

/** A deployment has not ended, or not passed its check. Sent after each poll. */
export interface DeploymentWaitEvent extends EventOfStep<'wait'> {
  /**
   * `deployment`: our own deployment is running. `slot`: another one to the same target has to end first. `check`: the
   * deployed site is checked, until it passes or no retry is left.
   */
  readonly reason: 'deployment' | 'slot' | 'check';
  /** When waiting ends at the latest, ISO 8601. Absent without a time limit. */
  readonly until?: string | undefined;
  /** State of our own deployment. */
  readonly status?: DeploymentStatus | undefined;
  /** More about it, for users. */
  readonly description?: string | undefined;
}

/** A wait, and its reason. */
export type WaitEvent = RetryWaitEvent | DeploymentWaitEvent;

/** Something that needs attention. The result has it, too. */
export interface WarningEvent extends EventBase<'warning'> {
  /** For users. */
  readonly message: string;
}

/** An error as events and `--json` report it. */
export interface EventError {
  /** Stable code to branch on, listed in the error reference. */
  readonly code: string;
  /** One sentence that says what happened, for users. */
  readonly message: string;
  /** Exit code of the process. */
  readonly exitCode: number;
  /** HTTP status. */
  readonly status?: number | undefined;
  /** Ways to fix it: a sentence or a command each. */
  readonly suggestions: readonly string[];
  /** Details that depend on the code. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The end of a run that succeeded. */
export interface SuccessEvent extends EventBase<'outcome'> {
  /** Tells it from a failure. */
  readonly status: 'success';
  /** What the function resolves to; on the command line, the document of `--json`. Without `access`. */
  readonly result?: unknown;
}

/** The end of a run that failed or was interrupted. */
export interface FailureEvent extends EventBase<'outcome'> {
  /** `interrupted`: by a signal. */
  readonly status: 'error' | 'interrupted';
  /** As `--json` prints it, without `access`. */
  readonly error: EventError;
}

/** How a run ended: the last event, once. */
export type OutcomeEvent = SuccessEvent | FailureEvent;

/** What happens in a run. Distinguish by `type`, and ignore types and keys that you don't know. */
export type RuntimeEvent = StepEvent | ProgressEvent | WaitEvent | WarningEvent | OutcomeEvent;
