import {setTimeout as sleep} from 'node:timers/promises';
import type {BundleId, DeployResult, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {amendError, createError, isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../../errors/index.js';
import {asClause, asSentence} from '../../errors/sentence.js';
import {placeFlags} from '../../errors/suggest.js';
import type {RetryEvent} from '../../http/types.js';
import {readHistory} from '../list.js';
import {openBackend, signalOf, type OpenBackend} from '../open-backend.js';
import type {CommonOptions, ConnectionOptions, RollbackOnFailureOptions, WaitOptions} from '../options.js';
import type {Host} from '../host.js';
import {bundleBefore, cameBetween} from './history-changes.js';
import {requestDeploy, type DeploymentWatch} from './request-deploy.js';
import {waitForDeployment} from './wait-for-deployment.js';

/** How a failed deployment was rolled back, or why not: `details.rollback` of the error. */
export interface RollbackOutcome {
  /** Whether the target is known to run again what it ran before. */
  readonly rolledBack: boolean;
  /** The bundle that ran before, if it is known. */
  readonly bundleId?: BundleId | undefined;
  /** The deployment that rolled back, if one was accepted. */
  readonly deployment?: DeploymentRef | undefined;
  /** Why it was not rolled back. */
  readonly reason?: string | undefined;
}

/** What rolling back needs of the operation that failed. */
interface WatchOptions extends CommonOptions, ConnectionOptions, WaitOptions, RollbackOnFailureOptions {
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
}

/** What a target ran before a deployment, and that deployment. */
export interface RollbackWatch extends DeploymentWatch {
  /** The target's deployments before ours, newest first, and where they were read. */
  readonly before: {readonly open: OpenBackend; readonly items: readonly DeploymentItem[]} | undefined;
  readonly ours: {readonly bundleId: BundleId; readonly deployment: DeploymentRef} | undefined;
}

/** Follows a deployment to be able to roll it back. Undefined unless that was asked for. */
export function watchForRollback({rollbackOnFailure, targetSlug}: WatchOptions): RollbackWatch | undefined {
  if (!rollbackOnFailure || targetSlug === undefined) return undefined;
  let before: RollbackWatch['before'];
  let ours: RollbackWatch['ours'];
  return {
    get before() {
      return before;
    },
    get ours() {
      return ours;
    },
    async look(open) {
      before = {open, items: await readBefore(open, targetSlug)};
    },
    note(accepted) {
      ours = accepted;
    },
  };
}

/** @throws RuntimeCliError when it cannot be read: then nothing must be deployed that could not be rolled back. */
async function readBefore(open: OpenBackend, targetSlug: string): Promise<readonly DeploymentItem[]> {
  try {
    return await readHistory(open, targetSlug);
  } catch (error) {
    if (open.context.signal.aborted || !isRuntimeCliError(error)) throw error;
    // The first deployment creates the target.
    if (error.status === 404) return [];
    throw amendError(error, {
      message: `What ${targetSlug} runs cannot be read, so a deployment could not be rolled back: ${error.message}`,
      suggestions: ['Nothing was deployed. To deploy anyway, remove --rollback-on-failure.'],
    });
  }
}

/** A deployment that failed, and what its target ran before. */
interface FailedDeployment {
  readonly options: WatchOptions;
  readonly host: Host;
  readonly failure: RuntimeCliError;
  readonly before: NonNullable<RollbackWatch['before']>;
  readonly ours: NonNullable<RollbackWatch['ours']>;
  readonly targetSlug: string;
}

/** The deployment to roll back after a failure of it or of a check. Undefined if there is nothing to roll back. */
export function failedDeployment(
  failure: unknown,
  watch: RollbackWatch | undefined,
  options: WatchOptions,
  host: Host,
): FailedDeployment | undefined {
  const {before, ours} = watch ?? {};
  if (before === undefined || ours === undefined || !isRuntimeCliError(failure)) return undefined;
  if (failure.code !== 'ERR_DEPLOYMENT_FAILED' && failure.code !== 'ERR_UNHEALTHY') return undefined;
  return {options, host, failure, before, ours, targetSlug: options.targetSlug ?? ''};
}

/** Says of a deployment that may still finish that it was not rolled back, if that was asked for. */
export function explainUnfinished(error: unknown, {before, ours}: Partial<RollbackWatch> = {}): unknown {
  if (before === undefined || ours === undefined || !isRuntimeCliError(error)) return error;
  if (error.code !== 'ERR_WAIT_TIMEOUT' && error.code !== 'ERR_OUTCOME_UNKNOWN') return error;
  return amendError(error, {message: `${error.message} It was not rolled back, because it may still finish.`});
}

/**
 * Deploys what ran before. Resolves to that bundle, and to the error of a deployment that was rolled
 * back.
 * @throws RuntimeCliError `ERR_NOT_ROLLED_BACK`; `signal.reason` when aborted.
 */
export async function rollBack(
  failed: FailedDeployment,
): Promise<{readonly bundleId: BundleId; readonly error: Error}> {
  const {options, host, failure, before, ours, targetSlug} = failed;
  const {projectSlug} = options;
  host.writes?.conclude({error: failure});
  const found = bundleBefore(before.items, ours.bundleId, targetSlug);
  if (found.bundleId === undefined) throw notRolledBack(failed, {rolledBack: false, reason: found.reason});
  const {bundleId} = found;
  let outcome: RollbackOutcome = {rolledBack: false, bundleId};
  let isRequested = false;
  try {
    const shown = {...options, targetSlug};
    const backend = before.open.backend.name;
    const open = await openBackend(backend, {...shown, wait: true}, host);
    await host.writes?.before({operation: 'rollback', backend, projectSlug, targetSlug, bundleIds: [bundleId]});
    const verify = async () => {
      const came = cameBetween(before.items, await readHistory(open, targetSlug), ours);
      if (came !== undefined) throw notRolledBack(failed, {...outcome, reason: came});
      isRequested = true;
    };
    const request = {...shown, backend, bundleId, targetSlug};
    const {deployment, status} = await requestAfter(verify, request, host);
    outcome = {...outcome, deployment};
    host.writes?.learn({deployment, status});
    const state = await waitForDeployment({...shown, backend, deployment}, host);
    host.writes?.learn({status: state.status});
  } catch (error) {
    if (signalOf(options).aborted) throw interrupted(error, failed, outcome, isRequested);
    host.writes?.conclude({error});
    if (!isRuntimeCliError(error) || error.code === 'ERR_NOT_ROLLED_BACK') throw error;
    throw notRolledBack(failed, {...outcome, reason: error.message}, error, isRequested);
  }
  host.writes?.conclude({});
  const rollback: RollbackOutcome = {...outcome, rolledBack: true};
  const error = createError(
    'ERR_ROLLED_BACK',
    `${asSentence(failure.message)} The target ${targetSlug} was rolled back and runs bundle ${String(bundleId)} again.`,
    {suggestions: failure.advice, details: detailsOf(failed, rollback), cause: failure},
  );
  return {bundleId, error};
}

/** Requests a deployment. Calls `verify` before it and after each wait for a retry: others may deploy meanwhile. */
async function requestAfter(
  verify: () => Promise<void>,
  request: WatchOptions & {readonly backend: string; readonly bundleId: BundleId; readonly targetSlug: string},
  host: Host,
): Promise<DeployResult> {
  const {backend, bundleId, targetSlug} = request;
  const given = signalOf(request);
  let most = Infinity;
  for (let retries = 0; ; retries += 1) {
    await verify();
    const stop = new AbortController();
    const waits: RetryEvent[] = [];
    const once = {
      ...request,
      rateLimit: {...request.rateLimit, ...(retries >= most && {maxRetries: 0})},
      signal: AbortSignal.any([given, stop.signal]),
      // What is to be retried was refused or never sent, so nothing is lost.
      onRetry(event: RetryEvent) {
        waits.push(event);
        stop.abort();
      },
    };
    try {
      const open = await openBackend(backend, {...once, wait: true}, host);
      return await requestDeploy(open, {bundleId, targetSlug}, {...once, waitForSlot: false});
    } catch (error) {
      const [event] = waits;
      if (event === undefined || given.aborted) throw error;
      most = event.maxRetries;
      request.onRetry?.({...event, attempt: retries + 1});
      await sleep(event.delayMs, undefined, {signal: given}).catch(() => {
        given.throwIfAborted();
      });
    }
  }
}

/** What failed, where, and what came of the rollback. */
function detailsOf({failure, ours, before, options, targetSlug}: FailedDeployment, rollback: RollbackOutcome) {
  const {code, message, details} = failure;
  const {projectSlug} = options;
  const what = {backend: before.open.backend.name, ...ours, projectSlug, targetSlug};
  return {...what, ...details, failure: {code, message}, rollback};
}

/** After these, a request to roll back may have been carried out. */
const unclearCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_OUTCOME_UNKNOWN',
  'ERR_WAIT_TIMEOUT',
  'ERR_SERVER',
  'ERR_RESPONSE_INVALID',
]);

function notRolledBack(
  failed: FailedDeployment,
  rollback: RollbackOutcome,
  cause: RuntimeCliError = failed.failure,
  isRequested = false,
): Error {
  const {failure, options, host, before, targetSlug} = failed;
  const {bundleId, reason = ''} = rollback;
  const {projectSlug} = options;
  const place = placeFlags({projectSlug, targetSlug, backend: before.open.backend.name}, host.commandFlags);
  const isUnclear =
    rollback.deployment === undefined
      ? isRequested && unclearCodes.has(cause.code)
      : cause.code !== 'ERR_DEPLOYMENT_FAILED';
  const started = rollback.deployment === undefined ? 'may have started' : 'was accepted and may still finish';
  const state = isUnclear ? `Its rollback to bundle ${String(bundleId)} ${started}` : 'It was not rolled back';
  const message = `${asSentence(failure.message)} ${state}: ${asClause(reason)}.`;
  return createError('ERR_NOT_ROLLED_BACK', message, {
    suggestions: [
      ...failure.advice,
      [`Check what ${targetSlug} runs: `, {run: ['bundle:history', ...place]}],
      // Where another deployment came after it, that is not ours to undo.
      ...(bundleId === undefined || cause === failure || isUnclear
        ? []
        : [['To roll back, run: ', {run: ['bundle:deploy', bundleId, ...place]}] as const]),
    ],
    details: detailsOf(failed, rollback),
    cause,
  });
}

/** The error for an interrupted rollback: what state it is in. A caller's own reason is passed on unchanged. */
function interrupted(
  error: unknown,
  failed: FailedDeployment,
  rollback: RollbackOutcome,
  isRequested: boolean,
): unknown {
  const {failure, options} = failed;
  const reason: unknown = signalOf(options).reason;
  if (!isRuntimeCliError(reason)) return error;
  const to = `Its rollback to bundle ${String(rollback.bundleId)}`;
  const state =
    rollback.deployment !== undefined
      ? `${to} continues.`
      : isRequested
        ? `${to} may have started.`
        : 'It was not rolled back.';
  return amendError(reason, {
    message: `${reason.message} ${asSentence(failure.message)} ${state}`,
    suggestions: failure.advice,
    details: detailsOf(failed, rollback),
  });
}
