import assert from 'node:assert/strict';
import type {Bundle, BundleId} from '../../backends/contract.js';
import type {ErrorCode} from '../../errors/index.js';
import {
  anyError,
  expectAbort,
  expectError,
  notTried,
  outcomeOf,
  withCode,
  type ExpectedError,
} from '../expectations.js';
import {prepare, type Operation} from '../operations.js';
import type {Fault} from '../relay.js';
import {rateLimit} from '../host.js';
import type {Subject, Case, CaseTable, Open} from '../subject.js';

/** How many requests of an operation are tried: the first ones. */
const mostRequests = 6;

/** A fault that hits each request of an operation in turn, and what it must lead to. */
interface FaultRule {
  readonly proves: string;
  /** Which operations it is tried on. @default all */
  readonly of?: (operation: Operation) => boolean;
  readonly kind: Fault['kind'];
  /** Whether it hits the requests after that one, too. Then the operation must fail, unless it can do without them. */
  readonly lasts?: true;
  /** Whether the case is not tried without a request that passes the suite. */
  readonly mustReach?: true;
  /** What the operation may fail with. @default it must not fail */
  readonly error?: ExpectedError;
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

const rules: Readonly<Record<string, FaultRule>> = {
  'an abort ends it within a second': {
    proves: 'Each of its requests is held in turn; an abort ends it within a second, and nothing is left of an upload.',
    kind: 'hold',
  },
  'a failure of the service is reported as such': {
    proves: 'A 500 to any of its requests is not reported as anything that users would do something else about.',
    kind: 'fail',
    lasts: true,
    error: serverFailure,
  },
  'refused credentials are reported as such': {
    proves: 'A 401 to any of its requests surfaces as `ERR_UNAUTHORIZED`, `ERR_FORBIDDEN` or `ERR_OAUTH`.',
    kind: 'refuse',
    lasts: true,
    mustReach: true,
    error: withCode(...credentialCodes),
  },
  'a persistent rate limit is reported as such': {
    proves: 'A 429 to all of its requests surfaces as `ERR_RATE_LIMITED`, after no more retries than the host allows.',
    kind: 'limit',
    lasts: true,
    error: withCode('ERR_RATE_LIMITED'),
  },
  'a rate limit is waited for': {
    proves: 'A single 429 to any of its requests makes no difference, and an upload is complete and stored once.',
    kind: 'limit',
  },
  'a lost answer is requested again': {
    of: ({writes}) => !writes,
    proves: 'What only reads asks again when the answer to any of its requests is lost.',
    kind: 'lose',
  },
  'a lost answer leaves the outcome open, and nothing is done twice': {
    of: ({writes}) => writes,
    proves: 'When the answer to any of its requests is lost, it succeeds or ends with `ERR_OUTCOME_UNKNOWN`.',
    kind: 'lose',
    error: withCode('ERR_OUTCOME_UNKNOWN'),
  },
  'what fails leaves nothing behind': {
    of: isUpload,
    proves: 'When any of its requests is refused once, nothing is left of the upload.',
    kind: 'refuse',
    error: anyError,
  },
};

/** What the suite does to requests, in words. */
const doings: Readonly<Record<Fault['kind'], string>> = {
  fail: 'was answered with 500',
  limit: 'was answered with 429',
  refuse: 'was answered with 401',
  lose: 'was carried out, but its answer was lost',
  hold: 'was held',
  cut: 'was cut off',
};

/** The cases of an operation: each of its requests meets each fault. */
export function faultCases(operation: Operation): CaseTable {
  const cases = Object.entries(rules).flatMap(([name, rule]) => {
    if (rule.of?.(operation) === false) return [];
    const run: Case['run'] = (trial, open) => tryEach(trial, open, operation, rule);
    return [[`${operation.name}: ${name}`, {proves: rule.proves, run}] as const];
  });
  return {[operation.needs]: Object.fromEntries(cases)};
}

async function tryEach(trial: Subject, open: Open, operation: Operation, rule: FaultRule): Promise<void> {
  const prepared = await prepare(trial, operation);
  const total = await countRequests(trial, () => operation.run(trial, prepared));
  if (total === 0 && rule.mustReach && ['upload', 'verify'].includes(operation.needs)) {
    notTried(
      `No request of ${operation.name} passes the suite. Send it with context.http, or give your client the address ` +
        'that through() of openService returns.',
    );
  }
  for (let at = 1; at <= Math.min(total, mostRequests); at += 1) {
    await (rule.kind === 'hold' ? tryAbort : tryFault)(await open(), operation, rule, {at, total});
  }
}

async function countRequests({relay}: Subject, work: () => Promise<unknown>): Promise<number> {
  relay.arm();
  await work();
  return relay.requests;
}

interface Hit {
  /** Number of the request that is hit. */
  readonly at: number;
  /** How many requests there are without a fault. */
  readonly total: number;
}

async function tryAbort(subject: Subject, operation: Operation, _: FaultRule, {at, total}: Hit): Promise<void> {
  // By its last request, a deployment may have been made: what is left is to clean up.
  if (operation.name === 'deploy' && total > 1 && at === total) return;
  const prepared = await prepare(subject, operation);
  await expectAbort(`${operation.name} at request ${at}`, subject.cleanups, async (signal, onHeld) => {
    subject.relay.arm({kind: 'hold', at, onHeld});
    await operation.run(subject, prepared, {signal});
  });
  if (isUpload(operation)) await subject.assertKept(0, `an abort at request ${at}`);
}

async function tryFault(subject: Subject, operation: Operation, rule: FaultRule, {at, total}: Hit): Promise<void> {
  const {kind, lasts, error: expected} = rule;
  const prepared = await prepare(subject, operation);
  subject.texts.length = 0;
  subject.relay.arm({kind, at, count: lasts ? Infinity : 1});
  const working = operation.run(subject, prepared);
  const {result, error} = await outcomeOf(working);
  const sent = subject.relay.requests;
  subject.relay.arm();
  const what = `${operation.name}, whose request ${at} ${doings[kind]},`;
  const listsDeployments = operation.name === 'deploy' && subject.backend.listDeployments !== undefined;
  // What writes may do without some requests. The last one of a deployment may only clean up after it.
  const mayDoWithout = operation.writes && (at < total || (listsDeployments && total > 1));
  if (error ? expected : lasts && !mayDoWithout) await expectError(what, working, expected ?? anyError);
  else await working;
  await subject.assertNoLeak();
  if (isUpload(operation)) {
    if (!error) await subject.assertArrived(prepared.bundle, result as BundleId);
    await subject.assertKept(error && !lasts && kind !== 'lose' ? 0 : 1, what);
  }
  if (listsDeployments) {
    await subject.nextInstant();
    const {length} = await subject.history();
    const isFine = error ? length <= 1 : length === 1;
    assert.ok(isFine, `Expected one deployment after ${what} and none more. The history lists ${length}.`);
  }
  if (kind !== 'limit' || !lasts) return;
  const allowed = total * (1 + rateLimit.maxRetries);
  const advice = 'Stop when context.waitToRetry() returns false.';
  assert.ok(sent <= allowed, `Expected ${what} to send ${allowed} requests at most. It sent ${sent}. ${advice}`);
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
    upload: {
      'resume: only what is missing is sent again': {
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
      'resume: an upload that the service does not know starts over': {
        proves: 'With the state of an upload to another service, everything is sent.',
        async run(subject, open) {
          const bundle = await interruptUpload(subject, open);
          const other = (await open()).again({states: subject.parts.states});
          await other.assertArrived(bundle, await other.upload(bundle));
          await other.assertKept(1, 'an upload that started over');
        },
      },
    },
  };
}
