import assert from 'node:assert/strict';
import type {Bundle, BundleId} from '../../backends/contract.js';
import type {ErrorCode, RuntimeCliError} from '../../errors/index.js';
import {prepare, type Operation, type Prepared} from '../operations.js';
import type {FaultKind} from '../relay.js';
import {assertAbortEnds, assertHasCode, failureOf, notTried, type Case, type Scope} from '../scope.js';
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
interface FaultRule {
  readonly name: string;
  readonly proves: string;
  /** Which operations it is tried on. @default all */
  readonly of?: (operation: Operation) => boolean;
  /** Whether the case is not tried without a request that passes the suite. */
  readonly mustReach?: true;
  run(hit: Hit): Promise<void>;
}

const isUpload = ({needs}: Operation) => needs === 'upload' || needs === 'uploadStream';

const rules: readonly FaultRule[] = [
  {
    name: 'an abort ends it within a second',
    proves: 'Each of its requests is held in turn; an abort ends it within a second, and nothing is left of an upload.',
    async run({operation, subject, prepared, at, total}) {
      // By its last request, a deployment may have been made: what is left is to clean up.
      if (operation.name === 'deploy' && total > 1 && at === total) return;
      await assertAbortEnds(operation.name, subject, async (signal, onHeld) => {
        subject.relay.arm({kind: 'hold', at, onHeld});
        await operation.run(subject, prepared, {signal});
      });
      if (isUpload(operation)) await subject.assertKept(0, `an abort at request ${String(at)}`);
    },
  },
  {
    name: 'a failure of the service is reported as such',
    proves: 'A 500 to any of its requests is not reported as anything that users would do something else about.',
    run: (hit) => assertReported(hit, 'fail', ({code}) => !otherCodes.has(code)),
  },
  {
    name: 'refused credentials are reported as such',
    proves: 'A 401 to any of its requests surfaces as `ERR_UNAUTHORIZED`, `ERR_FORBIDDEN` or `ERR_OAUTH`.',
    mustReach: true,
    run: (hit) => assertReported(hit, 'refuse', ({code}) => credentialCodes.has(code)),
  },
  {
    name: 'a persistent rate limit is reported as such',
    proves: 'A 429 to all of its requests surfaces as `ERR_RATE_LIMITED`, after no more retries than the host allows.',
    async run(hit) {
      await assertReported(hit, 'limit', ({code}) => code === 'ERR_RATE_LIMITED');
      const {relay, maxRetries} = hit.subject;
      const [sent, allowed] = [relay.requests, hit.total * (1 + maxRetries)];
      const advice = 'Stop when context.waitToRetry() returns false.';
      assert.ok(
        sent <= allowed,
        `${String(sent)} requests were sent, but at most ${String(allowed)} may be. ${advice}`,
      );
    },
  },
  {
    name: 'a rate limit is waited for',
    proves: 'A single 429 to any of its requests makes no difference, and an upload is complete and stored once.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'limit', at});
      const result = await operation.run(subject, prepared).catch((error: unknown) => {
        const advice = 'Send it with context.http, or call context.waitToRetry().';
        assert.fail(
          `Request ${String(at)} was rate-limited once, and the backend gave up: ${String(error)}. ${advice}`,
        );
      });
      if (!isUpload(operation)) return;
      await subject.assertArrived(prepared.bundle, result as BundleId);
      await subject.assertKept(1, 'a retried upload');
    },
  },
  {
    name: 'a lost answer is requested again',
    of: ({writes}) => writes === undefined,
    proves: 'What only reads asks again when the answer to any of its requests is lost.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'lose', at});
      await operation.run(subject, prepared).catch((error: unknown) => {
        const advice = 'context.http repeats it unless "repeatable" is false';
        assert.fail(
          `The answer to request ${String(at)} was lost, and the backend gave up. ${advice}: ${String(error)}`,
        );
      });
    },
  },
  {
    name: 'a lost answer leaves the outcome open, and nothing is done twice',
    of: ({writes}) => writes === true,
    proves: 'When the answer to any of its requests is lost, it succeeds or ends with `ERR_OUTCOME_UNKNOWN`.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'lose', at});
      const error = await operation.run(subject, prepared).then(
        () => undefined,
        (reason: unknown) => reason as RuntimeCliError,
      );
      subject.relay.disarm();
      if (error !== undefined) {
        const what = `The answer to request ${String(at)} was lost, so it may have been carried out`;
        assert.equal(error.code, 'ERR_OUTCOME_UNKNOWN', `${what}: ${error.message}`);
      }
      if (isUpload(operation)) await subject.assertKept(1, 'a lost answer');
      if (operation.name !== 'deploy' || !subject.backend.listDeployments) return;
      const {length} = await subject.history();
      assert.ok(length <= 1, `After an answer was lost, there are ${String(length)} deployments.`);
    },
  },
  {
    name: 'what fails leaves nothing behind',
    of: isUpload,
    proves: 'When any of its requests is refused once, nothing is left of the upload.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'refuse', at});
      const isDone = await operation.run(subject, prepared).then(
        () => true,
        () => false,
      );
      await subject.assertKept(isDone ? 1 : 0, `a failure of request ${String(at)}, without "context.state"`);
    },
  },
];

/** The cases of an operation: each of its requests meets each fault. */
export function faultCases(operation: Operation): readonly Case[] {
  return rules
    .filter(({of}) => of?.(operation) !== false)
    .map((rule) => ({
      name: `${operation.name}: ${rule.name}`,
      proves: rule.proves,
      needs: [operation.needs],
      run: (scope) => eachRequest(scope, operation, rule),
    }));
}

async function eachRequest(scope: Scope, operation: Operation, {run, mustReach}: FaultRule): Promise<void> {
  const open = async () => {
    const subject = await scope.open();
    return {operation, subject, prepared: await prepare(subject, operation)};
  };
  const total = await countRequests(await open());
  if (total === 0 && mustReach && (isUpload(operation) || operation.needs === 'verify')) {
    notTried(
      `No request of ${operation.name} passes the suite. Send it with context.http, or give your client the address ` +
        'that through() of openService returns.',
    );
  }
  for (let at = 1; at <= Math.min(total, mostRequests); at += 1) await run({...(await open()), at, total});
}

async function countRequests({operation, subject, prepared}: Omit<Hit, 'at' | 'total'>): Promise<number> {
  subject.relay.arm();
  await operation.run(subject, prepared);
  return subject.relay.requests;
}

/** Asserts that an operation ends with a suitable error, unless it writes and can do without the request. */
async function assertReported(
  {operation, subject, prepared, at, total}: Hit,
  kind: FaultKind,
  isSuitable: (error: RuntimeCliError) => boolean,
): Promise<void> {
  subject.texts.length = 0;
  subject.relay.arm({kind, at, count: Infinity});
  const working = operation.run(subject, prepared);
  const isDone = await working.then(
    () => true,
    () => false,
  );
  if (isDone && operation.writes && at < total) return;
  if (isDone && operation.name === 'deploy' && total > 1 && subject.backend.listDeployments) {
    // The last request may only clean up after a deployment that was made.
    subject.relay.disarm();
    const {length} = await subject.history();
    assert.equal(length, 1, 'A deployment was reported as a success, but is not in the history.');
    return;
  }
  const error = await failureOf(`${operation.name}, whose request ${String(at)} failed,`, working);
  assertHasCode(error);
  assert.ok(isSuitable(error), `The answer to request ${String(at)} is reported as ${error.code}: ${error.message}`);
  await subject.assertNoLeak();
}

const credentialCodes: ReadonlySet<ErrorCode> = new Set(['ERR_UNAUTHORIZED', 'ERR_FORBIDDEN', 'ERR_OAUTH']);

/** Codes that tell users to do something else than what they do about a service that fails. */
const otherCodes: ReadonlySet<ErrorCode> = new Set([
  ...credentialCodes,
  'ERR_NETWORK',
  'ERR_TARGET_BUSY',
  'ERR_BUNDLE_UNKNOWN',
  'ERR_RATE_LIMITED',
]);

/** Cases for backends that resume uploads. `contentBytes`: the size of a bundle that they send in several parts. */
export function resumeCases(contentBytes: number): readonly Case[] {
  /** Interrupts an upload in the middle, after which the service works again. */
  const interruptedUpload = async (scope: Scope): Promise<{readonly subject: Subject; readonly bundle: Bundle}> => {
    const trial = await scope.open();
    trial.relay.arm();
    await trial.upload(await trial.makeBundle({contentBytes}));
    const total = trial.relay.requests;
    if (total < 3) notTried('Less than three requests of an upload pass the suite.');
    const subject = await scope.open();
    const bundle = await subject.makeBundle({contentBytes});
    subject.relay.arm({kind: 'cut', at: Math.ceil((total + 1) / 2), count: Infinity});
    await failureOf('An interrupted upload', subject.upload(bundle));
    subject.relay.arm();
    const {size} = subject.parts.states;
    assert.ok(size > 0, 'An upload was interrupted, and nothing is saved with "context.state".');
    return {subject, bundle};
  };
  return [
    {
      name: 'resume: only what is missing is sent again',
      proves: 'After an upload that broke off in the middle, the next one sends less than the whole, and all arrives.',
      async run(scope) {
        const {subject, bundle} = await interruptedUpload(scope);
        const next = scope.reopen(subject);
        await next.assertArrived(bundle, await next.upload(bundle));
        const sent = subject.relay.bytes;
        assert.ok(sent < bundle.size, `The second upload sent ${String(sent)} bytes, of ${String(bundle.size)}.`);
        await next.assertKept(1, 'a resumed upload');
      },
    },
    {
      name: 'resume: an upload that the service does not know starts over',
      proves: 'With the state of an upload to another service, everything is sent.',
      async run(scope) {
        const {subject, bundle} = await interruptedUpload(scope);
        const other = await scope.open();
        for (const [sha256, state] of subject.parts.states) other.parts.states.set(sha256, state);
        await other.assertArrived(bundle, await other.upload(bundle));
        await other.assertKept(1, 'an upload that started over');
      },
    },
  ];
}
