import assert from 'node:assert/strict';
import type {Bundle, BundleId} from '../../backends/contract.js';
import type {ErrorCode} from '../../errors/index.js';
import type {Case, CaseTable, Open} from '../case.js';
import {
  anyError,
  expectAbort,
  expectError,
  notTried,
  outcomeOf,
  withCode,
  type ExpectedError,
} from '../expectations.js';
import {prepare, type Operation, type Prepared} from '../operations.js';
import type {Fault} from '../relay.js';
import {rateLimit, type Subject} from '../subject.js';

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

const isUpload = ({needs}: Operation) => needs === 'upload';

const credentialCodes = ['ERR_UNAUTHORIZED', 'ERR_FORBIDDEN', 'ERR_OAUTH'] as const;
/** Codes that tell users to do something else than what they do about a service that fails. */
const otherCodes: readonly ErrorCode[] = [
  ...credentialCodes,
  'ERR_BACKEND_FAILED',
  'ERR_NETWORK',
  'ERR_TARGET_BUSY',
  'ERR_BUNDLE_UNKNOWN',
  'ERR_RATE_LIMITED',
];
const serverFailure: ExpectedError = {
  text: 'the code of a failure of the service, such as ERR_SERVER',
  fits: ({code}) => !otherCodes.includes(code),
};

const rules: readonly FaultRule[] = [
  {
    name: 'an abort ends it within a second',
    proves: 'Each of its requests is held in turn; an abort ends it within a second, and nothing is left of an upload.',
    async run({operation, subject, prepared, at, total}) {
      // By its last request, a deployment may have been made: what is left is to clean up.
      if (operation.name === 'deploy' && total > 1 && at === total) return;
      await expectAbort(operation.name, subject.cleanups, async (signal, onHeld) => {
        subject.relay.arm({kind: 'hold', at, onHeld});
        await operation.run(subject, prepared, {signal});
      });
      if (isUpload(operation)) await subject.assertKept(0, `an abort at request ${at}`);
    },
  },
  {
    name: 'a failure of the service is reported as such',
    proves: 'A 500 to any of its requests is not reported as anything that users would do something else about.',
    run: (hit) => assertReported(hit, 'fail', serverFailure),
  },
  {
    name: 'refused credentials are reported as such',
    proves: 'A 401 to any of its requests surfaces as `ERR_UNAUTHORIZED`, `ERR_FORBIDDEN` or `ERR_OAUTH`.',
    mustReach: true,
    run: (hit) => assertReported(hit, 'refuse', withCode(...credentialCodes)),
  },
  {
    name: 'a persistent rate limit is reported as such',
    proves: 'A 429 to all of its requests surfaces as `ERR_RATE_LIMITED`, after no more retries than the host allows.',
    async run(hit) {
      await assertReported(hit, 'limit', withCode('ERR_RATE_LIMITED'));
      const [sent, allowed] = [hit.subject.relay.requests, hit.total * (1 + rateLimit.maxRetries)];
      const advice = 'Stop when context.waitToRetry() returns false.';
      assert.ok(sent <= allowed, `Expected at most ${allowed} requests. The backend sent ${sent}. ${advice}`);
    },
  },
  {
    name: 'a rate limit is waited for',
    proves: 'A single 429 to any of its requests makes no difference, and an upload is complete and stored once.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'limit', at});
      const {result, error} = await outcomeOf(operation.run(subject, prepared));
      const advice = 'Send it with context.http, or call context.waitToRetry().';
      assert.ok(!error, `Request ${at} was rate-limited once, and the backend gave up. ${advice} ${String(error)}`);
      if (!isUpload(operation)) return;
      await subject.assertArrived(prepared.bundle, result as BundleId);
      await subject.assertKept(1, 'a retried upload');
    },
  },
  {
    name: 'a lost answer is requested again',
    of: ({writes}) => !writes,
    proves: 'What only reads asks again when the answer to any of its requests is lost.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'lose', at});
      const {error} = await outcomeOf(operation.run(subject, prepared));
      const advice = 'context.http repeats it unless "repeatable" is false.';
      assert.ok(!error, `The answer to request ${at} was lost, and the backend gave up. ${advice} ${String(error)}`);
    },
  },
  {
    name: 'a lost answer leaves the outcome open, and nothing is done twice',
    of: ({writes}) => writes,
    proves: 'When the answer to any of its requests is lost, it succeeds or ends with `ERR_OUTCOME_UNKNOWN`.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'lose', at});
      const {error} = await outcomeOf(operation.run(subject, prepared));
      subject.relay.arm();
      const what = `The answer to request ${at} was lost, so it may have been carried out`;
      assert.equal(error?.code ?? 'ERR_OUTCOME_UNKNOWN', 'ERR_OUTCOME_UNKNOWN', `${what}. ${String(error)}`);
      if (isUpload(operation)) await subject.assertKept(1, 'a lost answer');
      if (operation.name !== 'deploy' || !subject.backend.listDeployments) return;
      const {length} = await subject.history();
      assert.ok(length <= 1, `Expected one deployment after an answer was lost. The history lists ${length}.`);
    },
  },
  {
    name: 'what fails leaves nothing behind',
    of: isUpload,
    proves: 'When any of its requests is refused once, nothing is left of the upload.',
    async run({operation, subject, prepared, at}) {
      subject.relay.arm({kind: 'refuse', at});
      const {error} = await outcomeOf(operation.run(subject, prepared));
      await subject.assertKept(error ? 0 : 1, `a failure of request ${at}, without "context.state"`);
    },
  },
];

/** The cases of an operation: each of its requests meets each fault. */
export function faultCases(operation: Operation): CaseTable {
  const cases = rules
    .filter(({of}) => of?.(operation) !== false)
    .map(({name, proves, ...rule}): Case => {
      return {name: `${operation.name}: ${name}`, proves, run: (_, open) => eachRequest(open, operation, rule)};
    });
  return {[operation.needs]: cases};
}

async function eachRequest(
  open: Open,
  operation: Operation,
  {run, mustReach}: Pick<FaultRule, 'run' | 'mustReach'>,
): Promise<void> {
  const prepared = async () => {
    const subject = await open();
    return {operation, subject, prepared: await prepare(subject, operation)};
  };
  const trial = await prepared();
  const total = await countRequests(trial.subject, () => operation.run(trial.subject, trial.prepared));
  if (total === 0 && mustReach && (isUpload(operation) || operation.needs === 'verify')) {
    notTried(
      `No request of ${operation.name} passes the suite. Send it with context.http, or give your client the address ` +
        'that through() of openService returns.',
    );
  }
  for (let at = 1; at <= Math.min(total, mostRequests); at += 1) await run({...(await prepared()), at, total});
}

async function countRequests({relay}: Subject, work: () => Promise<unknown>): Promise<number> {
  relay.arm();
  await work();
  return relay.requests;
}

/** Asserts that an operation ends with a suitable error, unless it writes and can do without the request. */
async function assertReported(
  {operation, subject, prepared, at, total}: Hit,
  kind: Fault['kind'],
  expected: ExpectedError,
): Promise<void> {
  subject.texts.length = 0;
  subject.relay.arm({kind, at, count: Infinity});
  const working = operation.run(subject, prepared);
  const {error} = await outcomeOf(working);
  if (!error && operation.writes && at < total) return;
  if (!error && operation.name === 'deploy' && total > 1 && subject.backend.listDeployments) {
    // The last request may only clean up after a deployment that was made.
    subject.relay.arm();
    const {length} = await subject.history();
    assert.equal(length, 1, `Expected the deployment that was reported in the history. It lists ${length}.`);
    return;
  }
  await expectError(`${operation.name}, whose request ${at} failed,`, working, expected);
  await subject.assertNoLeak();
}

/** Cases for backends that resume uploads. `contentBytes`: the size of a bundle that they send in several parts. */
export function resumeCases(contentBytes: number): CaseTable {
  /** Interrupts an upload in the middle, after which the service works again. */
  const interruptUpload = async (subject: Subject, open: Open): Promise<Bundle> => {
    const trial = await open();
    const total = await countRequests(trial, async () => trial.upload(await trial.makeBundle({contentBytes})));
    if (total < 3) notTried('Less than three requests of an upload pass the suite.');
    const bundle = await subject.makeBundle({contentBytes});
    subject.relay.arm({kind: 'cut', at: Math.ceil((total + 1) / 2), count: Infinity});
    await expectError('an interrupted upload', subject.upload(bundle), anyError);
    subject.relay.arm();
    const {size} = subject.parts.states;
    assert.ok(size > 0, 'An upload was interrupted, and nothing is saved with "context.state".');
    return bundle;
  };
  return {
    upload: [
      {
        name: 'resume: only what is missing is sent again',
        proves:
          'After an upload that broke off in the middle, the next one sends less than the whole, and all arrives.',
        async run(subject, open) {
          const bundle = await interruptUpload(subject, open);
          const next = subject.again();
          await next.assertArrived(bundle, await next.upload(bundle));
          const sent = subject.relay.bytes;
          assert.ok(sent < bundle.size, `The second upload sent ${sent} bytes, of ${bundle.size}.`);
          await next.assertKept(1, 'a resumed upload');
        },
      },
      {
        name: 'resume: an upload that the service does not know starts over',
        proves: 'With the state of an upload to another service, everything is sent.',
        async run(subject, open) {
          const bundle = await interruptUpload(subject, open);
          const other = (await open()).again({states: subject.parts.states});
          await other.assertArrived(bundle, await other.upload(bundle));
          await other.assertKept(1, 'an upload that started over');
        },
      },
    ],
  };
}
