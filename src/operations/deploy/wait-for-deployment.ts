import {shownUrl} from '../../backends/answers.js';
import type {DeploymentRef, DeploymentState} from '../../backends/contract.js';
import {amendError, createError, type RuntimeCliError} from '../../errors/index.js';
import {invoke, quickLook} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import type {OperationProgress} from '../options.js';
import {findAwaited} from '../targets/find-targets.js';
import {isLost, maxLostPolls, pollUntil} from './poll.js';
import {asSentence} from '../../text/sentence.js';

/** Waits for a deployment to end. @throws RuntimeCliError unless the caller aborts */
export async function pollDeployment(open: OpenBackend, deployment: DeploymentRef): Promise<DeploymentState> {
  let last: DeploymentState | undefined;
  let isThere = false;
  /** A deployment that is not seen to be under way may have gone with its target. */
  const checkTarget = async () => {
    const {targetSlug} = deployment;
    if (typeof targetSlug !== 'string') return;
    isThere = await findAwaited(open, {targetSlug, wasThere: isThere, before: 'the deployment finished'});
  };
  return pollUntil<DeploymentState, DeploymentState>(open, {
    look: (polled) => invoke(polled, 'getDeployment', deployment),
    async judge(seen, leftMs) {
      last = seen;
      open.host.outlet.progress({...progressOf(seen), leftMs});
      if (seen.status === 'finished') return {...seen, url: shownUrl(seen.url)};
      if (seen.status === 'failed') throw deploymentFailed(deployment, seen);
      if (seen.status === 'queued') await checkTarget();
      else isThere = true;
      return undefined;
    },
    async onLost({status, message}, leftMs) {
      const shown = progressOf(last ?? {status: 'queued'});
      open.host.outlet.progress({...shown, description: `its state cannot be read: ${message}`, leftMs});
      if (status === 404) await checkTarget();
    },
    unreadable: (failure) => stateUnreadable(deployment, failure),
    late(timeout, isLooking) {
      const {name, plugin} = open.backend;
      const isSilent = isLooking && plugin !== undefined;
      const silent = isSilent ? ` The ${name} backend of plugin ${plugin} has not answered getDeployment.` : '';
      throw waitTimedOut(deployment, timeout, last?.status, silent);
    },
  });
}

/** @param failure one that is final, or that of the last of too many looks */
function stateUnreadable(deployment: DeploymentRef, failure: RuntimeCliError): Error {
  const unread = isLost(failure) ? `could not be read ${String(maxLostPolls)} times in a row` : 'cannot be read';
  const message = `${deploymentName(deployment)} was accepted, but its state ${unread}: ${failure.message}`;
  const more = {message, details: {deployment}};
  if (!isLost(failure)) return amendError(failure, more);
  return createError('ERR_OUTCOME_UNKNOWN', message, {...more, cause: failure});
}

/** The error for a deployment that has failed at once, with the reason that its state may have. */
export async function failedAtOnce(open: OpenBackend, deployment: DeploymentRef): Promise<Error> {
  const seen = await quickLook(open, (again) => invoke(again, 'getDeployment', deployment));
  return deploymentFailed(deployment, seen?.status === 'failed' ? seen : {});
}

export function deploymentFailed(
  deployment: DeploymentRef,
  {description, logUrl: given}: Pick<DeploymentState, 'description' | 'logUrl'>,
): Error {
  const logUrl = shownUrl(given);
  const isSilent = description === undefined;
  const silent = isSilent ? ['The service gives no reason. Look in its own log or web interface.'] : [];
  const why = isSilent ? '' : `: ${description}`;
  return createError('ERR_DEPLOYMENT_FAILED', asSentence(`${deploymentName(deployment)} failed${why}`), {
    suggestions: logUrl === undefined ? silent : [`Log: ${logUrl}`],
    details: {deployment, status: 'failed', logUrl},
  });
}

function waitTimedOut(deployment: DeploymentRef, timeout: number, status = 'unknown', silent: string): Error {
  const message = `${deploymentName(deployment)} did not finish within ${String(timeout)} s. Its last status: ${status}.`;
  const suggestions = ['The deployment continues. Pass a longer --timeout next time.'];
  return createError('ERR_WAIT_TIMEOUT', message + silent, {suggestions, details: {deployment, status}});
}

/** `Deployment d-7` */
export function deploymentName({deploymentId}: DeploymentRef): string {
  return deploymentId === undefined ? 'The deployment' : `Deployment ${String(deploymentId)}`;
}

function progressOf({status, percentage, description}: DeploymentState): OperationProgress {
  const known = status === 'finished' ? 100 : percentage;
  return {phase: 'wait', transferred: known ?? 0, total: known === undefined ? undefined : 100, status, description};
}
