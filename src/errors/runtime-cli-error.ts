import {catalogue, exitCodes, type ErrorCode, type ErrorKind} from './catalogue.js';
import {completeCommand, partsOf, suggestionText, type RunSurroundings, type Suggestion} from './suggestion.js';

/** What an error contains in addition to its code and message. */
export interface RuntimeCliErrorOptions {
  /** What the user can do, each a sentence or a command. */
  readonly suggestions?: readonly Suggestion[] | undefined;
  /** HTTP status of the answer. */
  readonly status?: number | undefined;
  /** HTTP method of the request. */
  readonly method?: string | undefined;
  /** Path of the request, without origin and query. */
  readonly path?: string | undefined;
  /** The server's ID for the request, if it sent one. */
  readonly requestId?: string | undefined;
  /** Facts for programs, as plain JSON. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Overrides the exit code of the kind (interruptions: 129, 130, 143). */
  readonly exitCode?: number | undefined;
  readonly cause?: unknown;
}

const brand = Symbol.for('mycli.RuntimeCliError');

/** An error that users can cause or see. Branch on `code` or the class, never on `message`, a sentence for people. */
export class RuntimeCliError extends Error {
  /** By which `isRuntimeCliError` knows errors, even of another copy of the library. */
  readonly [brand] = true;
  /** Stable; listed in the catalogue. */
  readonly code: ErrorCode;
  /** Exit code of the command line. */
  readonly exitCode: number;
  /** What the user can do, each a sentence or a command. */
  readonly suggestions: readonly string[];
  /** The suggestions with their commands as data, for terminals, which shorten them. */
  readonly advice: readonly Suggestion[];
  /** HTTP status of the answer. Undefined if there was none. */
  readonly status: number | undefined;
  /** Method of the request that failed, if it was one. */
  readonly method: string | undefined;
  /** Path of its URL, without the query. */
  readonly path: string | undefined;
  /** What the service calls the request, for its support. */
  readonly requestId: string | undefined;
  /** Facts for programs, such as `bundleId`. Plain JSON without secrets. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** Sets `exitCode` as the kind of `code` has it, unless `options` has another. */
  constructor(code: ErrorCode, message: string, options: RuntimeCliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : {cause: options.cause});
    this.name = new.target.name;
    this.code = code;
    this.exitCode = options.exitCode ?? exitCodes[catalogue[code].kind];
    this.advice = options.suggestions ?? [];
    this.suggestions = this.advice.map((said) => suggestionText(said));
    this.status = options.status;
    this.method = options.method;
    this.path = options.path;
    this.requestId = options.requestId;
    this.details = options.details;
  }
}

/** An invalid command line (exit code 2). */
export class UsageError extends RuntimeCliError {}
/** Invalid configuration or input (exit code 3). */
export class InputError extends RuntimeCliError {}
/** The server refused the credentials: 401, 403 (exit code 4). */
export class CredentialsError extends RuntimeCliError {}
/** Rate-limited, with no retries left (exit code 5). */
export class RateLimitError extends RuntimeCliError {}
/** No connection, or it ended before the request was fully sent (exit code 6). */
export class NetworkError extends RuntimeCliError {}
/** The server refused the request or failed (exit code 7). */
export class RejectedError extends RuntimeCliError {}
/** A deployment was accepted and then failed (exit code 8). */
export class DeploymentFailedError extends RuntimeCliError {}
/** Waiting took longer than allowed (exit code 9). */
export class WaitTimeoutError extends RuntimeCliError {}
/** The request may or may not have been carried out (exit code 10). */
export class OutcomeUnknownError extends RuntimeCliError {}
/** The deployment finished, but a check of it failed (exit code 11). */
export class UnhealthyError extends RuntimeCliError {}
/** The deployment or its check failed, and the target was rolled back (exit code 12). */
export class RolledBackError extends RuntimeCliError {}
/** The deployment or its check failed, and the target could not be rolled back (exit code 14). */
export class NotRolledBackError extends RuntimeCliError {}
/** A signal interrupted the command (exit code 130, 143 or 129). */
export class InterruptedError extends RuntimeCliError {}

const classes: Readonly<Record<ErrorKind, typeof RuntimeCliError>> = {
  unexpected: RuntimeCliError,
  usage: UsageError,
  input: InputError,
  credentials: CredentialsError,
  'rate-limit': RateLimitError,
  network: NetworkError,
  rejected: RejectedError,
  'deployment-failed': DeploymentFailedError,
  'wait-timeout': WaitTimeoutError,
  'outcome-unknown': OutcomeUnknownError,
  unhealthy: UnhealthyError,
  'rolled-back': RolledBackError,
  'not-rolled-back': NotRolledBackError,
  mismatch: RuntimeCliError,
  interrupted: InterruptedError,
};

/** Creates an error with this code, as an instance of the class of its kind. */
export function createError(code: ErrorCode, message: string, options?: RuntimeCliErrorOptions): RuntimeCliError {
  return new classes[catalogue[code].kind](code, message, options);
}

interface ErrorChanges {
  readonly code?: ErrorCode | undefined;
  readonly message?: string | undefined;
  readonly advice?: readonly Suggestion[] | undefined;
  readonly suggestions?: readonly Suggestion[] | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** @default the error that is changed */
  readonly cause?: unknown;
}

/** Adds context to an error: a new `code` or `message`, more suggestions and details. The original is the cause. */
export function amendError(error: RuntimeCliError, changes: ErrorChanges): RuntimeCliError {
  const {code, exitCode, status, method, path, requestId} = error;
  return createError(changes.code ?? code, changes.message ?? error.message, {
    exitCode: changes.code === undefined ? exitCode : undefined,
    status,
    method,
    path,
    requestId,
    suggestions: [...(changes.advice ?? error.advice), ...(changes.suggestions ?? [])],
    details: changes.details === undefined ? error.details : {...error.details, ...changes.details},
    cause: 'cause' in changes ? changes.cause : error,
  });
}

/** The same error with complete commands, for a run whose settings a shell does not have. */
export function withCompleteCommands(error: RuntimeCliError, surroundings: RunSurroundings): RuntimeCliError {
  const advice = error.advice.map((said) =>
    partsOf(said).map((part) => (typeof part === 'string' ? part : {run: completeCommand(part, surroundings)})),
  );
  if (advice.every((said, index) => suggestionText(said) === error.suggestions[index])) return error;
  const complete = amendError(error, {advice, cause: error.cause});
  complete.stack = error.stack ?? '';
  return complete;
}

/** Whether `value` is an error of this library, even of another copy of it: by shape, never by `instanceof`. */
export function isRuntimeCliError(value: unknown): value is RuntimeCliError {
  return value instanceof Error && brand in value;
}
