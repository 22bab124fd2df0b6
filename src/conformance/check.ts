import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
// eslint-disable-next-line no-restricted-imports -- a case makes and removes the folder of its bundles itself
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {AnyBackend} from '../backends/contract.js';
import {isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {
  makeHugeBundle,
  makeTestBundle,
  sizeWithin,
  type ConformanceFixtures,
  type ConformanceService,
} from './fixtures.js';
import {Relay} from './relay.js';
import {Subject, type SubjectParts} from './subject.js';

/** One check of the suite. */
export interface Check {
  /** The name of its case. */
  readonly name: string;
  /** Rejects when the backend breaks the contract. */
  run(scope: CaseScope): Promise<void>;
}

/** Functions of a service that inject faults, or count what they lead to. */
type FaultName = 'interruptUploads' | 'countReceivedBytes';

/** A second, in slices. A pause of the whole machine only counts as one slice. */
const abortDeadline = {slices: 20, sliceMs: 50};

/** Optional functions of a service. */
type OfferName = 'occupyTarget' | 'failDeployments' | 'countUploads';

/** Thrown by a check that cannot try anything, because the fixtures or the backend lack something optional. */
export class NotTried extends Error {}

/**
 * An optional function of the service.
 * @throws NotTried when the service does not have it.
 */
export function offered<Name extends OfferName>(
  service: ConformanceService,
  name: Name,
): NonNullable<ConformanceService[Name]> {
  const found = service[name];
  if (found) return found;
  throw new NotTried(`The service of the fixtures has no ${name}(), which this case needs.`);
}

/** A function of the service that the case requires. */
export function requireFault<Name extends FaultName>(
  service: ConformanceService,
  name: Name,
): NonNullable<ConformanceService[Name]> {
  const fault = service[name];
  assert.ok(
    fault,
    `The service of the fixtures has no ${name}(). Add it, or say in "skip" why this case does not apply.`,
  );
  return fault;
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
  assert.notEqual(
    code,
    'ERR_BACKEND_FAILED',
    `Throw a context.error() with a code that says what happened: ${message}`,
  );
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

/** What a check can open. Everything is closed at the end of the case. */
export interface CaseScope {
  /** Opens a service, for `backend` or a new one. */
  open(backend?: AnyBackend): Promise<Subject>;
  /** The service of `subject` with a new backend, as another process would see it, with the states that were kept. */
  reopen(subject: Pick<Subject, 'service' | 'relay' | 'projectSlug' | 'states'>): Subject;
}

/**
 * Runs a check in its own scope, and closes everything that was opened in it.
 * @returns why it could not try anything; undefined if it did.
 */
export async function runInScope(
  createBackend: () => AnyBackend,
  fixtures: ConformanceFixtures,
  check: (scope: CaseScope) => Promise<void>,
): Promise<string | undefined> {
  const directory = await mkdtemp(path.join(tmpdir(), 'mycli-conformance-'));
  const closings: (() => void | Promise<void>)[] = [];
  let bundles = 0;
  const subjectOf = (parts: Pick<SubjectParts, 'backend' | 'service' | 'projectSlug' | 'states' | 'relay'>) =>
    new Subject({
      ...parts,
      fixtures,
      makeBundle: (format, size) =>
        makeTestBundle(directory, {
          ...{format, projectSlug: parts.projectSlug, number: (bundles += 1)},
          ...sizeWithin(parts.backend.limits ?? {}, size),
        }),
      makeHugeBundle: (format) => makeHugeBundle(directory, format, parts.projectSlug),
    });
  const limitMs = fixtures.caseTimeoutMs ?? 60_000;
  const late = new AbortController();
  try {
    const checking = check({
      async open(backend = createBackend()) {
        const relay = new Relay();
        closings.push(() => relay.close());
        const service = await fixtures.openService({through: (origin) => relay.through(origin)});
        closings.push(() => service.close?.());
        const projectSlug = service.projectSlug ?? `conformance-${randomBytes(4).toString('hex')}`;
        return subjectOf({backend, service, relay, projectSlug, states: new Map()});
      },
      reopen: ({service, relay, projectSlug, states}) =>
        subjectOf({backend: createBackend(), service, relay, projectSlug, states}),
    });
    const tooLong = delay(limitMs, undefined, {signal: late.signal}).then(
      () => assert.fail(`This case took longer than ${String(limitMs / 1000)} s: something never ends.`),
      () => undefined,
    );
    await Promise.race([checking, tooLong]);
    return undefined;
  } catch (error) {
    if (error instanceof NotTried) return error.message;
    throw error;
  } finally {
    late.abort();
    for (const close of closings) await close();
    await rm(directory, {recursive: true, force: true});
  }
}
