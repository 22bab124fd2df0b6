import {shownUrl} from '../../backends/answers.js';
import type {DeployResult, DeploymentState} from '../../backends/contract.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine, placeFlags} from '../../errors/suggest.js';
import {requestDeploy} from '../deploy/request-deploy.js';
import {waitForDeployment} from '../deploy/wait-for-deployment.js';
import type {Host} from '../host.js';
import {openBackend, registryOf} from '../open-backend.js';
import type {ArchiveSummary, PushResult} from './options.js';
import type {PushPlan} from './plan-push.js';
import {buildPush, type PushContent} from './push-content.js';
import type {UploadedPush} from './upload-push.js';

/** The accepted deployment of a push, and its outcome if we waited for it. */
export type DeployedPush = Pick<DeployResult, 'deployment' | 'status' | 'url' | 'warnings' | 'raw'>;

/** Packs a bundle to verify that it is within the limits of the backend. */
export async function tryToPack(plan: PushPlan, host: Host): Promise<PushContent> {
  const workspace = await host.createTemporaryDirectory();
  try {
    return await buildPush(plan, plan.selection.backend, workspace, host);
  } finally {
    await workspace.remove();
  }
}

/**
 * Deploys an uploaded bundle, unless the upload already did.
 * @throws RuntimeCliError saying which bundle was uploaded and how to deploy it, with `details.bundleId`.
 */
export async function deployPush(
  plan: PushPlan,
  uploaded: UploadedPush,
  targetSlug: string,
  host: Host,
): Promise<DeployedPush> {
  const {result} = uploaded;
  const {options} = plan;
  const request = async (): Promise<DeployResult> => {
    const open = await openBackend(uploaded.backend, options, host);
    return requestDeploy(open, {bundleId: result.bundleId, targetSlug}, {...options, watch: plan.watch});
  };
  const deployed: DeployedPush = result.deployment
    ? {deployment: result.deployment, status: 'queued', raw: undefined}
    : await afterUpload(plan, uploaded, request, {accepted: false, host});
  plan.watch?.note({bundleId: result.bundleId, deployment: deployed.deployment});
  host.writes?.learn({deployment: deployed.deployment, status: deployed.status});
  return deployed;
}

/**
 * Waits for the deployment of a push to end.
 * @throws RuntimeCliError saying which bundle was uploaded, with `details.bundleId`. It only says how to deploy it if
 * the deployment failed, since one that is still running must not be repeated.
 */
export async function waitForPush(
  plan: PushPlan,
  uploaded: UploadedPush,
  deployed: DeployedPush,
  host: Host,
): Promise<DeployedPush> {
  const options = {...plan.options, backend: uploaded.backend, deployment: deployed.deployment};
  const wait = (): Promise<DeploymentState> => waitForDeployment(options, host);
  const state = await afterUpload(plan, uploaded, wait, {accepted: true, host});
  return {...deployed, status: state.status, url: state.url ?? deployed.url};
}

/** The result of a push. */
export function pushResult(plan: PushPlan, uploaded: UploadedPush, host: Host, deployed?: DeployedPush): PushResult {
  const {projectSlug, targetSlug} = plan.options;
  const {backend, bundle, result, unchanged} = uploaded;
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
    archive: summarizeArchive(bundle),
    provenance: bundle.provenance,
    raw: {bundle: result.raw, ...(deployed?.raw === undefined ? {} : {deployment: deployed.raw})},
  };
}

/** Format, digests and size of an archive. */
function summarizeArchive(bundle: BundleContent & PackResult): ArchiveSummary {
  const {format, sha256, contentSha256, size, files} = bundle;
  return {format, sha256, contentSha256, size, files: files.length};
}

/**
 * Runs what follows an upload. Its failure or interruption must not hide that the bundle was uploaded.
 * @param accepted Whether the deployment has been accepted.
 */
async function afterUpload<Result>(
  plan: PushPlan,
  uploaded: UploadedPush,
  run: () => Promise<Result>,
  {accepted, host}: {readonly accepted: boolean; readonly host: Host},
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const interrupted = isRuntimeCliError(error) && error.code === 'ERR_INTERRUPTED';
    // A caller's own reason for an abort is passed on unchanged.
    if (!isRuntimeCliError(error) || (plan.options.signal?.aborted && !interrupted)) throw error;
    const {projectSlug, targetSlug = ''} = plan.options;
    const id = String(uploaded.result.bundleId);
    const bundle = uploaded.unchanged ? `Bundle ${id} is unchanged` : `Bundle ${id} was uploaded`;
    const details = {bundleId: uploaded.result.bundleId};
    const hasFailed = error.code === 'ERR_DEPLOYMENT_FAILED';
    if (accepted && !hasFailed) {
      const message = interrupted ? `${error.message} ${bundle}.` : `${bundle}. ${error.message}`;
      throw amendError(error, {message, details});
    }
    const where = placeFlags({projectSlug, targetSlug, backend: uploaded.backend}, host.commandFlags);
    const command = (...args: readonly string[]) => ({run: [...args, ...where]});
    const requested = error.details?.['deploymentRequested'] !== false;
    const unclear = (interrupted && requested) || error.code === 'ERR_OUTCOME_UNKNOWN';
    const mayHaveStarted = `${bundle}, and its deployment to ${targetSlug} may have started`;
    const message = interrupted
      ? `${error.message} ${requested ? mayHaveStarted : bundle}.`
      : unclear
        ? `${mayHaveStarted}: ${error.message}`
        : `${bundle}, but deploying it to ${targetSlug} failed: ${error.message}`;
    const hasHistory = registryOf(plan.options).get(uploaded.backend).listDeployments !== undefined;
    const mustLook = unclear || hasFailed || error.code === 'ERR_SERVER' || error.code === 'ERR_RESPONSE_INVALID';
    const history = command('bundle:history');
    throw amendError(error, {
      message,
      suggestions: [
        ...(mustLook && hasHistory && !error.suggestions.includes(commandLine(...history.run))
          ? ['Check before you deploy it again:', [history]]
          : []),
        ...(unclear || hasFailed ? [] : ['To deploy it without another upload, run:', [command('bundle:deploy', id)]]),
      ],
      details,
    });
  }
}
