import {shownUrl} from '../../backends/answers.js';
import type {DeployResult} from '../../backends/contract.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine, placeFlags} from '../../text/suggest.js';
import type {Suggestion} from '../../errors/suggestion.js';
import {requestDeploy, type AcceptedDeployment, type DeploymentWatch} from '../deploy/deploy-bundle.js';
import {waitForDeployment} from '../deploy/wait-for-deployment.js';
import type {RunHost} from '../host.js';
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
  const {open, deployment, targetSlug} = push;
  try {
    const state = await waitForDeployment(open, deployment, options, host.outlet);
    const url = shownUrl(state.url ?? push.url);
    host.writes?.learn({status: state.status, url: url ?? shownUrl(push.uploaded?.url)});
    return {...push, status: state.status, url};
  } catch (error) {
    throw afterUpload(error, push, targetSlug, {accepted: true});
  }
}

/** What a push without a target, or with one, resolves to. */
export function pushResult(push: UploadedPush & Partial<DeployedPush>, warnings: readonly string[]): PushResult {
  const {open, bundleId, bundle, uploaded, unchanged, targetSlug, deployment, status, raw, check} = push;
  const {format, sha256, contentSha256, size, files} = bundle;
  return {
    backend: open.backend.name,
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

/**
 * The error of what follows an upload. Its failure or interruption must not hide that the bundle was uploaded.
 * @param accepted Whether the deployment has been accepted.
 */
function afterUpload(
  error: unknown,
  {open, bundleId, unchanged}: UploadedPush,
  targetSlug: string,
  {accepted = false} = {},
): unknown {
  if (!isRuntimeCliError(error)) return error;
  const {code} = error;
  const interrupted = code === 'ERR_INTERRUPTED';
  const {backend, projectSlug, signal, commandFlags} = open;
  // A caller's own reason for an abort is passed on unchanged.
  if (signal.aborted && !interrupted) return error;
  const bundle = `Bundle ${String(bundleId)} ${unchanged ? 'is unchanged' : 'was uploaded'}`;
  const details = {bundleId};
  const hasFailed = code === 'ERR_DEPLOYMENT_FAILED';
  if (accepted && !hasFailed) {
    const message = interrupted ? `${error.message} ${bundle}.` : `${bundle}. ${error.message}`;
    return amendError(error, {message, details});
  }
  const requested = error.details?.['deploymentRequested'] !== false;
  const unclear = code === 'ERR_OUTCOME_UNKNOWN' || (interrupted && requested);
  const state = unclear
    ? `${bundle}, and its deployment to ${targetSlug} may have started`
    : `${bundle}, but deploying it to ${targetSlug} failed`;
  const interruption = `${error.message} ${requested ? state : bundle}.`;
  const where = placeFlags({projectSlug, targetSlug, backend: backend.name}, commandFlags);
  const suggestions: Suggestion[] = [];
  const history = ['bundle:history', ...where];
  const mustLook = unclear || hasFailed || code === 'ERR_SERVER' || code === 'ERR_RESPONSE_INVALID';
  const hasHistory = backend.listDeployments !== undefined;
  if (mustLook && hasHistory && !error.suggestions.includes(commandLine(...history)))
    suggestions.push('Check before you deploy it again:', [{run: history}]);
  if (!unclear && !hasFailed)
    suggestions.push('To deploy it without another upload, run:', [{run: ['bundle:deploy', bundleId, ...where]}]);
  return amendError(error, {
    message: interrupted ? interruption : `${state}: ${error.message}`,
    suggestions,
    details,
  });
}
