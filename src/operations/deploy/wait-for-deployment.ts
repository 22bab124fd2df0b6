import {shownUrl} from '../../backends/answers.js';
import type {DeploymentRef, DeploymentState} from '../../backends/contract.js';
import {amendError, createError, isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../../errors/index.js';
import {invoke} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import type {OperationProgress} from '../options.js';
import {findAwaited} from '../targets/find-targets.js';
import {startPoll} from './poll.js';
import {asSentence} from '../../text/sentence.js';
import type {CommandToRun} from '../../errors/suggestion.js';

/** Consecutive failed polls before the state counts as unknown. */
export const maxLostPolls = 5;

/** Waits for a deployment to end. @throws RuntimeCliError with the way to check on it, unless the caller aborts */
export async function pollDeployment(open: OpenBackend, deployment: DeploymentRef): Promise<DeploymentState> {
  const {signal, host} = open;
  const poll = startPoll(open);
  const polled = open.with({signal: poll.signal});
  let state: DeploymentState | undefined;
  let isThere = false;
  /** A deployment that is not seen to be under way may have gone with its target. */
  const checkTarget = async () => {
    const {targetSlug} = deployment;
    if (typeof targetSlug !== 'string') return;
    isThere = await findAwaited(polled, {targetSlug, wasThere: isThere, before: 'the deployment finished'});
  };
  const orLate = (error: unknown): never => {
    signal.throwIfAborted();
    throw poll.isLate() ? waitTimedOut(open, deployment, poll.timeout, state) : error;
  };
  for (let lost = 0; ;) {
    const seen = await look(polled, deployment, {lost, checkTarget}).catch(orLate);
    lost = seen ? 0 : lost + 1;
    if (seen) {
      state = seen;
      host.outlet.progress({...progressOf(seen), leftMs: poll.leftMs()});
      if (seen.status === 'finished') return {...seen, url: shownUrl(seen.url)};
      if (seen.status === 'failed') throw deploymentFailed(deployment, seen);
      if (seen.status === 'queued') await checkTarget().catch(orLate);
      else isThere = true;
    }
    // Give the service time to recover.
    await poll.pause({longest: !seen}).catch(orLate);
    if (poll.isLate()) throw waitTimedOut(open, deployment, poll.timeout, state);
  }
}

/** Polls once. Undefined if the poll failed temporarily; any other failure is final. */
async function look(
  open: OpenBackend,
  deployment: DeploymentRef,
  {lost, checkTarget}: {readonly lost: number; readonly checkTarget: () => Promise<void>},
): Promise<DeploymentState | undefined> {
  try {
    return await invoke(open, 'getDeployment', deployment);
  } catch (error) {
    if (open.signal.aborted || !isRuntimeCliError(error)) throw error;
    if (error.status === 404) await checkTarget();
    const history = [historyCommand(open, deployment)];
    if (!isLost(error)) {
      throw amendError(error, {
        message: `${deploymentName(deployment)} was accepted, but its state cannot be read: ${error.message}`,
        suggestions: ['The deployment continues. To check on it, run:', history],
        details: {deployment},
      });
    }
    if (lost + 1 < maxLostPolls) return undefined;
    const message = `${deploymentName(deployment)} was accepted, but its state could not be read ${String(maxLostPolls)} times in a row.`;
    const suggestions = ['Check its state before you deploy again:', history];
    throw createError('ERR_OUTCOME_UNKNOWN', message, {suggestions, details: {deployment}, cause: error});
  }
}

/** An accepted deployment exists, so a response that does not know it, or is about something else, proves nothing. */
export function isLost({code, status}: RuntimeCliError): boolean {
  return lostCodes.has(code) || status === 404 || status === 408;
}

const lostCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_NETWORK',
  'ERR_TIMEOUT',
  'ERR_SERVER',
  'ERR_MAINTENANCE',
  'ERR_RATE_LIMITED',
  'ERR_RESPONSE_INVALID',
  'ERR_BACKEND_FAILED',
]);

/** The error for a deployment that was accepted and then failed. */
export function deploymentFailed(
  deployment: DeploymentRef,
  state: Pick<DeploymentState, 'status' | 'description' | 'logUrl'>,
): Error {
  const logUrl = shownUrl(state.logUrl);
  const isSilent = state.description === undefined;
  const silent = isSilent ? ['The service gives no reason. Look in its own log or web interface.'] : [];
  const why = state.description === undefined ? '' : `: ${state.description}`;
  return createError('ERR_DEPLOYMENT_FAILED', asSentence(`${deploymentName(deployment)} failed${why}`), {
    suggestions: logUrl === undefined ? silent : [`Log: ${logUrl}`],
    details: {
      deployment,
      status: state.status,
      ...(logUrl !== undefined && {logUrl}),
    },
  });
}

function waitTimedOut(
  open: OpenBackend,
  deployment: DeploymentRef,
  timeout: number,
  state: DeploymentState | undefined,
): Error {
  const status = state?.status ?? 'unknown';
  const message = `${deploymentName(deployment)} did not finish within ${String(timeout)} s. Its last status: ${status}.`;
  const advice = 'The deployment continues. Pass a longer --timeout next time, or check on it:';
  const suggestions = [advice, [historyCommand(open, deployment)]];
  return createError('ERR_WAIT_TIMEOUT', message, {suggestions, details: {deployment, status}});
}

/** How to check on a deployment. Built-in backends store the target in its reference. */
function historyCommand({flags}: OpenBackend, {targetSlug}: DeploymentRef): CommandToRun {
  return {run: ['bundle:history', ...flags(typeof targetSlug === 'string' ? targetSlug : undefined)]};
}

/** `Deployment d-7` */
export function deploymentName({deploymentId}: DeploymentRef): string {
  return deploymentId === undefined ? 'The deployment' : `Deployment ${String(deploymentId)}`;
}

function progressOf({status, percentage, description}: DeploymentState): OperationProgress {
  const known = status === 'finished' ? 100 : percentage;
  return {phase: 'wait', transferred: known ?? 0, total: known === undefined ? undefined : 100, status, description};
}
