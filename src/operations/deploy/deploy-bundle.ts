import type {BundleId, DeployOperation, DeployResult, DeploymentRef} from '../../backends/contract.js';
import {shownUrl} from '../../backends/answers.js';
import type {RuntimeBackend} from '../../backends/names.js';
import {deployFallbackReason, failedTwice, fallbackWarning, type BackendSelection} from '../../backends/select.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {invoke, openBackend, type OpenBackend} from '../open-backend.js';
import {chooseCapable, withOtherBackend} from '../choose-backend.js';
import {explainMissingBundle, namingCapabilities, resolveBundleId} from '../list.js';
import type {CommonOptions, DeployBundleOptions, DeployBundleResult, DeploymentOptions} from '../options.js';
import {callBack, callBackSafely, type Host} from '../host.js';
import {followUpCapabilities, requireTargetUrl} from './check-deployment.js';
import {withLastLines} from './read-logs.js';
import {inTargetSlot} from './target-slot.js';
import {deploymentFailed, waitForDeployment} from './wait-for-deployment.js';

/** A deployment of a bundle, and the operation that it is part of. */
export interface DeploymentRequest extends DeployBundleOptions {
  readonly operation: Exclude<DeployOperation, 'push'>;
  /** The target that runs the bundle, for a promotion. */
  readonly from?: string | undefined;
  readonly watch?: DeploymentWatch | undefined;
}

export async function chooseDeployBackend(options: DeployBundleOptions, host: Host): Promise<BackendSelection> {
  const capabilities = ['deploy', ...followUpCapabilities(options), ...namingCapabilities(options.bundleId)] as const;
  return chooseCapable(options, capabilities, host);
}

/**
 * Requests the deployment. With `auto`, only `latest` falls back from Api to legacy (on 401, 403 and `invalid_scope`),
 * because the backend that deploys resolves it, and reports it before the request. IDs never cross backends.
 * @param note shows a line to users
 */
export async function requestDeployment(
  options: DeploymentRequest,
  {backend, fellBack, fallback}: BackendSelection,
  host: Host,
  note: (line: string) => void,
): Promise<DeployBundleResult> {
  if (fellBack !== undefined) await callBack(() => options.onFallback?.(fellBack));
  await callBack(() => options.onResolve?.(backend));
  const deployWith = async (name: RuntimeBackend, why: string | undefined) => {
    const accepted = await deploy(name, options, host, note);
    return why === undefined ? accepted : {...accepted, warnings: [fallbackWarning(why), ...accepted.warnings]};
  };
  try {
    return await deployWith(backend, fellBack);
  } catch (error) {
    if (options.bundleId !== 'latest') throw withOtherBackend(error, fallback);
    const reason = deployFallbackReason(error);
    if (fallback === undefined || reason === undefined) throw error;
    note(`Falling back to the Runtime (API key) backend: ${reason}`);
    callBackSafely(() => options.onFallback?.(reason));
    callBackSafely(() => options.onResolve?.(fallback));
    return deployWith(fallback, reason).catch((second: unknown) => {
      throw failedTwice(error, second);
    });
  }
}

async function deploy(
  backend: RuntimeBackend,
  options: DeploymentRequest,
  host: Host,
  note: (line: string) => void,
): Promise<DeployBundleResult> {
  const {operation, projectSlug, targetSlug, from} = options;
  const open = await openBackend(backend, options, host);
  const bundleId = await resolveBundleId(open, options.bundleId, options);
  if (options.bundleId === 'latest') note(`Latest bundle: ${String(bundleId)}`);
  await requireTargetUrl(open, options);
  await host.writes?.before({operation, backend, projectSlug, targetSlug, bundleIds: [bundleId]});
  const accepted = await requestDeploy(open, {bundleId, targetSlug, from}, options);
  const {deployment, status, warnings = [], raw} = accepted;
  const url = shownUrl(accepted.url);
  const {deploymentId} = deployment;
  host.writes?.learn({deployment, status, url});
  return {backend, bundleId, projectSlug, targetSlug, deploymentId, url, deployment, status, warnings, raw};
}

/** Waits for an accepted deployment to end. */
export async function waitForAccepted(
  options: Omit<DeployBundleOptions, 'bundleId'>,
  accepted: DeployBundleResult,
  host: Host,
): Promise<DeployBundleResult> {
  const {backend, bundleId, deployment} = accepted;
  const waiting = waitForDeployment({...options, backend, deployment}, host);
  const state = await waiting.catch((error: unknown) => {
    throw isRuntimeCliError(error) ? amendError(error, {details: {bundleId}}) : error;
  });
  const {status} = state;
  const url = shownUrl(state.url) ?? accepted.url;
  host.writes?.learn({status, url});
  return {...accepted, status, url};
}

/** Follows a deployment of ours while it is made. */
export interface DeploymentWatch {
  /**
   * Called right before each request that starts it.
   * @throws RuntimeCliError if it must not start.
   */
  look(open: OpenBackend): Promise<void>;
  /** Called when it was accepted, even if it has failed already. */
  note(accepted: {readonly bundleId: BundleId; readonly deployment: DeploymentRef}): void;
}

type RequestOptions = DeploymentOptions &
  Pick<CommonOptions, 'onProgress'> & {readonly watch?: DeploymentWatch | undefined};

/**
 * Requests a deployment from a backend once the target is free: with `from`, a promotion if the backend has its own.
 */
export async function requestDeploy(
  open: OpenBackend,
  {
    bundleId,
    targetSlug,
    from,
  }: {readonly bundleId: BundleId; readonly targetSlug: string; readonly from?: string | undefined},
  options: RequestOptions,
): Promise<DeployResult> {
  const {watch} = options;
  const send = async () => {
    await watch?.look(open);
    return from !== undefined && open.backend.promote
      ? invoke(open, 'promote', {bundleId, from, to: targetSlug})
      : invoke(open, 'deploy', {bundleId, targetSlug});
  };
  const result = await inTargetSlot(open, targetSlug, options, send).catch(async (error: unknown) => {
    throw await explainMissingBundle(error, open, bundleId);
  });
  const {deployment} = result;
  watch?.note({bundleId, deployment});
  if (result.status === 'failed') throw await withLastLines(deploymentFailed(deployment, result), open, deployment);
  return result;
}
