import type {DeployResult, DeploymentState} from '../backends/contract.js';
import type {BundleContent, PackResult} from '../bundle/types.js';
import {commandLine} from '../errors/command-line.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import type {Host} from './host.js';
import {openBackend} from './open-backend.js';
import type {ArchiveSummary, PushResult, PushRuntimeBundleBackendOptions} from './options.js';
import {planPush, type PushPlan} from './plan-push.js';
import {requestDeploy} from './request-deploy.js';
import {buildPush, uploadPush, type UploadedPush} from './upload-push.js';
import {waitForDeployment} from './wait-for-deployment.js';

/** A deployment of a push that was accepted, and its end when it was waited for. */
export type DeployedPush = Pick<DeployResult, 'deployment' | 'status' | 'warnings' | 'raw'>;

/**
 * Builds a bundle, uploads it to the backend that `preference` selects and deploys it when there is a target: verify,
 * build, resolve, upload, deploy, wait.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function pushRuntimeBundle(options: PushRuntimeBundleBackendOptions, host: Host): Promise<PushResult> {
  const plan = await planPush(options, host);
  const workspace = await host.createTemporaryDirectory();
  try {
    const content = await buildPush(plan, plan.selection.backend, workspace);
    const uploaded = await uploadPush(plan, content, workspace, host);
    const deployed = await deployPush(plan, uploaded, host);
    const settled = deployed && options.wait ? await waitForPush(plan, uploaded, deployed, host) : deployed;
    return pushResult(plan, uploaded, settled);
  } finally {
    await workspace.remove();
  }
}

/**
 * Deploys an uploaded bundle when the push has a target; a combined upload has done so already.
 * @throws RuntimeCliError that says which bundle was uploaded and how to deploy it, with `details.bundleId`.
 */
export async function deployPush(
  plan: PushPlan,
  uploaded: UploadedPush,
  host: Host,
): Promise<DeployedPush | undefined> {
  const {targetSlug} = plan.options;
  if (targetSlug === undefined) return undefined;
  const {result} = uploaded;
  if (result.deployment) return {deployment: result.deployment, status: 'queued', raw: undefined};
  const request = async (): Promise<DeployResult> => {
    const open = await openBackend(uploaded.backend, 'deploy', plan.options, host);
    return requestDeploy(open, {bundleId: result.bundleId, targetSlug}, plan.options);
  };
  return afterUpload(plan, uploaded, request, {accepted: false});
}

/**
 * Waits until the deployment of a push has ended.
 * @throws RuntimeCliError that says which bundle was uploaded, with `details.bundleId`; how to deploy it only when the
 * deployment has failed, for one that goes on must not be repeated.
 */
export async function waitForPush(
  plan: PushPlan,
  uploaded: UploadedPush,
  deployed: DeployedPush,
  host: Host,
): Promise<DeployedPush> {
  const options = {...plan.options, backend: uploaded.backend, deployment: deployed.deployment};
  const wait = (): Promise<DeploymentState> => waitForDeployment(options, host);
  const state = await afterUpload(plan, uploaded, wait, {accepted: true});
  return {...deployed, status: state.status};
}

/** What a push resolves to. */
export function pushResult(plan: PushPlan, uploaded: UploadedPush, deployed: DeployedPush | undefined): PushResult {
  const {projectSlug, targetSlug} = plan.options;
  const {backend, bundle, result, unchanged} = uploaded;
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
    deployment: deployed?.deployment,
    status: deployed?.status,
    warnings: [...plan.warnings, ...uploaded.warnings, ...(deployed?.warnings ?? [])],
    matches: result.matches ?? {},
    archive: summarizeArchive(bundle),
    raw: {bundle: result.raw, ...(deployed?.raw === undefined ? {} : {deployment: deployed.raw})},
  };
}

/** What is known of an archive. */
export function summarizeArchive(bundle: BundleContent & PackResult): ArchiveSummary {
  const {format, sha256, contentSha256, size, files} = bundle;
  return {format, sha256, contentSha256, size, files: files.length};
}

/**
 * Runs what follows an upload: its failure, or an interruption, must not hide that the bundle is there.
 * @param accepted Whether the deployment was accepted already.
 */
async function afterUpload<Result>(
  plan: PushPlan,
  uploaded: UploadedPush,
  run: () => Promise<Result>,
  {accepted}: {readonly accepted: boolean},
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const interrupted = isRuntimeCliError(error) && error.code === 'ERR_INTERRUPTED';
    // A caller's own reason for an abort is passed on as it is.
    if (!isRuntimeCliError(error) || (plan.options.signal?.aborted && !interrupted)) throw error;
    const {projectSlug, targetSlug = ''} = plan.options;
    const id = String(uploaded.result.bundleId);
    const details = {bundleId: uploaded.result.bundleId};
    if (accepted && !interrupted && error.code !== 'ERR_DEPLOYMENT_FAILED') {
      throw amendError(error, {message: `bundle ${id} was uploaded, and ${error.message}`, details});
    }
    const requested = error.details?.['deploymentRequested'] !== false;
    const deployment = requested ? `, and its deployment to ${targetSlug} may go on` : '';
    throw amendError(error, {
      message: interrupted
        ? `${error.message} Bundle ${id} was uploaded${deployment}`
        : `bundle ${id} was uploaded, deploying it to ${targetSlug} failed: ${error.message}`,
      suggestions: [
        commandLine(
          ...['bundle:deploy', id, '--project', projectSlug, '--target', targetSlug],
          ...['--runtime-backend', uploaded.backend],
        ),
      ],
      details,
    });
  }
}
