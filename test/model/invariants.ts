import {inspect} from 'node:util';
import {isRuntimeCliError, type RuntimeCliError} from '../../src/index.js';
import type {Run} from './run.js';
import {lostWrites, type Seen} from './service.js';
import {isWrite} from './wire.js';
import type {StoredDeployment} from './store.js';

/** A definite rejection of an upload before it was executed; nothing else makes `auto` go to legacy. */
const fallsBackOn = [400, 401, 403, 404, 405, 406, 415];
/** What a run has done to the services. */
interface Outcome {
  readonly bundles: readonly Seen[];
  readonly deployments: readonly StoredDeployment[];
  readonly lost: readonly Seen[];
  /** What the target ran before; when the call ended, unless a deployment had not; and once all of them have. */
  readonly before: number | undefined;
  readonly atEnd: number | undefined;
  readonly after: number | undefined;
}

/** The promises that a run broke, in words; none if all is well. */
export function violations(run: Run, archive: Buffer): readonly string[] {
  const outcome = outcomeOf(run);
  return [
    ...(run.ended === 'hung'
      ? ['it did not end']
      : run.ended === 'done'
        ? successProblems(run, outcome, archive)
        : errorProblems(run, outcome)),
    ...countProblems(run, outcome),
    ...fallbackProblems(run),
    ...speechProblems(run),
    ...eventProblems(run),
    ...run.said.filter((one) => typeof one === 'string'),
  ];
}

function outcomeOf({operation, service}: Run): Outcome {
  const {target} = operation;
  const {seen, api, legacy} = service;
  const deployments = seen.flatMap(({deployment}) => deployment ?? []);
  const store = seen.some((one) => one.deployment && one.service === 'legacy') ? legacy : api;
  const before = store.firstBundles[3];
  const ended = deployments.every(({status}) => status === 'finished' || status === 'failed');
  const atEnd = target === undefined || !ended ? undefined : store.running(target);
  api.settle();
  legacy.settle();
  const after = target === undefined ? undefined : store.running(target);
  return {
    bundles: seen.filter(({bundle}) => bundle !== undefined),
    deployments,
    lost: lostWrites(service),
    before,
    atEnd,
    after,
  };
}

function successProblems(run: Run, {bundles, deployments, atEnd}: Outcome, archive: Buffer): readonly string[] {
  const {operation, service, left} = run;
  const {kind, target, waits} = operation;
  const {bundleId, deployed} = (run.result ?? {}) as {readonly bundleId?: unknown; readonly deployed?: unknown};
  const problems: string[] = [];
  const claim = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  const isChecked = service.seen.some(({name, fault}) => name === 'site' && fault);
  claim((operation.ends ?? 0) === 0 || isChecked, 'it succeeded, and should not have');
  if (kind === 'push') {
    claim(
      bundles.at(-1)?.bundle === bundleId,
      `it says bundle ${String(bundleId)}, the service has ${bundles.map(({bundle}) => bundle).join()}`,
    );
    if (operation.target !== undefined) claim(deployed === true, 'it does not say that it deployed');
  }
  if (target !== undefined) {
    claim(deployments.length === 1 && deployments[0]?.bundle === bundleId, 'the bundle was not deployed once');
    claim(deployments[0]?.target === target, 'another target was deployed to');
    if (waits) claim(atEnd === bundleId, `it succeeded, and ${target} runs ${String(atEnd)}`);
  }
  if (kind === 'delete')
    claim(!service.legacy.bundles.has(41) && !service.legacy.bundles.has(42), 'a bundle was not deleted');
  if (operation.output) claim(run.archive.equals(archive), 'what was downloaded is not the archive');
  claim(left.join() === (operation.output ?? []).join(), `it left ${left.join()}`);
  if (operation.name === 'look at everything')
    problems.push(
      ...lookProblems(
        run.result,
        service.seen.some(({fault}) => fault),
      ),
    );
  return problems;
}

function lookProblems(result: unknown, isFaulty: boolean): readonly string[] {
  const {bundles, status, diff} = result as {
    readonly bundles: readonly {readonly bundles: readonly {readonly bundleId: unknown}[]}[];
    readonly status: {
      readonly targets: readonly {readonly targetSlug: string; readonly live?: {readonly bundleId?: unknown}}[];
    };
    readonly diff: {readonly after: {readonly bundleId?: unknown}};
  };
  const said = JSON.stringify([
    bundles.map((list) => list.bundles.map(({bundleId}) => bundleId)),
    status.targets.map(({targetSlug, live}) => [targetSlug, live?.bundleId]),
    diff.after.bundleId,
  ]);
  const truth = JSON.stringify([
    [
      [705, 704, 703],
      [45, 44, 43, 42, 41],
    ],
    [
      ['staging', 44],
      ['production', 43],
    ],
    44,
  ]);
  // What the server does not tell is not told, but nothing is told that is wrong.
  return said === truth ||
    (isFaulty && truth.replace(/("(?:staging|production)",)\d+/, '$1null') === said) ||
    (isFaulty && truth.replace(/("production",)\d+/, '$1null') === said)
    ? []
    : [`it says ${said}, the truth is ${truth}`];
}

function errorProblems(run: Run, outcome: Outcome): readonly string[] {
  const {error, operation, service, aborted, left} = run;
  const problems: string[] = left.every((name) => /\.part(?:\.json)?$/.test(name)) ? [] : [`it left ${left.join()}`];
  const claim = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  if (aborted !== undefined && !isRuntimeCliError(aborted)) {
    claim(error === aborted, `it rejected with ${inspect(error)} instead of the reason`);
    return problems;
  }
  if (!isRuntimeCliError(error)) return [...problems, `it rejected with ${inspect(error)}`];
  const {code, exitCode, message} = error;
  const text = [message, ...error.suggestions].join(' ');
  const {lost, before, atEnd, after} = outcome;
  claim(code !== 'ERR_UNEXPECTED', `an unexpected error: ${inspect(error)}`);
  const isSound = service.seen.every(
    ({fault, name}) => !fault || fault.ends[0] === 0 || (fault.retried && !isWrite(name) && name !== 'site'),
  );
  claim(
    !isSound || exitCode === operation.ends || aborted !== undefined,
    `what went wrong is no harm, and it ended with ${code}: ${message}`,
  );
  if (lost.length > 0 && aborted === undefined) {
    claim(
      ![3, 4, 5, 6].includes(exitCode),
      `it ended with ${exitCode}, and ${lost.map(({line}) => line).join()} was carried out`,
    );
    if (exitCode === 7) claim(/check|may have/i.test(text), `it does not say that it may have been done: ${text}`);
  }
  const faulty = service.seen.filter(({fault}) => fault);
  const [one] = faulty;
  if (faulty.length === 1 && one?.fault && aborted === undefined && operation.ends === undefined) {
    const [read, write] = one.fault.ends;
    const codes = isWrite(one.name) ? [write, ...(one.fault.effect ? [] : [6])] : [read];
    if (isWrite(one.name) || operation.kind === 'read')
      claim(codes.includes(exitCode), `it ended with ${exitCode} instead of ${codes.join(' or ')}: ${text}`);
  }
  if (exitCode === 12) claim(atEnd === before, `it says that it was rolled back, and the target runs ${String(atEnd)}`);
  if (exitCode === 14)
    claim(
      outcome.deployments.length < 2 || after !== before || /may|unknown/i.test(text),
      `it says that it was not rolled back, and it was: ${text}`,
    );
  const uploaded = service.seen.findLast(({name}) => name === 'upload');
  const acknowledged = uploaded?.answered ? uploaded.bundle : undefined;
  if (acknowledged !== undefined && !isTwice(operation))
    claim(
      error.details?.['bundleId'] === acknowledged,
      `the error after the upload of ${acknowledged} does not name it: ${inspect(error.details)}`,
    );
  problems.push(...deletionProblems(run, error));
  return problems;
}

/** Nothing is said not to be deleted that may be gone. */
function deletionProblems({service, operation}: Run, {message}: RuntimeCliError): readonly string[] {
  if (operation.kind !== 'delete') return [];
  return [41, 42].flatMap((id) => {
    const isThere = service.legacy.bundles.has(id);
    const saysKept = message.includes(`Bundle ${id} was not deleted`);
    const saysGone = new RegExp(String.raw`Deleted: [\d, ]*${id}`).test(message);
    return (saysKept && !isThere) || (saysGone && isThere)
      ? [`bundle ${id} is ${isThere ? 'there' : 'gone'}: ${message}`]
      : [];
  });
}

/** Two pushes, the second one only if something has changed. */
const isTwice = ({name}: Run['operation']) => name === 'push twice, if changed';

/** Nothing is done twice, and nothing that was not asked for. */
function countProblems({operation, service}: Run, {bundles, deployments}: Outcome): readonly string[] {
  const {kind, target, ends} = operation;
  const {api, legacy, seen} = service;
  const most = kind !== 'push' ? 0 : isTwice(operation) ? 2 : 1;
  const mostDeployments = target === undefined ? 0 : ends === 12 ? 2 : 1;
  const missing = [...api.firstBundles, ...legacy.firstBundles].filter(
    (id) => !api.bundles.has(id) && !legacy.bundles.has(id),
  );
  const allowed = kind === 'delete' ? [41, 42] : [];
  return [
    ...(bundles.length > most ? [`${bundles.length} bundles were uploaded`] : []),
    ...(deployments.length > mostDeployments ? [`${deployments.length} deployments were made`] : []),
    ...missing.filter((id) => !allowed.includes(id)).map((id) => `bundle ${id} was deleted`),
    ...seen.filter(({name}) => name === 'other').map(({line}) => `nobody serves ${line}`),
    ...seen
      .filter(({name, authorization}) => (name === 'archive' || name === 'site') && authorization !== '')
      .map(({line}) => `credentials were sent with ${line}`),
  ];
}

/** After something may have been done by Api, legacy is not asked for it. */
function fallbackProblems({service: {seen}}: Run): readonly string[] {
  return seen.flatMap(({name, service, fault}, index) => {
    if (service !== 'api' || (name !== 'upload' && name !== 'deploy')) return [];
    const isRefused = fault?.status !== undefined && fallsBackOn.includes(fault.status) && !fault.effect;
    const later = seen.slice(index + 1).find((other) => other.service === 'legacy' && other.name === 'upload');
    return later && !isRefused ? [`after ${fault?.name ?? 'a success'} it fell back: ${later.line}`] : [];
  });
}

/** No secret, and nothing that a terminal obeys, in anything that was said. */
function speechProblems({error, events, said}: Run): readonly string[] {
  const stack = error instanceof Error ? error.stack : '';
  const all = `${inspect(error, {depth: Infinity, showHidden: true})}${String(stack)}${JSON.stringify([error, events, said])}`;
  const shown = isRuntimeCliError(error) ? [error.message, ...error.suggestions] : [];
  const control = [...shown, ...textsOf(events.filter(({type}) => type !== 'outcome'))].find((text) =>
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(text),
  );
  return [
    ...(all.includes('canary-') ? [`a secret is told: ${/.{0,60}canary-.{0,20}/.exec(all)?.[0] ?? ''}`] : []),
    ...(control === undefined ? [] : [`control characters are shown: ${JSON.stringify(control)}`]),
  ];
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** The events tell the same as the call, without a gap. */
function eventProblems({events, ended, error, operation}: Run): readonly string[] {
  if (ended === 'hung' || isTwice(operation) || operation.kind === 'read') return [];
  const last = events.at(-1);
  const status = last?.type === 'outcome' ? last.status : 'none';
  const code = last?.type === 'outcome' && last.status !== 'success' ? last.error.code : undefined;
  return [
    ...(events.every(({sequence}, index) => sequence === index + 1) ? [] : ['events are missing']),
    ...((status === 'success') === (ended === 'done') ? [] : [`the last event is ${status}`]),
    ...(isRuntimeCliError(error) && code !== error.code
      ? [`the last event has ${String(code)}, the error ${error.code}`]
      : []),
  ];
}
