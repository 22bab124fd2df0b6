import assert from 'node:assert/strict';
import {createRedactor} from '../../http/index.js';
import type {ErrorCode, RuntimeCliError} from '../../errors/index.js';
import {assertAbortEnds, assertHasCode, failureOf, NotTried, type CaseScope, type Check} from '../check.js';
import {findLeak, printableOf} from '../observations.js';
import {prepare, type Operation, type Prepared} from '../operations.js';
import type {Fault} from '../relay.js';
import {listDeployments} from '../steps.js';
import type {Subject} from '../subject.js';

/** How many requests of an operation are tried: the first ones. */
const mostRequests = 6;

/** An operation whose request number `at` is hit by a fault. */
interface Hit {
  readonly operation: Operation;
  readonly subject: Subject;
  readonly prepared: Prepared;
  readonly at: number;
  /** How many requests it sends if there is no fault. */
  readonly total: number;
}

/** What each fault must lead to. */
const faults: readonly {
  readonly name: string;
  /** Which operations it is tried on. @default all */
  readonly of?: (operation: Operation) => boolean;
  /** Whether the case is not tried without a request that passes the suite. */
  readonly mustReach?: true;
  run(hit: Hit): Promise<void>;
}[] = [
  {
    name: 'an abort ends it within a second',
    async run({operation, subject, prepared, at, total}) {
      // By its last request, a deployment may have been made: what is left is to clean up.
      if (operation.name === 'deploy' && total > 1 && at === total) return;
      await assertAbortEnds(operation.name, subject, async (signal, abort) => {
        subject.relay.arm({kind: 'hold', at, count: Infinity, onHeld: abort});
        await operation.run(subject, prepared, signal);
      });
    },
  },
  {
    name: 'a failure of the service is reported as such',
    run: (hit) => assertReported(hit, {kind: 'fail', at: hit.at, count: Infinity}, isOfService),
  },
  {
    name: 'refused credentials are reported as such',
    mustReach: true,
    run: (hit) => assertReported(hit, {kind: 'refuse', at: hit.at, count: Infinity}, isOfCredentials),
  },
  {
    name: 'a persistent rate limit is reported as such',
    async run(hit) {
      await assertReported(hit, {kind: 'limit', at: hit.at, count: Infinity}, isOfRate);
      const {relay, maxRetries} = hit.subject;
      const allowed = hit.total * (1 + maxRetries);
      assert.ok(
        relay.requests <= allowed,
        `The backend sent ${String(relay.requests)} requests while its rate was limited, but at most ` +
          `${String(allowed)} are allowed. Stop when context.waitToRetry() returns false.`,
      );
    },
  },
  {
    name: 'a rate limit is waited for',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'limit', at});
      const result = await operation.run(subject, prepared).catch((error: unknown) => {
        assert.fail(
          `Request ${String(at)} was rate-limited once, and the backend gave up: ${String(error)}. Send it with ` +
            'context.http, or call context.waitToRetry().',
        );
      });
      if (operation.on !== 'nothing' || operation.writes === undefined) return;
      await subject.assertArrived(prepared.bundle, result as string | number);
      await subject.assertKept(1, 'a retried upload');
    },
  },
  {
    name: 'a lost answer is requested again',
    of: ({writes}) => writes === undefined,
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'lose', at});
      await operation.run(subject, prepared).catch((error: unknown) => {
        assert.fail(
          `The answer to request ${String(at)} was lost, and the backend gave up, although it only reads. ` +
            `context.http repeats it unless "repeatable" is false: ${String(error)}`,
        );
      });
    },
  },
  {
    name: 'a lost answer leaves the outcome open, and nothing is done twice',
    of: ({writes}) => writes === true,
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'lose', at});
      const error = await operation.run(subject, prepared).then(
        () => undefined,
        (reason: unknown) => reason as RuntimeCliError,
      );
      subject.relay.disarm();
      if (error !== undefined) {
        assert.equal(
          error.code,
          'ERR_OUTCOME_UNKNOWN',
          `The answer to request ${String(at)} was lost, so it may have been carried out: ${error.message}`,
        );
      }
      if (operation.on === 'nothing') await assertOnce(subject);
      if (operation.name === 'deploy' && subject.backend.listDeployments) await assertDeployedOnce(subject);
    },
  },
];

/** The cases of an operation: each of its requests meets each fault. */
export function faultChecks(operation: Operation): readonly Check[] {
  return faults
    .filter(({of}) => of?.(operation) !== false)
    .map((fault) => ({
      name: `${operation.name}: ${fault.name}`,
      run: (scope) => eachRequest(scope, operation, fault),
    }));
}

async function eachRequest(
  scope: CaseScope,
  operation: Operation,
  {run, mustReach}: (typeof faults)[number],
): Promise<void> {
  const open = async () => {
    const subject = await scope.open();
    const format = /\((v[12])\)/.exec(operation.name)?.[1] as 'v1' | 'v2' | undefined;
    return {operation, subject, prepared: await prepare(subject, operation, format)};
  };
  const {subject, prepared} = await open();
  subject.relay.arm();
  await operation.run(subject, prepared);
  const total = subject.relay.requests;
  if (total === 0 && mustReach && (operation.needs === 'upload' || operation.needs === 'verify')) {
    throw new NotTried(
      `No request of ${operation.name} passes the suite. Send it with context.http, or give your client the address ` +
        'that through() of openService returns.',
    );
  }
  for (let at = 1; at <= Math.min(total, mostRequests); at += 1) await run({...(await open()), at, total});
}

/** Asserts that an operation ends with a suitable error, unless it writes and can do without the request. */
async function assertReported(
  {operation, subject, prepared, at, total}: Hit,
  fault: Fault,
  isSuitable: (error: RuntimeCliError) => boolean,
): Promise<void> {
  const told = subject.recording.messages.length;
  subject.relay.arm(fault);
  const working = operation.run(subject, prepared);
  if (operation.writes) {
    const isDone = await working.then(
      () => true,
      () => false,
    );
    if (isDone && at < total) return;
    if (isDone && operation.name === 'deploy' && total > 1 && subject.backend.listDeployments) {
      // The last request may only clean up after a deployment that was made.
      subject.relay.disarm();
      const {items} = await listDeployments(subject);
      assert.equal(items.length, 1, 'A deployment was reported as a success, but is not in the history.');
      return;
    }
  }
  const error = await failureOf(`${operation.name}, whose request ${String(at)} failed,`, working);
  assertHasCode(error);
  assert.ok(isSuitable(error), `The answer to request ${String(at)} is reported as ${error.code}: ${error.message}`);
  const secrets = [...(subject.service.secrets ?? []), ...((await subject.service.issuedSecrets?.()) ?? [])];
  const redact = createRedactor(secrets);
  for (const text of [printableOf(error), ...subject.recording.messages.slice(told)]) {
    assert.ok(findLeak(text, secrets) === undefined, `An error or a log contains a secret: ${redact(text)}`);
  }
}

/** Codes that tell users to do something else about it. */
const otherCodes: ReadonlySet<ErrorCode> = new Set([
  'ERR_NETWORK',
  'ERR_TARGET_BUSY',
  'ERR_BUNDLE_UNKNOWN',
  'ERR_UNAUTHORIZED',
  'ERR_FORBIDDEN',
  'ERR_RATE_LIMITED',
]);

function isOfService({code}: RuntimeCliError): boolean {
  return !otherCodes.has(code);
}

function isOfCredentials({code}: RuntimeCliError): boolean {
  return code === 'ERR_UNAUTHORIZED' || code === 'ERR_FORBIDDEN' || code === 'ERR_OAUTH';
}

function isOfRate({code}: RuntimeCliError): boolean {
  return code === 'ERR_RATE_LIMITED';
}

async function assertOnce(subject: Subject): Promise<void> {
  const count = await subject.service.countUploads?.();
  assert.ok(
    count === undefined || count <= 1,
    `A bundle was sent again after an answer was lost, and now there are ${String(count)}. Set "repeatable" only for ` +
      'requests that may arrive twice, such as a PUT.',
  );
}

async function assertDeployedOnce(subject: Subject): Promise<void> {
  const {items} = await listDeployments(subject);
  assert.ok(items.length <= 1, `After an answer was lost, there are ${String(items.length)} deployments.`);
}
