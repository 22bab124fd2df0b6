import {shownUrl} from '../../backends/answers.js';
import type {Backend, DeploymentRef, DeploymentState} from '../../backends/contract.js';
import {
  amendError,
  createError,
  interrupted,
  isRuntimeCliError,
  type ErrorCode,
  type RuntimeCliError,
} from '../../errors/index.js';
import {placeFlags} from '../../text/suggest.js';
import {invoke} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import type {OperationProgress, WaitOptions} from '../options.js';
import type {Outlet} from '../outlet.js';
import {startPoll} from './poll.js';
import {withLastLines} from './read-logs.js';
import {asSentence} from '../../text/sentence.js';
import type {CommandToRun} from '../../errors/suggestion.js';

/** Consecutive failed polls before the state counts as unknown. */
export const maxLostPolls = 5;

export async function waitForDeployment(
  open: OpenBackend,
  deployment: DeploymentRef,
  options: WaitOptions,
  outlet: Outlet,
): Promise<DeploymentState> {
  const {signal} = open;
  const poll = startPoll(options, signal);
  const polled = open.with({signal: poll.signal});
  const history = historyCommand(open, deployment);
  let state: DeploymentState | undefined;
  const orLate = (error: unknown): never => {
    if (signal.aborted) throw stoppedWaiting(signal.reason, deployment, history);
    throw poll.isLate() ? waitTimedOut(deployment, poll.timeout, state, history) : error;
  };
  for (let lost = 0; ;) {
    const seen = await look(polled, deployment, {lost, history}).catch(orLate);
    lost = seen ? 0 : lost + 1;
    if (seen) {
      state = seen;
      outlet.progress({...progressOf(seen), leftMs: poll.leftMs()});
      if (seen.status === 'finished') return seen;
      if (seen.status === 'failed')
        throw await withLastLines(deploymentFailed(deployment, seen, open.backend), open, deployment);
    }
    // Give the service time to recover.
    await poll.pause({longest: !seen}).catch(orLate);
    if (poll.isLate()) throw waitTimedOut(deployment, poll.timeout, state, history);
  }
}

/** Polls once. Undefined if the poll failed temporarily; any other failure is final. */
async function look(
  open: OpenBackend,
  deployment: DeploymentRef,
  {lost, history}: {readonly lost: number; readonly history: CommandToRun},
): Promise<DeploymentState | undefined> {
  try {
    return await invoke(open, 'getDeployment', deployment);
  } catch (error) {
    if (open.signal.aborted || !isRuntimeCliError(error)) throw error;
    if (!isLost(error)) {
      throw amendError(error, {
        message: `${describe(deployment)} was accepted, but its state cannot be read: ${error.message}`,
        suggestions: ['The deployment continues. To check on it, run:', [history]],
        details: {deployment},
      });
    }
    if (lost + 1 < maxLostPolls) return undefined;
    const message = `${describe(deployment)} was accepted, but its state could not be read ${String(maxLostPolls)} times in a row.`;
    const suggestions = ['Check its state before you deploy again:', [history]];
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
  {readLogs}: Pick<Backend, 'readLogs'>,
): Error {
  const logUrl = shownUrl(state.logUrl);
  const isSilent = state.description === undefined && readLogs === undefined;
  const silent = isSilent ? ['The service gives no reason. Look in its own log or web interface.'] : [];
  const why = state.description === undefined ? '' : `: ${state.description}`;
  return createError('ERR_DEPLOYMENT_FAILED', asSentence(`${describe(deployment)} failed${why}`), {
    suggestions: logUrl === undefined ? silent : [`Log: ${logUrl}`],
    details: {deployment, status: state.status, ...(logUrl !== undefined && {logUrl})},
  });
}

function stoppedWaiting(reason: unknown, deployment: DeploymentRef, history: CommandToRun): unknown {
  const suggestions = ['To check on it, run:', [history]];
  return interrupted(reason, `${describe(deployment)} continues.`, {suggestions, details: {deployment}});
}

function waitTimedOut(
  deployment: DeploymentRef,
  timeout: number,
  state: DeploymentState | undefined,
  history: CommandToRun,
): Error {
  const status = state?.status ?? 'unknown';
  const message = `${describe(deployment)} did not finish within ${String(timeout)} s. Its last status: ${status}.`;
  const suggestions = ['The deployment continues. Pass a longer --timeout next time, or check on it:', [history]];
  return createError('ERR_WAIT_TIMEOUT', message, {suggestions, details: {deployment, status}});
}

/** How to check on a deployment. Built-in backends store the target in its reference. */
function historyCommand(
  {backendName, projectSlug, commandFlags}: OpenBackend,
  deployment: DeploymentRef,
): CommandToRun {
  const {targetSlug} = deployment;
  const place = {
    projectSlug,
    targetSlug: typeof targetSlug === 'string' ? targetSlug : undefined,
    backend: backendName,
  };
  return {run: ['bundle:history', ...placeFlags(place, commandFlags)]};
}

function describe({deploymentId}: DeploymentRef): string {
  return deploymentId === undefined ? 'The deployment' : `Deployment ${String(deploymentId)}`;
}

function progressOf({status, percentage, description}: DeploymentState): OperationProgress {
  const known = status === 'finished' ? 100 : percentage;
  return {phase: 'wait', transferred: known ?? 0, total: known === undefined ? undefined : 100, status, description};
}
