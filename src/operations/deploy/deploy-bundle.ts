import {shownUrl} from '../../backends/answers.js';
import type {BundleId, DeployResult} from '../../backends/contract.js';
import {
  deployFallbackReason,
  failedTwice,
  fallbackWarning,
  type BackendSelection,
  type RuntimeBackend,
} from '../../backends/select.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {placeFlags} from '../../errors/suggest.js';
import {openBackend} from '../open-backend.js';
import {chooseCapable, withOtherBackend} from '../choose-backend.js';
import {namingCapabilities, resolveBundleId} from '../list.js';
import type {DeployBundleOptions, DeployBundleResult} from '../options.js';
import {callBack, callBackSafely, type Host} from '../host.js';
import {followUpCapabilities, requireTargetUrl} from './check-deployment.js';
import {requestDeploy, type DeploymentWatch} from './request-deploy.js';
import {waitForDeployment} from './wait-for-deployment.js';

/** A deployment of a bundle, and the operation that it is part of. */
interface DeploymentRequest extends DeployBundleOptions {
  readonly operation: 'deploy' | 'rollback';
  readonly watch?: DeploymentWatch | undefined;
}

/** A deployment that was accepted. */
export interface AcceptedDeployment {
  readonly backend: RuntimeBackend;
  readonly bundleId: BundleId;
  readonly result: DeployResult;
  readonly warnings: readonly string[];
}

/** Verifies a deployment and chooses its backend. Sends nothing. */
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
  selection: BackendSelection,
  host: Host,
  note: (line: string) => void,
): Promise<AcceptedDeployment> {
  const accepted = await deployOrFallBack(options, selection, host, note);
  const {deployment, status} = accepted.result;
  host.writes?.learn({deployment, status});
  return accepted;
}

async function deployOrFallBack(
  options: DeploymentRequest,
  selection: BackendSelection,
  host: Host,
  note: (line: string) => void,
): Promise<AcceptedDeployment> {
  const {fellBack} = selection;
  if (fellBack !== undefined) await callBack(() => options.onFallback?.(fellBack));
  await callBack(() => options.onResolve?.(selection.backend));
  try {
    const accepted = await deployWith(selection.backend, options, host, note);
    if (fellBack === undefined) return accepted;
    return {...accepted, warnings: [fallbackWarning(fellBack), ...accepted.warnings]};
  } catch (error) {
    const {fallback} = selection;
    if (options.bundleId !== 'latest') {
      const {bundleId, projectSlug, targetSlug} = options;
      const command = ['bundle:deploy', bundleId, ...placeFlags({projectSlug, targetSlug})];
      throw withOtherBackend(error, fallback, command);
    }
    const reason = deployFallbackReason(error);
    if (fallback === undefined || reason === undefined) throw error;
    note(`Falling back to the legacy backend: ${reason}`);
    callBackSafely(() => options.onFallback?.(reason));
    callBackSafely(() => options.onResolve?.(fallback));
    const accepted = await deployWith(fallback, options, host, note).catch((second: unknown) => {
      throw failedTwice(error, second);
    });
    return {...accepted, warnings: [fallbackWarning(reason), ...accepted.warnings]};
  }
}

/** Waits for an accepted deployment to end. */
export async function waitForAccepted(
  options: Omit<DeployBundleOptions, 'bundleId'>,
  accepted: AcceptedDeployment,
  host: Host,
): Promise<AcceptedDeployment> {
  const {deployment} = accepted.result;
  const waiting = waitForDeployment({...options, backend: accepted.backend, deployment}, host);
  const {status, url = accepted.result.url} = await waiting.catch((error: unknown) => {
    throw isRuntimeCliError(error) ? amendError(error, {details: {bundleId: accepted.bundleId}}) : error;
  });
  return {...accepted, result: {...accepted.result, status, url}};
}

/** What a deployment resolves to, accepted or ended. */
export function deployResult(
  options: Omit<DeployBundleOptions, 'bundleId'>,
  {backend, bundleId, result, warnings}: AcceptedDeployment,
  host: Host,
): DeployBundleResult {
  const {projectSlug, targetSlug} = options;
  const {deployment, status, raw} = result;
  const url = shownUrl(result.url);
  host.writes?.learn({status, url});
  return {
    backend,
    bundleId,
    projectSlug,
    targetSlug,
    deploymentId: deployment.deploymentId,
    url,
    deployment,
    status,
    warnings,
    raw,
  };
}

async function deployWith(
  name: RuntimeBackend,
  options: DeploymentRequest,
  host: Host,
  note: (line: string) => void,
): Promise<AcceptedDeployment> {
  const open = await openBackend(name, options, host);
  const bundleId = await resolveBundleId(open, options.bundleId, options);
  if (options.bundleId === 'latest') note(`Latest bundle: ${String(bundleId)}`);
  const {operation, projectSlug, targetSlug} = options;
  await requireTargetUrl(open, options);
  await host.writes?.before({operation, backend: name, projectSlug, targetSlug, bundleIds: [bundleId]});
  const result = await requestDeploy(open, {bundleId, targetSlug}, options);
  return {backend: name, bundleId, result, warnings: result.warnings ?? []};
}
