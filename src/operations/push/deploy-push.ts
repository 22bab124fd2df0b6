import {shownUrl} from '../../backends/answers.js';
import type {DeployResult} from '../../backends/contract.js';
import {amendError, interrupted, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {placeFlags} from '../../text/suggest.js';
import {advises, checkBeforeRetrying, type Suggestion} from '../../errors/suggestion.js';
import {requestDeploy, type AcceptedDeployment, type DeploymentWatch} from '../deploy/deploy-bundle.js';
import {waitForDeployment} from '../deploy/wait-for-deployment.js';
import type {RunHost} from '../host.js';
import type {OpenBackend} from '../open-backend.js';
import type {PushResult} from './options.js';
import type {PushOptions} from './plan-push.js';
import type {UploadedPush} from './upload-push.js';

/** A push whose bundle is deployed, or being deployed. */
export interface DeployedPush extends UploadedPush, AcceptedDeployment {}

/** Deploys an uploaded bundle, unless the upload already did. */
export async function deployPush(
  push: UploadedPush,
  targetSlug: string,
  options: PushOptions,
  watch: DeploymentWatch | undefined,
  host: RunHost,
): Promise<DeployedPush> {
  const {open, bundleId, uploaded} = push;
  let accepted: DeployResult;
  if (uploaded?.deployment) accepted = {deployment: uploaded.deployment, status: 'queued', raw: undefined};
  else {
    try {
      accepted = await requestDeploy(open, {bundleId, targetSlug, watch}, options, host.outlet);
    } catch (error) {
      throw afterUpload(error, push, targetSlug);
    }
  }
  const {deployment, status, warnings = [], raw} = accepted;
  const url = shownUrl(accepted.url);
  watch?.note({bundleId, deployment});
  host.writes?.learn({deployment, status, url: url ?? shownUrl(uploaded?.url)});
  warnings.forEach((warning) => host.outlet.warn(warning));
  return {...push, targetSlug, deployment, status, url, raw};
}

export async function waitForPush(push: DeployedPush, options: PushOptions, host: RunHost): Promise<DeployedPush> {
  const {open, deployment} = push;
  try {
    const state = await waitForDeployment(open, deployment, options, host.outlet);
    const url = shownUrl(state.url ?? push.url);
    host.writes?.learn({status: state.status, url: url ?? shownUrl(push.uploaded?.url)});
    return {...push, status: state.status, url};
  } catch (error) {
    throw afterAcceptance(error, push);
  }
}

/** What a push without a target, or with one, resolves to. */
export function pushResult(push: UploadedPush & Partial<DeployedPush>, warnings: readonly string[]): PushResult {
  const {open, bundleId, bundle, uploaded, unchanged, targetSlug, deployment, status, raw, check} = push;
  const {format, sha256, contentSha256, size, files} = bundle;
  return {
    backend: open.backendName,
    bundleId,
    projectSlug: open.projectSlug,
    targetSlug,
    message: unchanged?.message ?? bundle.message,
    unchanged: unchanged !== undefined,
    pushedAt: unchanged?.pushedAt,
    deployed: deployment !== undefined,
    deploymentId: deployment?.deploymentId,
    url: push.url ?? shownUrl(uploaded?.url),
    deployment,
    status,
    warnings,
    matches: uploaded?.matches ?? {},
    archive: {format, sha256, contentSha256, size, files: files.length},
    provenance: bundle.provenance,
    raw: {bundle: uploaded?.raw, ...(raw !== undefined && {deployment: raw})},
    ...(check && {check}),
  };
}

/** The error of a wait. It must not hide that the bundle was uploaded. */
function afterAcceptance(error: unknown, push: DeployedPush): unknown {
  const {open, bundleId, targetSlug} = push;
  if (!isRuntimeCliError(error) || isOwnReason(error, open)) return error;
  if (error.code === 'ERR_DEPLOYMENT_FAILED') return afterUpload(error, push, targetSlug);
  const bundle = `${describeUploaded(push)}.`;
  const details = {bundleId};
  if (error.code === 'ERR_INTERRUPTED') return interrupted(error, bundle, {details});
  return amendError(error, {message: `${bundle} ${error.message}`, details});
}

/** The error of a deployment after an upload. It must not hide that the bundle was uploaded. */
function afterUpload(error: unknown, push: UploadedPush, targetSlug: string): unknown {
  const {open, bundleId} = push;
  if (!isRuntimeCliError(error) || isOwnReason(error, open)) return error;
  const {code} = error;
  const bundle = describeUploaded(push);
  const details = {bundleId};
  const isInterrupted = code === 'ERR_INTERRUPTED';
  if (isInterrupted && error.details?.['deploymentRequested'] === false)
    return interrupted(error, `${bundle}.`, {suggestions: deployLater(push, targetSlug), details});
  const mayHaveStarted = isInterrupted || code === 'ERR_OUTCOME_UNKNOWN';
  const mustLook = mayHaveStarted || ['ERR_DEPLOYMENT_FAILED', 'ERR_SERVER', 'ERR_RESPONSE_INVALID'].includes(code);
  const look = mustLook ? lookFirst(push, targetSlug) : [];
  // More than that the bundle exists is known here.
  const advice = look.length > 0 ? error.advice.filter((each) => each !== checkBeforeRetrying) : error.advice;
  const suggestions = [
    ...(advises('bundle:history', advice) ? [] : look),
    ...(mayHaveStarted || code === 'ERR_DEPLOYMENT_FAILED' ? [] : deployLater(push, targetSlug)),
  ];
  if (isInterrupted)
    return interrupted(error, `${bundle}, and its deployment to ${targetSlug} may have started.`, {
      suggestions,
      details,
    });
  const state = mayHaveStarted
    ? `${bundle}, and its deployment to ${targetSlug} may have started`
    : `${bundle}, but deploying it to ${targetSlug} failed`;
  return amendError(error, {message: `${state}: ${error.message}`, advice, suggestions, details});
}

/** Whether a caller has aborted with a reason of its own, which is passed on unchanged. */
function isOwnReason({code}: RuntimeCliError, {signal}: OpenBackend): boolean {
  return signal.aborted && code !== 'ERR_INTERRUPTED';
}

function describeUploaded({bundleId, unchanged}: UploadedPush): string {
  return `Bundle ${String(bundleId)} ${unchanged ? 'is unchanged' : 'was uploaded'}`;
}

/** How to look whether a deployment has started, if the backend can tell. */
function lookFirst(push: UploadedPush, targetSlug: string): readonly Suggestion[] {
  const history = ['bundle:history', ...placeOf(push, targetSlug)];
  if (push.open.backend.listDeployments === undefined) return [];
  return ['Check before you deploy it again:', [{run: history}]];
}

function deployLater(push: UploadedPush, targetSlug: string): readonly Suggestion[] {
  const command = ['bundle:deploy', push.bundleId, ...placeOf(push, targetSlug)];
  return ['To deploy it without another upload, run:', [{run: command}]];
}

function placeOf(
  {open: {backendName, projectSlug, commandFlags}}: UploadedPush,
  targetSlug: string,
): readonly string[] {
  return placeFlags({projectSlug, targetSlug, backend: backendName}, commandFlags);
}
