import {shownUrl} from '../../backends/answers.js';
import type {DeployResult} from '../../backends/contract.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine, placeFlags} from '../../text/suggest.js';
import type {Suggestion} from '../../errors/suggestion.js';
import {requestDeploy} from '../deploy/deploy-bundle.js';
import {waitForDeployment} from '../deploy/wait-for-deployment.js';
import type {Host} from '../host.js';
import {openBackend, registryOf} from '../open-backend.js';
import type {PushResult} from './options.js';
import type {PushPlan} from './plan-push.js';
import type {UploadedPush} from './upload-push.js';

/** The accepted deployment of a push, and its outcome if we waited for it. */
export type DeployedPush = Pick<DeployResult, 'deployment' | 'status' | 'url' | 'warnings' | 'raw'>;

/** Deploys an uploaded bundle, unless the upload already did. */
export async function deployPush(
  {options, watch}: PushPlan,
  uploaded: UploadedPush,
  targetSlug: string,
  host: Host,
): Promise<DeployedPush> {
  const {bundleId, deployment} = uploaded.result;
  let deployed: DeployedPush;
  if (deployment) deployed = {deployment, status: 'queued', raw: undefined};
  else {
    try {
      const open = await openBackend(uploaded.backend, options, host);
      deployed = await requestDeploy(open, {bundleId, targetSlug}, {...options, watch});
    } catch (error) {
      throw afterUpload(error, options, uploaded, host);
    }
  }
  watch?.note({bundleId, deployment: deployed.deployment});
  host.writes?.learn({deployment: deployed.deployment, status: deployed.status});
  return deployed;
}

export async function waitForPush(
  {options}: PushPlan,
  uploaded: UploadedPush,
  deployed: DeployedPush,
  host: Host,
): Promise<DeployedPush> {
  const {backend} = uploaded;
  try {
    const {status, url} = await waitForDeployment({...options, backend, deployment: deployed.deployment}, host);
    return {...deployed, status, url: url ?? deployed.url};
  } catch (error) {
    throw afterUpload(error, options, uploaded, host, {accepted: true});
  }
}

export function pushResult(plan: PushPlan, uploaded: UploadedPush, host: Host, deployed?: DeployedPush): PushResult {
  const {projectSlug, targetSlug} = plan.options;
  const {backend, bundle, result, unchanged} = uploaded;
  const {format, sha256, contentSha256, size, files} = bundle;
  const url = shownUrl(deployed?.url) ?? shownUrl(result.url);
  host.writes?.learn({status: deployed?.status, url});
  return {
    backend,
    bundleId: result.bundleId,
    projectSlug,
    targetSlug,
    message: unchanged?.message ?? bundle.message,
    unchanged: unchanged !== undefined,
    pushedAt: unchanged?.pushedAt,
    deployed: deployed !== undefined,
    deploymentId: deployed?.deployment.deploymentId,
    url,
    deployment: deployed?.deployment,
    status: deployed?.status,
    warnings: [...plan.warnings, ...uploaded.warnings, ...(deployed?.warnings ?? [])],
    matches: result.matches ?? {},
    archive: {format, sha256, contentSha256, size, files: files.length},
    provenance: bundle.provenance,
    raw: {bundle: result.raw, ...(deployed?.raw === undefined ? {} : {deployment: deployed.raw})},
  };
}

/**
 * The error of what follows an upload. Its failure or interruption must not hide that the bundle was uploaded.
 * @param accepted Whether the deployment has been accepted.
 */
function afterUpload(
  error: unknown,
  options: PushPlan['options'],
  {backend, result: {bundleId}, unchanged}: UploadedPush,
  host: Host,
  {accepted = false} = {},
): unknown {
  if (!isRuntimeCliError(error)) return error;
  const {code} = error;
  const interrupted = code === 'ERR_INTERRUPTED';
  const {projectSlug, targetSlug = '', signal} = options;
  // A caller's own reason for an abort is passed on unchanged.
  if (signal?.aborted && !interrupted) return error;
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
  const where = placeFlags({projectSlug, targetSlug, backend}, host.commandFlags);
  const suggestions: Suggestion[] = [];
  const history = ['bundle:history', ...where];
  const mustLook = unclear || hasFailed || code === 'ERR_SERVER' || code === 'ERR_RESPONSE_INVALID';
  const hasHistory = registryOf(options).get(backend).listDeployments !== undefined;
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
