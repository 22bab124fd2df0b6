import type {
  BundleId,
  DeployOperation,
  DeployResult,
  DeploymentRef,
  DeploymentStatus,
} from '../../backends/contract.js';
import {shownUrl} from '../../backends/answers.js';
import {deployFallbackReason} from '../../backends/select.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {invoke} from '../call-backend.js';
import {chooseCapable, withOtherBackend, type ChosenBackend} from '../choose-backend.js';
import {withFallback} from '../fall-back.js';
import type {RunHost} from '../host.js';
import {explainMissingBundle, namingCapabilities, resolveBundleId} from '../list.js';
import type {OpenBackend} from '../open-backend.js';
import type {CheckOutcome, DeployBundleOptions, DeploymentOptions, WaitOptions} from '../options.js';
import type {Outlet, DataOf} from '../outlet.js';
import {followUpCapabilities, requireTargetUrl} from './check-deployment.js';
import {withLastLines} from './read-logs.js';
import {inTargetSlot} from './target-slot.js';
import {deploymentFailed, waitForDeployment} from './wait-for-deployment.js';

/** A deployment to request, and the operation that it is part of. */
export interface DeploymentRequest {
  readonly operation: Exclude<DeployOperation, 'push'>;
  readonly bundleId: BundleId;
  readonly targetSlug: string;
  /** The target that runs the bundle, for a promotion. */
  readonly from?: string | undefined;
  readonly watch?: DeploymentWatch | undefined;
}

/** A deployment that a backend has accepted. */
export interface AcceptedDeployment {
  readonly open: OpenBackend;
  readonly bundleId: BundleId;
  readonly targetSlug: string;
  readonly deployment: DeploymentRef;
  /** At the last look. */
  readonly status: DeploymentStatus;
  /** http(s) URL of the target. */
  readonly url?: string | undefined;
  /** The backend's own answer. */
  readonly raw?: unknown;
  readonly check?: CheckOutcome | undefined;
}

export async function chooseDeployBackend(options: DataOf<DeployBundleOptions>, host: RunHost): Promise<ChosenBackend> {
  const capabilities = ['deploy', ...followUpCapabilities(options), ...namingCapabilities(options.bundleId)] as const;
  return chooseCapable(options, capabilities, host);
}

/**
 * Requests the deployment. With `auto`, only `latest` falls back from Api to legacy (on 401, 403 and `invalid_scope`),
 * because the backend that deploys resolves it, and reports it before the request. IDs never cross backends.
 */
export async function requestDeployment(
  chosen: ChosenBackend,
  request: DeploymentRequest,
  options: DeploymentOptions,
  host: RunHost,
): Promise<AcceptedDeployment> {
  const deployWith = (open: OpenBackend) => deploy(open, request, options, host);
  const reasonFor = (error: unknown) => {
    if (request.bundleId !== 'latest') throw withOtherBackend(error, chosen.fallback?.backend.name);
    return deployFallbackReason(error);
  };
  return withFallback(chosen, {reasonFor, first: deployWith, second: deployWith}, host.outlet);
}

async function deploy(
  open: OpenBackend,
  request: DeploymentRequest,
  options: DeploymentOptions,
  host: RunHost,
): Promise<AcceptedDeployment> {
  const {operation, targetSlug} = request;
  const {backendName: backend, projectSlug} = open;
  const bundleId = await resolveBundleId(open, request.bundleId);
  if (request.bundleId === 'latest') host.outlet.note(`Latest bundle: ${String(bundleId)}`);
  await requireTargetUrl(open, targetSlug, options);
  await host.writes?.before({operation, backend, projectSlug, targetSlug, bundleIds: [bundleId]});
  const accepted = await requestDeploy(open, {...request, bundleId}, options, host.outlet);
  const {deployment, status, warnings = [], raw} = accepted;
  const url = shownUrl(accepted.url);
  host.writes?.learn({deployment, status, url});
  warnings.forEach((warning) => host.outlet.warn(warning));
  return {open, bundleId, targetSlug, deployment, status, url, raw};
}

/** Waits for an accepted deployment to end. */
export async function waitForAccepted<Accepted extends AcceptedDeployment>(
  accepted: Accepted,
  options: WaitOptions,
  host: RunHost,
): Promise<Accepted> {
  const {open, bundleId, deployment} = accepted;
  const state = await waitForDeployment(open, deployment, options, host.outlet).catch((error: unknown) => {
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

/**
 * Requests a deployment from a backend once the target is free: with `from`, a promotion if the backend has its own.
 */
export async function requestDeploy(
  open: OpenBackend,
  {bundleId, targetSlug, from, watch}: Omit<DeploymentRequest, 'operation'>,
  options: DeploymentOptions,
  outlet: Outlet,
): Promise<DeployResult> {
  const send = async () => {
    await watch?.look(open);
    return from !== undefined && open.backend.promote
      ? invoke(open, 'promote', {bundleId, from, to: targetSlug})
      : invoke(open, 'deploy', {bundleId, targetSlug});
  };
  const result = await inTargetSlot(open, targetSlug, options, outlet, send).catch(async (error: unknown) => {
    throw await explainMissingBundle(error, open, bundleId);
  });
  const {deployment} = result;
  watch?.note({bundleId, deployment});
  if (result.status === 'failed')
    throw await withLastLines(deploymentFailed(deployment, result, open.backend), open, deployment);
  return result;
}
