import assert from 'node:assert/strict';
import type {BundleId} from '../../backends/contract.js';
import {anyError, expectAbort, expectError, notTried, outcomeOf} from '../expectations.js';
import {withCode, type ExpectedError} from '../expectations.js';
import {prepare, type Operation, type Prepared} from '../operations.js';
import {faults, type Fault} from '../relay.js';
import {notOffered, rateLimit, type Case, type Subject} from '../subject.js';

/** What happens to each request of an operation in turn, and what that may lead to. */
interface FaultRule {
  readonly name: string;
  readonly proves: string;
  /** Whether it is about what an upload leaves in the service. @default it is tried on all operations */
  readonly isAboutUploads?: true;
  readonly kind: Fault['kind'];
  /** Whether it happens to the requests after that one, too. Then the operation must fail if it needs them. */
  readonly lasts?: true;
  /** What the operation may fail with. @default it must not fail */
  readonly error?: ExpectedError;
}

const isUpload = ({needs}: Operation) => needs === 'upload';

const rules: readonly FaultRule[] = [
  {
    name: 'an abort ends it within a second',
    proves: 'Each of its requests is held in turn; an abort ends it within a second, and nothing is left of an upload.',
    kind: 'hold',
  },
  {
    name: 'a failure of the service is reported as such',
    proves: 'A 500 to any of its requests surfaces as `ERR_SERVER`, or as another code of a service that fails.',
    kind: 'fail',
    lasts: true,
    // Any other code tells users to do something else about it.
    error: withCode('ERR_SERVER', 'ERR_OUTCOME_UNKNOWN', 'ERR_RESPONSE_INVALID', 'ERR_REJECTED'),
  },
  {
    name: 'refused credentials are reported as such',
    proves: 'A 401 to any of its requests surfaces as `ERR_UNAUTHORIZED`, `ERR_FORBIDDEN` or `ERR_OAUTH`.',
    kind: 'refuse',
    lasts: true,
    error: withCode('ERR_UNAUTHORIZED', 'ERR_FORBIDDEN', 'ERR_OAUTH'),
  },
  {
    name: 'a persistent rate limit is reported as such',
    proves: 'A 429 to all of its requests surfaces as `ERR_RATE_LIMITED`, after no more retries than the host allows.',
    kind: 'limit',
    lasts: true,
    error: withCode('ERR_RATE_LIMITED'),
  },
  {
    name: 'a rate limit is waited for',
    proves: 'A single 429 to any of its requests makes no difference, and an upload is complete and stored once.',
    kind: 'limit',
  },
  {
    name: 'a lost answer is requested again, or leaves the outcome open',
    proves:
      'When the answer to any of its requests is lost, what only reads asks again, and what writes succeeds, or ends ' +
      'with `ERR_OUTCOME_UNKNOWN`: nothing is done twice.',
    kind: 'lose',
    error: withCode('ERR_OUTCOME_UNKNOWN'),
  },
  {
    name: 'what fails leaves nothing behind',
    proves: 'When any of its requests is refused once, nothing is left of the upload.',
    isAboutUploads: true,
    kind: 'refuse',
    error: anyError,
  },
];

/** How many requests of an operation are tried: the first ones. */
const mostRequests = 6;

/** The cases of an operation: each of its requests meets each fault. */
export function faultCases(operation: Operation): readonly Case[] {
  // Without a fault, it sends as many requests each time.
  let counting: Promise<number> | undefined;
  const caseOf = (rule: FaultRule): Case => ({
    name: `${operation.name}: ${rule.name}`,
    needs: [operation.needs],
    proves: rule.proves,
    async run(trial, open) {
      if (rule.isAboutUploads && !trial.service.countUploads) notOffered('countUploads');
      const total = await (counting ??= open().then((subject) => countRequests(subject, operation)));
      // A backend without credentials must say so: one whose requests do not pass the suite looks the same.
      if (total === 0 && rule.kind === 'refuse' && rule.lasts && ['upload', 'verify'].includes(operation.needs)) {
        notTried(
          `No request of ${operation.name} passes the suite. Send it with context.http, or give your client the ` +
            'address that through() of openService returns.',
        );
      }
      for (let at = 1; at <= Math.min(total, mostRequests); at += 1) {
        const subject = at === 1 ? trial : await open();
        const hit = {subject, operation, prepared: await prepare(subject, operation), at, total};
        await (rule.kind === 'hold' ? abortAt(hit) : failAt(hit, rule));
      }
    },
  });
  return rules.filter(({isAboutUploads}) => !isAboutUploads || isUpload(operation)).map(caseOf);
}

async function countRequests(subject: Subject, operation: Operation): Promise<number> {
  const {relay} = subject.parts;
  const prepared = await prepare(subject, operation);
  relay.arm();
  await operation.run(subject, prepared);
  return relay.requests;
}

/** An operation whose request `at` is hit, of the `total` that there are without a fault. */
interface Hit {
  readonly subject: Subject;
  readonly operation: Operation;
  readonly prepared: Prepared;
  readonly at: number;
  readonly total: number;
}

async function abortAt({subject, operation, prepared, at, total}: Hit): Promise<void> {
  // By its last request, a deployment may have been made: what is left is to clean up.
  if (operation.name === 'deploy' && at === total && total > 1) return;
  await expectAbort(`${operation.name} at request ${at}`, async (signal, onHeld) => {
    subject.parts.relay.arm({kind: 'hold', at, onHeld});
    await operation.run(subject, prepared, {signal});
  });
  if (isUpload(operation)) await subject.assertKept(0, `an abort at request ${at}`);
}

async function failAt({subject, operation, prepared, at, total}: Hit, rule: FaultRule): Promise<void> {
  const {kind, lasts = false} = rule;
  const expected = kind === 'lose' && !operation.writes ? undefined : rule.error;
  const what = `${operation.name} (request ${at} ${faults[kind].does})`;
  const {relay} = subject.parts;
  relay.arm({kind, at, lasts});
  const work = operation.run(subject, prepared);
  const {result, error} = await outcomeOf(work);
  const sent = relay.requests;
  relay.arm();

  // What writes may do without some requests. The last one of a deployment may only clean up after it.
  const isListed = operation.name === 'deploy' && subject.backend.listDeployments !== undefined;
  const mayDoWithout = operation.writes && (at < total || (isListed && total > 1));
  if (expected && (error ?? (lasts && !mayDoWithout))) await expectError(what, work, expected);
  else await work;

  await subject.assertNoLeak();
  if (isUpload(operation)) {
    if (!error) await subject.assertArrived(prepared.bundle, (result as {readonly bundleId: BundleId}).bundleId, what);
    await subject.assertKept(error && !lasts && kind !== 'lose' ? 0 : 1, what);
  }
  if (isListed) {
    await subject.nextInstant();
    const {length} = await subject.history();
    const isFine = error ? length <= 1 : length === 1;
    assert.ok(isFine, `Expected one deployment after ${what} and none more. The history lists ${length}.`);
  }
  if (kind === 'limit' && lasts) {
    const allowed = total * (1 + rateLimit.maxRetries);
    const advice = 'Stop when context.waitToRetry() returns false.';
    assert.ok(sent <= allowed, `Expected ${what} to send ${allowed} requests at most. It sent ${sent}. ${advice}`);
  }
}
