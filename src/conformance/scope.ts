import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a case makes and removes the folder of its bundles itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {HostBackend} from '../backends/built-in.js';
import type {AnyBackend} from '../backends/contract.js';
import {isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {makeHugeBundle, type BundleMaker} from './bundles.js';
import type {ConformanceFixtures, ConformanceService} from './fixtures.js';
import {Relay} from './relay.js';
import {Subject, type SubjectParts} from './subject.js';

/** A row of the table of cases. */
export interface Case {
  readonly name: string;
  /** What a backend that passes does, as a sentence. */
  readonly proves: string;
  /** The members without which there is no such case. @default none */
  readonly needs?: readonly (keyof HostBackend)[] | undefined;
  /** Rejects when the backend breaks the contract. */
  run(scope: Scope): Promise<void>;
}

/** What a case can open. Everything is closed at its end. */
export interface Scope {
  /** Opens a service, for `backend` or a new one. */
  open(backend?: AnyBackend): Promise<Subject>;
  /** The service of `subject` with a new backend, as another process would see it. */
  reopen(subject: Subject, changes?: Partial<Pick<SubjectParts, 'service' | 'projectSlug' | 'states'>>): Subject;
  /** The same for another project. */
  reopenElsewhere(subject: Subject): Subject;
}

/** Thrown by a case that cannot try anything, because the fixtures or the backend lack something optional. */
class NotTried extends Error {}

/** Ends a case that cannot try anything. */
export function notTried(reason: string): never {
  throw new NotTried(reason);
}

/** An optional function of the service, without which the case cannot try anything. */
export function offered<Name extends 'occupyTarget' | 'failDeployments'>(
  service: ConformanceService,
  name: Name,
): NonNullable<ConformanceService[Name]> {
  return service[name] ?? notTried(`The service of the fixtures has no ${name}(), which this case needs.`);
}

/** The error that `work` rejects with. */
export async function failureOf(what: string, work: Promise<unknown>): Promise<RuntimeCliError> {
  const error: unknown = await work.then(
    () => assert.fail(`${what} was reported as a success.`),
    (reason: unknown) => reason,
  );
  if (isRuntimeCliError(error)) return error;
  throw error;
}

/** Asserts that an error has a code that tells programs what happened. */
export function assertHasCode({code, message}: RuntimeCliError): void {
  const advice = 'Throw a context.error() with a code that says what happened';
  assert.notEqual(code, 'ERR_BACKEND_FAILED', `${advice}: ${message}`);
}

/** Asserts that an error says that there is no such bundle: by its code, or by the status of the service's answer. */
export function assertUnknown(error: RuntimeCliError): void {
  assertHasCode(error);
  const {code, status, message} = error;
  assert.ok(
    code === 'ERR_BUNDLE_UNKNOWN' || status === 404,
    `Throw a context.error() with the code ERR_BUNDLE_UNKNOWN, not ${code}: ${message}`,
  );
}

/** A second, in slices. A pause of the whole machine only counts as one slice. */
const abortDeadline = {slices: 20, sliceMs: 50};

/**
 * Asserts that aborted work rejects within a second, plus the time that its cleanups take.
 * @param start starts the work, and calls `abort` while it is running
 */
export async function assertAbortEnds(
  what: string,
  {cleanups}: Pick<Subject, 'cleanups'>,
  start: (signal: AbortSignal, abort: () => void) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController();
  const {signal} = controller;
  const reason = new Error('The conformance suite aborted this.');
  const work = start(signal, () => {
    controller.abort(reason);
  }).then(
    () => 'resolved',
    (error: unknown) => {
      if (error !== reason) throw error;
      return 'rejected';
    },
  );
  const done = new AbortController();
  const late = once(signal, 'abort')
    .then(async () => {
      for (let slice = 0; slice < abortDeadline.slices; slice += 1) {
        await delay(abortDeadline.sliceMs, undefined, {signal: done.signal});
      }
      await Promise.all(cleanups);
      await delay(abortDeadline.sliceMs, undefined, {signal: done.signal});
    })
    .then(
      () => 'late',
      () => 'late',
    );
  try {
    const outcome = await Promise.race([work, late]);
    assert.ok(signal.aborted, `${what} ended before it could be aborted.`);
    assert.notEqual(outcome, 'late', `${what} went on for a second after it was aborted.`);
    assert.equal(outcome, 'rejected', `${what} was aborted, but reported as a success.`);
  } finally {
    done.abort();
  }
}

/**
 * Runs a case in a scope of its own, and closes everything that was opened in it.
 * @returns why it could not try anything; undefined if it did.
 */
export async function runInScope(
  createBackend: () => AnyBackend,
  fixtures: ConformanceFixtures,
  maker: BundleMaker,
  run: (scope: Scope) => Promise<void>,
): Promise<string | undefined> {
  const directory = await mkdtemp(path.join(tmpdir(), 'mycli-conformance-'));
  const closings: (() => void | Promise<void>)[] = [];
  let number = 0;
  const subjectOf = (parts: Pick<SubjectParts, 'backend' | 'service' | 'projectSlug' | 'states' | 'relay'>) => {
    const {projectSlug, backend} = parts;
    const {formats, limits = {}} = backend;
    return new Subject({
      ...parts,
      fixtures,
      makeBundle: ({format = formats[0] ?? 'v2', ...wish} = {}) =>
        maker.make({...wish, format}, {directory, projectSlug, limits, number: (number += 1)}),
      makeHugeBundle: (format, onRead) => makeHugeBundle(format, {directory, projectSlug}, onRead),
    });
  };
  const reopen: Scope['reopen'] = ({parts}, changes = {}) =>
    subjectOf({...parts, backend: createBackend(), ...changes});
  const scope: Scope = {
    async open(backend = createBackend()) {
      const relay = new Relay();
      closings.push(() => relay.close());
      const service = await fixtures.openService({through: (origin) => relay.through(origin)});
      closings.push(() => service.close?.());
      const projectSlug = service.projectSlug ?? `conformance-${randomBytes(3).toString('hex')}`;
      return subjectOf({backend, service, relay, projectSlug, states: new Map()});
    },
    reopen,
    reopenElsewhere(subject) {
      if (subject.service.projectSlug === undefined) {
        return reopen(subject, {projectSlug: `${subject.projectSlug}-2`, states: new Map()});
      }
      return notTried('The service of the fixtures has a projectSlug, so there is no other project.');
    },
  };
  const limitMs = fixtures.caseTimeoutMs ?? 60_000;
  const over = new AbortController();
  const tooLong = delay(limitMs, undefined, {signal: over.signal}).then(
    () => assert.fail(`This case took longer than ${String(limitMs / 1000)} s: something never ends.`),
    () => undefined,
  );
  try {
    await Promise.race([run(scope), tooLong]);
    return undefined;
  } catch (error) {
    if (error instanceof NotTried) return error.message;
    throw error;
  } finally {
    over.abort();
    for (const close of closings) await close();
    await rm(directory, {recursive: true, force: true, maxRetries: 5});
  }
}
