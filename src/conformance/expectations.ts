import assert from 'node:assert/strict';
import {once} from 'node:events';
import {buffer} from 'node:stream/consumers';
import {setTimeout as delay} from 'node:timers/promises';
import {inspect, isDeepStrictEqual} from 'node:util';
import {isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../errors/index.js';
import {messageOf} from '../errors/system-failure.js';

/** Thrown by a case that cannot try anything, because the fixtures or the backend lack something optional. */
export class NotTried extends Error {}

export function notTried(reason: string): never {
  throw new NotTried(reason);
}

/** A value in a message. An ID is a string or a number, and which one matters. */
export function shown(value: unknown): string {
  if (isRuntimeCliError(value)) return `${value.code}: ${value.message}`;
  if (typeof value === 'string' || typeof value === 'number') return `${JSON.stringify(value)} (${typeof value})`;
  return inspect(value, {depth: 4, breakLength: Infinity});
}

/** What of an error could be printed: its message, stack, suggestions and details, and those of its causes. */
export function printableOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const facts = isRuntimeCliError(error) ? JSON.stringify([error.suggestions, error.details]) : '';
  return [error.message, error.stack, facts, ...(error.cause ? [printableOf(error.cause)] : [])].join('\n');
}

/** What a runner may print of an error: its message, stack and causes, redacted, and no other property. */
export function redactedError(error: unknown, redact: (text: string) => string): Error {
  const {name, message, stack = '', cause} = error instanceof Error ? error : new Error(String(error));
  const text = redact(message);
  const copy = error instanceof assert.AssertionError ? new assert.AssertionError({message: text}) : new Error(text);
  const causes = cause === undefined ? {} : {cause: redactedError(cause, redact)};
  return Object.assign(copy, {name, stack: redact(stack)}, causes);
}

/** A call of the backend that failed. A case that does not expect it fails with it. */
export class CallFailure extends assert.AssertionError {
  override readonly cause: RuntimeCliError;

  constructor(call: string, cause: RuntimeCliError) {
    super({message: `Expected ${call} to succeed. The backend failed with ${shown(cause)}`});
    this.cause = cause;
  }
}

/** What came of a call: its result, or the error that the backend failed with. */
export async function outcomeOf<Result>(
  work: Promise<Result>,
): Promise<{readonly result?: Result; readonly error?: RuntimeCliError}> {
  try {
    return {result: await work};
  } catch (error) {
    if (error instanceof CallFailure) return {error: error.cause};
    throw error;
  }
}

/** Asserts what the backend has answered. `what`: what it was asked for. */
export function expectAnswer(what: string, actual: unknown, expected: unknown, advice = ''): void {
  const message = `Expected ${what} to be ${shown(expected)}. The backend answered ${shown(actual)}.`;
  assert.ok(isDeepStrictEqual(actual, expected), `${message} ${advice}`.trim());
}

export interface ExpectedError {
  readonly text: string;
  readonly fits: (error: RuntimeCliError) => boolean;
}

export const anyError: ExpectedError = {text: 'an error', fits: () => true};

export const anyCode: ExpectedError = {
  text: 'a context.error() whose code says what happened',
  fits: ({code}) => code !== 'ERR_BACKEND_FAILED',
};

export const unknownBundle: ExpectedError = {
  text: 'ERR_BUNDLE_UNKNOWN, or an error of context.http with the status 404',
  fits: ({code, status}) => code === 'ERR_BUNDLE_UNKNOWN' || (status === 404 && code !== 'ERR_BACKEND_FAILED'),
};

export function withCode(...codes: readonly ErrorCode[]): ExpectedError {
  return {text: codes.join(' or '), fits: ({code}) => codes.includes(code)};
}

export const refusalOfSecrets = withCode('ERR_UNAUTHORIZED', 'ERR_FORBIDDEN', 'ERR_OAUTH');

/** Asserts that a call fails as expected. `what`: what the backend was asked for. */
export async function expectError(
  what: string,
  work: Promise<unknown>,
  {text, fits}: ExpectedError,
  advice = '',
): Promise<void> {
  const {result, error} = await outcomeOf(work);
  const expected = `Expected ${what} to fail with ${text}.`;
  assert.ok(error, `${expected} The backend reported a success: ${shown(result)}. ${advice}`.trim());
  assert.ok(fits(error), `${expected} The backend failed with ${shown(error)}`);
}

/**
 * Asserts that aborted work rejects soon: a second is what the contract allows, and a busy machine gets two more.
 * @param start starts the work, and calls `abort` while it is running
 */
export async function expectAbort(
  what: string,
  start: (signal: AbortSignal, abort: () => void) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController();
  const {signal} = controller;
  const reason = new Error('The conformance suite aborted this.');
  const late = once(signal, 'abort').then(() => delay(3000, 'went on for a second', {ref: false}));
  const work = start(signal, () => controller.abort(reason)).then(
    () => 'succeeded',
    (error: unknown) => {
      if (error !== reason) throw error;
      return 'rejected';
    },
  );
  const outcome = await Promise.race([work, late]);
  assert.ok(signal.aborted, `Expected ${what} to take until it is aborted. It ended before.`);
  const advice =
    'Pass context.signal to what it waits for. It does not end streams: see addAbortSignal() of node:stream.';
  const expected = `Expected ${what} to reject with signal.reason when it is aborted. It ${outcome}.`;
  assert.ok(outcome === 'rejected', `${expected} ${advice}`);
}

/** Asserts that these are exactly the bytes of an archive, or of one of its files. `what`: what has them. */
export async function expectBytes(
  what: string,
  stream: AsyncIterable<Uint8Array>,
  read: () => Promise<AsyncIterable<Uint8Array> | Uint8Array>,
): Promise<void> {
  const expected = await buffer(stream);
  const problem = `Expected ${what} to have ${expected.length} bytes.`;
  const bytes = await read()
    .then(async (content) => (content instanceof Uint8Array ? content : buffer(content)))
    .catch((error: unknown) => assert.fail(`${problem} Reading it failed: ${messageOf(error)}`));
  if (expected.equals(bytes)) return;
  const wrong = bytes.findIndex((byte, index) => byte !== expected[index]);
  const offset = wrong === -1 ? bytes.length : wrong;
  assert.fail(`${problem} It has ${bytes.length}, and the first difference is at offset ${offset}.`);
}
