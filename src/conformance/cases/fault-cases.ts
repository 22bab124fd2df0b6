import assert from 'node:assert/strict';
import type {BundleId} from '../../backends/contract.js';
import {anyCode, anyError, expectAbort, expectError, notTried, outcomeOf} from '../expectations.js';
import {refusalOfSecrets, withCode, type ExpectedError} from '../expectations.js';
import {prepare, type TriedOperation, type Prepared} from '../operations.js';
import type {Fault} from '../relay.js';
import {fastRetries, type Called, type Case, type Lister, type Subject} from '../subject.js';
import {expectDeployed} from './deployment-cases.js';
import {withOtherSecrets} from './every-backend.js';

/** What happens to each request of an operation in turn, and what that may lead to. */
interface FaultRule {
  readonly name: string;
  readonly proves: string;
  readonly kind: Fault['kind'];
  /** Whether it happens to the requests after that one, too. Then the operation must fail if it needs them. */
  readonly lasts?: boolean;
  /** What the operation may fail with. @default it must not fail */
  readonly error?: ExpectedError;
}

const rules: readonly FaultRule[] = [
  {
    name: 'an abort ends it within a second',
    proves:
      'If it is aborted while it waits for an answer, it ends within a second, and leaves no upload and no half-made ' +
      'deployment. The target runs what it ran before, and its history is unchanged.',
    kind: 'hold',
  },
  {
    name: 'a failure of the service is reported as such',
    proves:
      'A 500 to any of its requests surfaces as `ERR_SERVER`, or as another code of a service that fails. With ' +
      '`tcp:`, the connection breaks instead, and any code will do. A failed deployment is never reported as live: ' +
      'not in the history, its status, its log or `inUseBy`. A deletion that failed can be repeated.',
    kind: 500,
    lasts: true,
    // Any other code tells users to do something else about it.
    error: withCode('ERR_SERVER', 'ERR_OUTCOME_UNKNOWN', 'ERR_RESPONSE_INVALID', 'ERR_REJECTED'),
  },
  {
    name: 'refused credentials are reported as such',
    proves:
      'A 401 to any request is `ERR_UNAUTHORIZED`, `ERR_FORBIDDEN` or `ERR_OAUTH`, and leaves nothing of an upload. ' +
      'Once a deployment may be live, it may also be `ERR_OUTCOME_UNKNOWN`. With `tcp:`, the service refuses other ' +
      'secrets itself.',
    kind: 401,
    lasts: true,
    error: refusalOfSecrets,
  },
  {
    name: 'a persistent rate limit is reported as such',
    proves:
      'A 429 to all of its requests surfaces as `ERR_RATE_LIMITED`, or once a deployment may be live as ' +
      '`ERR_OUTCOME_UNKNOWN`, after no more retries than the host allows.',
    kind: 429,
    lasts: true,
    error: withCode('ERR_RATE_LIMITED'),
  },
  {
    name: 'a rate limit is waited for',
    proves: 'A single 429 to any of its requests makes no difference, and an upload is complete and stored once.',
    kind: 429,
  },
  {
    name: 'a lost answer is requested again, or leaves the outcome open',
    proves:
      'Reads are repeated. Writes succeed or are `ERR_OUTCOME_UNKNOWN`: nothing is done twice. If later answers are ' +
      'lost, too, no error denies what was done.',
    kind: 'lose',
    error: withCode('ERR_OUTCOME_UNKNOWN'),
  },
];

/** Of another protocol than HTTP, a request may be one that only connects. */
const lostOrUnsent = withCode('ERR_OUTCOME_UNKNOWN', 'ERR_NETWORK');

/** How many requests of an operation are tried: the first ones may connect, and the last ones may write. */
const firstTried = 3;
const lastTried = {reads: 3, writes: 27};

/** The lists that an operation adds one item to. */
const grownLists: {readonly [Name in Called]?: Lister} = {
  upload: 'listBundles',
  createTarget: 'listTargets',
  changeRedirect: 'listRedirects',
  changeAccess: 'listAccess',
  setVariables: 'listVariables',
};

export function faultCases(operation: TriedOperation): readonly Case[] {
  // Without a fault, it sends as many requests each time.
  let counting: Promise<number> | undefined;
  return rules.map((rule) => ({
    name: `${operation.name}: ${rule.name}`,
    needs: [operation.needs],
    proves: rule.proves,
    async run(trial, open) {
      const {kind} = rule;
      const {isHttp} = trial.parts.relay;
      if (!isHttp && kind === 429) notTried('Only HTTP requests can be answered with 429.');
      if (!isHttp && kind === 401) return refuse(trial, operation);
      const counted = (counting ??= countRequests(trial, operation));
      // A failure is repeated, as only the secrets of its own services are masked in that of a case.
      const total = await counted.catch(() => countRequests(trial, operation));
      const advice = 'Send it with context.http, or to the address that through() of openService returns.';
      if (total === 0) notTried(`No request of ${operation.name} passes the suite. ${advice}`);
      const isListed = operation.needs in grownLists || targetOf(trial, operation) !== undefined;
      for (let at = 1; at <= total; at += 1) {
        if (at > firstTried && at <= total - (operation.writes ? lastTried.writes : lastTried.reads)) continue;
        if (kind === 'hold') await abortAt(await open(), operation, at, total);
        else if (isHttp || kind !== 500) await failAt(await open(), operation, at, total, rule);
        // What no attempt has brought to the service is no success, either.
        const cut = {...rule, kind: 'cut', error: isHttp ? anyError : anyCode} as const;
        const isCut = kind === 500 && (operation.needs === 'deploy' || !isHttp);
        if (isCut) await failAt(await open(), operation, at, total, cut);
        // What fails can be cleaned up if the service refuses nothing more.
        const once = {...rule, lasts: false, error: anyError};
        if (kind === 401 && operation.needs === 'upload') await failAt(await open(), operation, at, total, once);
        // If no later answer arrives either, the outcome is open.
        const always = {...rule, lasts: true, error: anyCode};
        if (kind === 'lose' && isListed) await failAt(await open(), operation, at, total, always);
      }
      if (operation.needs !== 'deploy' || kind !== 'hold') return;
      const update = {...operation, isUpdate: true};
      const most = await countRequests(await open(), update);
      for (let at = 1; at <= Math.min(most, firstTried + lastTried.writes); at += 1)
        await abortAt(await open(), update, at, most);
    },
  }));
}

/** Tries an operation with secrets that the service refuses itself. */
async function refuse(subject: Subject, operation: TriedOperation): Promise<void> {
  const prepared = await prepare(subject, operation);
  const stranger = withOtherSecrets(subject) ?? notTried('No secret that the backend declares is set.');
  const what = `${operation.name} with other secrets`;
  await expectError(what, operation.run(stranger, prepared), refusalOfSecrets);
  await subject.assertNoLeak();
  if (operation.needs === 'upload') await subject.assertKept(0, what);
  await expectAsTold(subject, operation, prepared, what, false);
}

async function countRequests(subject: Subject, operation: TriedOperation): Promise<number> {
  const {relay} = subject.parts;
  const prepared = await prepare(subject, operation);
  relay.arm();
  await operation.run(subject, prepared);
  return relay.requests;
}

/** How long the list is that an operation adds to, if the backend has it. */
async function lengthBeside(subject: Subject, {needs}: TriedOperation): Promise<number | undefined> {
  const list = grownLists[needs];
  if (!list || !subject.backend[list]) return undefined;
  // Of another process, so that this one remembers nothing for its own call.
  return (await subject.again().list(list, {targetSlug: subject.targetSlug})).length;
}

/** The target that a deployment or promotion is to; undefined of other operations. */
function targetOf({targetSlug, otherTarget}: Subject, {needs}: TriedOperation): string | undefined {
  return needs === 'deploy' ? targetSlug : needs === 'promote' ? otherTarget : undefined;
}

/** Whether a target has a deployment, as far as the backend lists them. */
async function isListedAt(subject: Subject, targetSlug: string): Promise<boolean> {
  await subject.nextInstant();
  const {result} = await outcomeOf(subject.history(targetSlug));
  return !subject.backend.listDeployments || (result?.length ?? 0) > 0;
}

/** Aborts an operation at its request `at`, of the `total` that there are without a fault. */
async function abortAt(subject: Subject, operation: TriedOperation, at: number, total: number): Promise<void> {
  const {relay} = subject.parts;
  // By its last request, a deployment may have been made: what is left is to clean up. Others may just disconnect.
  if ((operation.name === 'deploy' || !relay.isHttp) && at === total && total > 1) return;
  const prepared = await prepare(subject, operation);
  await expectAbort(`${operation.name} at request ${at}`, async (signal, onHeld) => {
    relay.arm({kind: 'hold', at, onHeld});
    await operation.run(subject, prepared, {signal});
    // A call may take fewer requests than were counted.
    if (relay.requests >= at) return;
    onHeld();
    signal.throwIfAborted();
  });
  const wasHeld = relay.requests >= at;
  relay.arm();
  if (!wasHeld) return;
  const after = `an abort of ${operation.name} at request ${at}`;
  if (operation.needs === 'upload') await subject.assertKept(0, after);
  await expectAsTold(subject, operation, prepared, after);
}

async function failAt(subject: Subject, operation: TriedOperation, at: number, total: number, rule: FaultRule) {
  const {kind, lasts = false} = rule;
  const {relay} = subject.parts;
  const allowed = kind === 'lose' && !lasts && !relay.isHttp ? lostOrUnsent : rule.error;
  const prepared = await prepare(subject, operation);
  const before = await lengthBeside(subject, operation);
  const fault = kind === 'lose' ? 'carried out, its answer lost' : kind === 'cut' ? kind : `answered with ${kind}`;
  const what = `${operation.name} (request ${at} ${lasts ? 'and all that follow were' : 'was'} ${fault})`;
  relay.arm({kind, at, lasts});
  const work = operation.run(subject, prepared);
  const {result, error} = await outcomeOf(work);
  const sent = relay.requests;
  relay.arm();

  // What writes may do without some requests. The last one of a deployment may only clean up after it.
  const isListed = operation.needs === 'deploy' && subject.backend.listDeployments !== undefined;
  const mayDoWithout = operation.writes && (kind === 'lose' || at < total || (isListed && total > 1));
  // A call may take fewer requests than were counted. Of another protocol than HTTP, the last one may just disconnect.
  const isNeeded = sent >= at && (relay.isHttp || at < total || total === 1);
  const mayFail = allowed && (kind !== 'lose' || operation.writes);
  const isOpen = error?.code === 'ERR_OUTCOME_UNKNOWN';
  const target = isOpen && at > 1 ? targetOf(subject, operation) : undefined;
  // Once it may be live, a refusal of what follows leaves that open.
  const mayBeLive = target !== undefined && (await isListedAt(subject, target));
  if (mayFail && (error ?? (lasts && isNeeded && !mayDoWithout)))
    await expectError(what, work, mayBeLive ? anyCode : allowed);
  else await work;

  await subject.assertNoLeak();
  if (operation.needs === 'upload') {
    if (!error) await subject.assertArrived(prepared.bundle, (result as {readonly bundleId: BundleId}).bundleId, what);
    await subject.assertKept(error && !lasts && kind !== 'lose' ? 0 : 1, what);
  }
  await expectAsTold(subject, operation, prepared, what, error ? (isOpen ? undefined : false) : true);
  // What is not an upload may have been made in part.
  const mayGrow = error && !isOpen && operation.needs === 'upload' ? [0] : error ? [0, 1] : [1];
  const grown = async () => ((await lengthBeside(subject, operation)) ?? 0) - (before ?? 0);
  if (before !== undefined) await subject.becomes(`how many items more are listed after ${what}`, mayGrow, grown);
  if (kind === 429 && lasts) {
    const most = total * (1 + fastRetries.maxRetries);
    const advice = 'Stop when context.waitToRetry() returns false.';
    assert.ok(sent <= most, `Expected ${what} to send ${most} requests at most. It sent ${sent}. ${advice}`);
  }
}

/** Asserts that lists agree with what came of an operation. `isDone`: whether it was; undefined if that is open. */
async function expectAsTold(subject: Subject, operation: TriedOperation, on: Prepared, what: string, isDone?: boolean) {
  const {needs} = operation;
  const {bundle, bundleId, earlier} = on;
  const targetSlug = targetOf(subject, operation);
  if (targetSlug !== undefined) await expectDeployed(subject, bundleId, targetSlug, what, isDone, earlier);
  if (needs === 'deleteBundle') {
    if (isDone !== true) await outcomeOf(subject.call(needs, {bundleId}));
    await subject.assertGone(bundle, bundleId, isDone === true ? what : `a deletion that follows ${what}`);
  }
}
