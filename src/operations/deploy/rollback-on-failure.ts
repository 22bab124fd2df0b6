import type {BundleId, DeployResult, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {amendError, createError, isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../../errors/index.js';
import {asClause, asSentence, oneLine} from '../../errors/sentence.js';
import {placeFlags} from '../../errors/suggest.js';
import type {RetryEvent} from '../../http/types.js';
import {liveDeployment, readHistory} from '../list.js';
import {openBackend, signalOf, type BackendCallOptions, type OpenBackend} from '../open-backend.js';
import type {DeploymentOptions} from '../options.js';
import type {Host} from '../host.js';
import {pause} from './poll.js';
import {requestDeploy, type DeploymentWatch} from './request-deploy.js';
import {waitForDeployment} from './wait-for-deployment.js';

/** How a failed deployment was rolled back, or why not: `details.rollback` of the error. */
interface RollbackOutcome {
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
type WatchOptions = BackendCallOptions & DeploymentOptions;

/** What a target ran before a deployment, and that deployment. */
export class RollbackWatch implements DeploymentWatch {
  /** The target's deployments before ours, newest first, and where they were read. */
  before: {readonly open: OpenBackend; readonly items: readonly DeploymentItem[]} | undefined;
  ours: {readonly bundleId: BundleId; readonly deployment: DeploymentRef} | undefined;
  readonly #targetSlug: string;

  constructor(targetSlug: string) {
    this.#targetSlug = targetSlug;
  }

  /** @throws RuntimeCliError when it cannot be read: then nothing must be deployed that could not be rolled back. */
  async look(open: OpenBackend): Promise<void> {
    this.before = {open, items: await readBefore(open, this.#targetSlug)};
  }

  note(accepted: NonNullable<RollbackWatch['ours']>): void {
    this.ours = accepted;
  }
}

/** Follows a deployment to be able to roll it back. Undefined unless that was asked for. */
export function watchForRollback({rollbackOnFailure, targetSlug}: WatchOptions): RollbackWatch | undefined {
  return rollbackOnFailure && targetSlug !== undefined ? new RollbackWatch(targetSlug) : undefined;
}

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
}

/** The rollback of a deployment that failed, or whose check did. Undefined if there is nothing to roll back. */
export function rollbackOf(
  failure: unknown,
  {before, ours}: Partial<RollbackWatch> = {},
  options: WatchOptions,
  host: Host,
): Rollback | undefined {
  if (before === undefined || ours === undefined || !isRuntimeCliError(failure)) return undefined;
  if (failure.code !== 'ERR_DEPLOYMENT_FAILED' && failure.code !== 'ERR_UNHEALTHY') return undefined;
  return new Rollback({options, host, failure, before, ours});
}

/** Says of a deployment that may still finish that it was not rolled back, if that was asked for. */
export function explainUnfinished(error: unknown, {before, ours}: Partial<RollbackWatch> = {}): unknown {
  if (before === undefined || ours === undefined || !isRuntimeCliError(error)) return error;
  if (error.code !== 'ERR_WAIT_TIMEOUT' && error.code !== 'ERR_OUTCOME_UNKNOWN') return error;
  return amendError(error, {message: `${error.message} It was not rolled back, because it may still finish.`});
}

/** After these, a request to roll back may have been carried out. */
const unclearCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_OUTCOME_UNKNOWN',
  'ERR_WAIT_TIMEOUT',
  'ERR_SERVER',
  'ERR_RESPONSE_INVALID',
]);

/** Rolls a target back. */
class Rollback {
  readonly #failed: FailedDeployment;
  readonly #targetSlug: string;
  readonly #backend: string;
  #outcome: RollbackOutcome = {rolledBack: false};
  #isRequested = false;

  constructor(failed: FailedDeployment) {
    this.#failed = failed;
    this.#targetSlug = failed.options.targetSlug ?? '';
    this.#backend = failed.before.open.backend.name;
  }

  /**
   * Deploys what ran before. Resolves to that bundle, and to the error of a deployment that was rolled back.
   * @throws RuntimeCliError `ERR_NOT_ROLLED_BACK`; `signal.reason` when aborted.
   */
  async run(): Promise<{readonly bundleId: BundleId; readonly error: Error}> {
    const {options, host, failure, before, ours} = this.#failed;
    host.writes?.conclude({error: failure});
    const {bundleId, reason = ''} = bundleBefore(before.items, ours.bundleId, this.#targetSlug);
    if (bundleId === undefined) throw this.#refusal(reason);
    this.#outcome = {rolledBack: false, bundleId};
    try {
      await this.#deploy(bundleId);
    } catch (error) {
      const {signal} = options;
      if (signal?.aborted) throw isRuntimeCliError(signal.reason) ? this.#interruption(signal.reason) : error;
      host.writes?.conclude({error});
      if (!isRuntimeCliError(error) || error.code === 'ERR_NOT_ROLLED_BACK') throw error;
      throw this.#refusal(error.message, error);
    }
    host.writes?.conclude({});
    this.#outcome = {...this.#outcome, rolledBack: true};
    const now = `The target ${this.#targetSlug} was rolled back and runs bundle ${String(bundleId)} again.`;
    const details = this.#details();
    const rest = {suggestions: failure.advice, details, cause: failure};
    return {bundleId, error: createError('ERR_ROLLED_BACK', `${asSentence(failure.message)} ${now}`, rest)};
  }

  async #deploy(bundleId: BundleId): Promise<void> {
    const {host, before, ours} = this.#failed;
    const [backend, targetSlug] = [this.#backend, this.#targetSlug];
    const options = {...this.#failed.options, backend, targetSlug, wait: true};
    const {projectSlug} = options;
    const open = await openBackend(backend, options, host);
    await host.writes?.before({operation: 'rollback', backend, projectSlug, targetSlug, bundleIds: [bundleId]});
    const verify = async () => {
      const came = cameBetween(before.items, await readHistory(open, targetSlug), ours);
      if (came !== undefined) throw this.#refusal(came);
      this.#isRequested = true;
    };
    const {deployment, status} = await requestAfter(verify, {...options, bundleId}, host);
    this.#outcome = {...this.#outcome, deployment};
    host.writes?.learn({deployment, status});
    const state = await waitForDeployment({...options, deployment}, host);
    host.writes?.learn({status: state.status});
  }

  /** What failed, where, and what came of the rollback. */
  #details() {
    const {failure, ours, options} = this.#failed;
    const {code, message, details} = failure;
    const place = {projectSlug: options.projectSlug, targetSlug: this.#targetSlug};
    return {backend: this.#backend, ...ours, ...place, ...details, failure: {code, message}, rollback: this.#outcome};
  }

  #refusal(reason: string, cause?: RuntimeCliError): RuntimeCliError {
    const {failure, options, host} = this.#failed;
    this.#outcome = {...this.#outcome, reason};
    const {bundleId, deployment} = this.#outcome;
    const place = {projectSlug: options.projectSlug, targetSlug: this.#targetSlug, backend: this.#backend};
    const flags = placeFlags(place, host.commandFlags);
    const isUnclear =
      cause !== undefined &&
      (deployment === undefined
        ? this.#isRequested && unclearCodes.has(cause.code)
        : cause.code !== 'ERR_DEPLOYMENT_FAILED');
    const started = deployment === undefined ? 'may have started' : 'was accepted and may still finish';
    const state = isUnclear ? `Its rollback to bundle ${String(bundleId)} ${started}` : 'It was not rolled back';
    // Where another deployment came after ours, that is not ours to undo.
    const canRetry = bundleId !== undefined && cause !== undefined && !isUnclear;
    return createError('ERR_NOT_ROLLED_BACK', `${asSentence(failure.message)} ${state}: ${asClause(reason)}.`, {
      suggestions: [
        ...failure.advice,
        [`Check what ${this.#targetSlug} runs: `, {run: ['bundle:history', ...flags]}],
        ...(canRetry ? [['To roll back, run: ', {run: ['bundle:deploy', bundleId, ...flags]}] as const] : []),
      ],
      details: this.#details(),
      cause: cause ?? failure,
    });
  }

  /** The error for an interrupted rollback: what state it is in. */
  #interruption(interrupted: RuntimeCliError): RuntimeCliError {
    const {failure} = this.#failed;
    const {bundleId, deployment} = this.#outcome;
    const started = deployment === undefined ? 'may have started' : 'continues';
    const state = this.#isRequested
      ? `Its rollback to bundle ${String(bundleId)} ${started}.`
      : 'It was not rolled back.';
    return amendError(interrupted, {
      message: `${interrupted.message} ${asSentence(failure.message)} ${state}`,
      suggestions: failure.advice,
      details: this.#details(),
    });
  }
}

/** Requests a deployment. Calls `verify` before it and after each wait for a retry: others may deploy meanwhile. */
async function requestAfter(
  verify: () => Promise<void>,
  request: WatchOptions & {readonly backend: string; readonly bundleId: BundleId; readonly targetSlug: string},
  host: Host,
): Promise<DeployResult> {
  const given = signalOf(request);
  for (let retries = 0, most = Infinity; ; retries += 1) {
    await verify();
    const stop = new AbortController();
    const waits: RetryEvent[] = [];
    const once = {
      ...request,
      ...(retries >= most && {rateLimit: {...request.rateLimit, maxRetries: 0}}),
      signal: AbortSignal.any([given, stop.signal]),
      // What is to be retried was refused or never sent, so nothing is lost.
      onRetry(event: RetryEvent) {
        waits.push(event);
        stop.abort();
      },
    };
    try {
      const open = await openBackend(request.backend, once, host);
      return await requestDeploy(open, request, {...once, waitForSlot: false});
    } catch (error) {
      const [event] = waits;
      if (event === undefined || given.aborted) throw error;
      most = event.maxRetries;
      request.onRetry?.({...event, attempt: retries + 1});
      await pause(event.delayMs, given);
    }
  }
}

/** The bundle that a target ran before ours, or why there is none to go back to. */
function bundleBefore(
  items: readonly DeploymentItem[],
  ours: BundleId,
  targetSlug: string,
): Pick<RollbackOutcome, 'bundleId' | 'reason'> {
  const [newest] = items;
  const live = liveDeployment(items);
  if (newest?.status === 'queued' || newest?.status === 'in_progress')
    return {reason: `another deployment to ${targetSlug} was running when it began`};
  if (live === undefined && items.every(({status}) => status === 'failed'))
    return {reason: `nothing ran on ${targetSlug} before`};
  if (live?.bundleId === undefined) return {reason: `the server does not report what ${targetSlug} ran before`};
  if (String(live.bundleId) === String(ours)) return {reason: `${targetSlug} ran the same bundle before`};
  return {bundleId: live.bundleId};
}

/** Why our deployment is not known to be the newest, and the only one since `before`. */
function cameBetween(
  before: readonly DeploymentItem[],
  now: readonly DeploymentItem[],
  {bundleId, deployment}: NonNullable<RollbackWatch['ours']>,
): string | undefined {
  const known = before.map(identityOf);
  const later = now.filter((item) => {
    const at = known.indexOf(identityOf(item));
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
  const [newest] = later;
  if (newest === undefined) return 'the history of the target does not list it';
  const {deploymentId} = newest.deployment;
  const hasOtherId =
    deploymentId !== undefined &&
    deployment.deploymentId !== undefined &&
    String(deploymentId) !== String(deployment.deploymentId);
  const hasOtherBundle = newest.bundleId !== undefined && String(newest.bundleId) !== String(bundleId);
  if (later.length === 1 && !hasOtherId && !hasOtherBundle) return undefined;
  const what = newest.bundleId === undefined ? '' : ` of bundle ${String(newest.bundleId)}`;
  const by = newest.createdBy === undefined ? '' : ` by ${newest.createdBy}`;
  return oneLine(`another deployment${what}${by} came after it`);
}

function identityOf({deployment, createdAt, bundleId}: DeploymentItem): string {
  return JSON.stringify([deployment, createdAt, bundleId]);
}
