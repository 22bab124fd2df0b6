import {inspect} from 'node:util';
import {isRuntimeCliError, type RuntimeCliError} from '../../src/index.js';
import type {Fault} from './faults.js';
import type {Operation} from './operations.js';
import type {Run} from './run.js';
import type {Seen} from './service.js';
import type {StoredDeployment} from './store.js';
import {isWrite} from './wire.js';

/** A definite rejection of an upload before it was executed; nothing else makes `auto` go to legacy. */
const fallsBackOn = [400, 401, 403, 404, 405, 406, 415];

/** A promise that was broken, in words, or none. */
type Problem = string | false | undefined;

/** What a run has done to the services. */
interface Effects {
  readonly bundles: readonly Seen[];
  readonly deployments: readonly StoredDeployment[];
  /** Writes that were carried out while their answer went astray. */
  readonly lost: readonly Seen[];
  /** What the target ran before, and when the call ended, unless a deployment had not. */
  readonly before: number | undefined;
  readonly atEnd: number | undefined;
  /** What it runs once all deployments have ended. */
  readonly after: number | undefined;
}

/** The promises that a run broke; none if all is well. */
export function violations(run: Run, archive: Buffer): readonly string[] {
  const effects = effectsOf(run);
  const problems: readonly Problem[] = [
    run.ended === 'hung' && 'it did not end',
    ...(run.ended === 'done' ? successProblems(run, effects, archive) : []),
    ...(run.ended === 'failed' ? errorProblems(run, effects) : []),
    ...countProblems(run, effects),
    ...repeatProblems(run),
    ...fallbackProblems(run),
    ...speechProblems(run),
    ...eventProblems(run),
    ...run.strays,
  ];
  return problems.filter((problem) => typeof problem === 'string');
}

function effectsOf({operation: {target}, service: {seen, api, legacy}}: Run): Effects {
  const deployments = seen.flatMap(({deployment}) => deployment ?? []);
  const store = seen.some((one) => one.deployment && one.service === 'legacy') ? legacy : api;
  const running = () => (target === undefined ? undefined : store.running(target));
  const haveEnded = deployments.every(({status}) => status === 'finished' || status === 'failed');
  const atEnd = haveEnded ? running() : undefined;
  api.settle();
  legacy.settle();
  return {
    bundles: seen.filter(({bundle}) => bundle !== undefined),
    deployments,
    lost: seen.filter(
      (one) => !one.answered && [one.bundle, one.deployment, one.deleted, one.target, one.variables].some(Boolean),
    ),
    before: store.firstBundles[3],
    atEnd,
    after: running(),
  };
}

function successProblems(run: Run, {bundles, deployments, atEnd}: Effects, archive: Buffer): readonly Problem[] {
  const {operation, service, left, downloaded} = run;
  const {kind, target, waits, bundle, ends = 0, output = []} = operation;
  const {bundleId, deployed} = (run.result ?? {}) as {readonly bundleId?: unknown; readonly deployed?: unknown};
  const [deployment, second] = deployments;
  const kept = [41, 42].filter((id) => service.legacy.bundles.has(id));
  const isChecked = service.seen.some(({name, fault}) => name === 'site' && fault);
  return [
    ends !== 0 && !isChecked && 'it succeeded, and should not have',
    kind === 'push' &&
      bundles.at(-1)?.bundle !== bundleId &&
      `it says bundle ${String(bundleId)}, the service has ${bundles.map(({bundle}) => bundle).join()}`,
    kind === 'push' && target !== undefined && deployed !== true && 'it does not say that it deployed',
    target !== undefined &&
      (second !== undefined || deployment?.bundle !== bundleId || deployment?.target !== target) &&
      'the bundle was not deployed once, to the target',
    waits && atEnd !== bundleId && `it succeeded, and the target runs ${String(atEnd)}`,
    bundle !== undefined &&
      ![service.api, service.legacy].some(({firstBundles}) => firstBundles[bundle - 1] === bundleId) &&
      `it deployed ${String(bundleId)}, and not what the source runs or the target ran before`,
    kind === 'target' && !service.seen.some((one) => one.target ?? one.variables) && 'nothing was done',
    kind === 'delete' && kept.length > 0 && `not deleted: ${kept.join()}`,
    downloaded !== undefined && !downloaded.equals(archive) && 'what was downloaded is not the archive',
    left.join() !== output.join() && `it left ${left.join()}`,
    operation.name === 'look at everything' && lookProblem(run),
  ];
}

/** What the service does not tell may be missing, but nothing is told that is wrong. */
function lookProblem({result, service}: Run): Problem {
  const {bundles, status, diff} = result as {
    readonly bundles: readonly {readonly bundles: readonly {readonly bundleId: unknown}[]}[];
    readonly status: {
      readonly targets: readonly {readonly targetSlug: string; readonly live?: {readonly bundleId?: unknown}}[];
    };
    readonly diff: {readonly after: {readonly bundleId?: unknown}};
  };
  const lists = bundles.map((list) => list.bundles.map(({bundleId}) => bundleId).join());
  const live = status.targets.map(({targetSlug, live: now}) => `${targetSlug} ${String(now?.bundleId)}`);
  const said = [...lists, ...live, diff.after.bundleId].join('; ');
  const isFaulty = service.seen.some(({fault}) => fault);
  const [staging, production] = isFaulty ? ['(?:44|undefined)', '(?:43|undefined)'] : ['44', '43'];
  const truth = `^705,704,703; 45,44,43,42,41; staging ${staging}; production ${production}; 44$`;
  return !new RegExp(truth).test(said) && `it says ${said}, the truth is ${truth}`;
}

function errorProblems(run: Run, effects: Effects): readonly Problem[] {
  const {error, operation, service, aborted, left} = run;
  const files = !left.every((name) => /\.part(?:\.json)?$/.test(name)) && `it left ${left.join()}`;
  if (aborted !== undefined && !isRuntimeCliError(aborted)) {
    // An abort after the last request changes nothing. The error says what was done, or accepted, before an abort.
    const isTold =
      isRuntimeCliError(error) &&
      (error.code === 'ERR_ROLLED_BACK' || (error.code === 'ERR_INTERRUPTED' && error.cause === aborted));
    return [files, error !== aborted && !isTold && `it rejected with ${inspect(error)} instead of the reason`];
  }
  if (!isRuntimeCliError(error)) return [files, `it rejected with ${inspect(error)}`];
  const {code, exitCode, message, details = {}} = error;
  const text = [message, ...error.suggestions].join(' ');
  const {deployments, before, atEnd, after} = effects;
  const isTold = ({deleted, deployment, target}: Seen) =>
    (deleted !== undefined && saysDeleted(message, deleted)) ||
    (deployment !== undefined && 'deployment' in details) ||
    (target !== undefined && message.includes(`The service continues with target ${target}`));
  const lost = effects.lost.filter((one) => !isTold(one));
  const isHarmless = service.seen.every(
    ({fault, name}) =>
      !fault ||
      fault.ends[0] === 0 ||
      (fault.retried && !isWrite(name) && name !== 'site') ||
      (name === 'deployment' && isLostPoll(fault)),
  );
  const uploaded = service.seen.findLast(({name}) => name === 'upload');
  const acknowledged = uploaded?.answered ? uploaded.bundle : undefined;
  return [
    files,
    code === 'ERR_UNEXPECTED' && `an unexpected error: ${inspect(error)}`,
    ...(aborted === undefined
      ? [
          isHarmless && exitCode !== operation.ends && `it ended with ${code} for what is no harm: ${text}`,
          lost.length > 0 &&
            [3, 4, 5, 6].includes(exitCode) &&
            `it ended with ${exitCode}, and ${lost.map(({line}) => line).join()} was carried out`,
          lost.length > 0 &&
            exitCode === 7 &&
            !/check|may have/i.test(text) &&
            `it does not say that it may have been done: ${text}`,
          codeProblem(run, error),
        ]
      : []),
    exitCode === 12 && atEnd !== before && `it says that it was rolled back, and the target runs ${String(atEnd)}`,
    exitCode === 14 &&
      deployments.length > 1 &&
      after === before &&
      !/may|unknown/i.test(text) &&
      `it says that it was not rolled back, and it was: ${text}`,
    acknowledged !== undefined &&
      !isTwice(run) &&
      error.details?.['bundleId'] !== acknowledged &&
      `the error after the upload of ${acknowledged} does not name it: ${inspect(error.details)}`,
    ...deletionProblems(run, message),
  ];
}

/** A poll that tells nothing of the deployment is repeated, unless the service refused it for good. */
const isLostPoll = ({status}: Fault) => status === undefined || status === 404 || status === 408;

/** A single fault ends a write, or an operation that only reads, with the exit code that the table has. */
function codeProblem({service, operation}: Run, {exitCode, message}: RuntimeCliError): Problem {
  const [one, another] = service.seen.filter(({fault}) => fault);
  if (one?.fault === undefined || another !== undefined || operation.ends !== undefined) return undefined;
  if (!isWrite(one.name) && operation.kind !== 'read') return undefined;
  const [read, write] = one.fault.ends;
  // Not carried out, it may not have been sent whole.
  const codes = isWrite(one.name)
    ? [
        write,
        ...(one.fault.effect ? [] : [6]),
        ...(one.fault.when === 'stop' ? [7] : []),
        ...ofTargets(operation, one.fault),
      ]
    : [read];
  return !codes.includes(exitCode) && `it ended with ${exitCode} instead of ${codes.join(' or ')}: ${message}`;
}

/** Exit codes of writes about targets: a service may lack them, and what follows a 204 is no HTTP, so no answer. */
function ofTargets({kind}: Operation, {status, effect}: Fault): readonly number[] {
  if (kind !== 'target') return [];
  return [...(status === 404 || status === 405 ? [3] : []), ...(effect ? [10] : [])];
}

const saysDeleted = (message: string, id: number) => new RegExp(String.raw`Deleted: [\d, ]*${id}`).test(message);

/** Nothing is said not to be deleted that may be gone. */
function deletionProblems({service, operation}: Run, message: string): readonly Problem[] {
  if (operation.kind !== 'delete') return [];
  return [41, 42].map((id) => {
    const isThere = service.legacy.bundles.has(id);
    const saysKept = message.includes(`Bundle ${id} was not deleted`);
    const isWrong = (saysKept && !isThere) || (saysDeleted(message, id) && isThere);
    return isWrong && `bundle ${id} is ${isThere ? 'there' : 'gone'}: ${message}`;
  });
}

/** Two pushes, the second one only if something has changed. */
const isTwice = ({operation: {name}}: Run) => name === 'push twice, if changed';

/** Nothing is done twice, and nothing that was not asked for. */
function countProblems(run: Run, {bundles, deployments}: Effects): readonly Problem[] {
  const {kind, target, ends} = run.operation;
  const {api, legacy, seen} = run.service;
  const mostBundles = kind !== 'push' ? 0 : isTwice(run) ? 2 : 1;
  const mostDeployments = target === undefined ? 0 : ends === 12 ? 2 : 1;
  const deletable = kind === 'delete' ? [41, 42] : [];
  const gone = [api, legacy].flatMap((store) => store.firstBundles.filter((id) => !store.bundles.has(id)));
  return [
    bundles.length > mostBundles && `${bundles.length} bundles were uploaded`,
    deployments.length > mostDeployments && `${deployments.length} deployments were made`,
    seen.filter(({name, target: made}) => name === 'create-target' && made).length > 1 && 'a target was made twice',
    ...gone.map((id) => !deletable.includes(id) && `bundle ${id} was deleted`),
    ...seen.map(({name, line}) => name === 'other' && `nobody serves ${line}`),
    ...seen.map(
      ({name, authorization, line}) =>
        (name === 'archive' || name === 'site') && authorization !== '' && `credentials were sent with ${line}`,
    ),
  ];
}

/** An upload is only sent again if the service cannot have had all of it, or said that it did nothing. */
function repeatProblems(run: Run): readonly Problem[] {
  const uploads = run.service.seen.filter(({name}) => name === 'upload');
  return uploads.map(({fault, service}, index) => {
    const isSafe =
      fault?.status === 429 || fault?.status === 401 || ['head', 'half', 'stop'].includes(fault?.when ?? '');
    const isRepeated = uploads.slice(index + 1).some((later) => later.service === service);
    return !isTwice(run) && isRepeated && !isSafe && `after ${fault?.name ?? 'a success'}, the upload was sent again`;
  });
}

/** After something may have been done by Api, legacy is not asked for it. */
function fallbackProblems({service: {seen}}: Run): readonly Problem[] {
  return seen.map(({name, service, fault}, index) => {
    if (service !== 'api' || (name !== 'upload' && name !== 'deploy')) return undefined;
    const isService = fault?.ends[1] !== 6;
    const isRefused = isService && fault?.status !== undefined && fallsBackOn.includes(fault.status) && !fault.effect;
    const later = seen.slice(index + 1).find((other) => other.service === 'legacy' && other.name === 'upload');
    return later && !isRefused && `after ${fault?.name ?? 'a success'} it fell back: ${later.line}`;
  });
}

/** No secret, and nothing that a terminal obeys, in anything that was said. */
function speechProblems({error, events}: Run): readonly Problem[] {
  const stack = error instanceof Error ? error.stack : '';
  const inspected = inspect(error, {depth: Infinity, showHidden: true});
  const said = [inspected, stack, JSON.stringify([error, events])].join();
  const secret = said.includes('canary-') ? /.{0,60}canary-.{0,20}/.exec(said) : null;
  const shown = isRuntimeCliError(error) ? [error.message, ...error.suggestions] : [];
  const control = [...shown, ...textsOf(events.filter(({type}) => type !== 'outcome'))].find((text) =>
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(text),
  );
  return [
    secret !== null && `a secret is told: ${secret[0]}`,
    control !== undefined && `control characters are shown: ${JSON.stringify(control)}`,
  ];
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** The events tell the same as the call, without a gap. */
function eventProblems(run: Run): readonly Problem[] {
  const {events, ended, error, operation} = run;
  if (ended === 'hung' || isTwice(run) || operation.kind === 'read') return [];
  const last = events.at(-1);
  const status = last?.type === 'outcome' ? last.status : 'none';
  const code = last?.type === 'outcome' && last.status !== 'success' ? last.error.code : undefined;
  return [
    !events.every(({sequence}, index) => sequence === index + 1) && 'events are missing',
    (status === 'success') !== (ended === 'done') && `the last event is ${status}`,
    isRuntimeCliError(error) && code !== error.code && `the last event has ${String(code)}, the error ${error.code}`,
  ];
}
