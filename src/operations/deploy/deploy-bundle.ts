import type {BundleId, DeployResult} from '../../backends/contract.js';
import {
  deployFallbackReason,
  fallbackWarning,
  type BackendSelection,
  type RuntimeBackend,
} from '../../backends/select.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {flagValue} from '../../errors/suggest.js';
import {withOtherBackend, chooseBackend, openBackend, invoke, verifySlugs, type OpenBackend} from '../open-backend.js';
import {explainMissingBundle, namingCapabilities, resolveBundleId} from '../list.js';
import type {DeployBundleOptions, DeployBundleResult, CommonOptions, SlotOptions, WaitOptions} from '../options.js';
import {
  callBack,
  callBackSafely,
  resolveBackend,
  resolveStep,
  waitStep,
  warnAll,
  watched,
  type Host,
  type StepView,
} from '../steps.js';
import {findTargetUrl} from '../targets.js';
import {inTargetSlot} from './target-slot.js';
import {withLastLines} from './read-logs.js';
import {waitForDeployment, deploymentFailed} from './wait-for-deployment.js';

/** A deployment of a bundle, and the operation that it is part of. */
interface DeploymentRequest extends DeployBundleOptions {
  readonly operation: 'deploy' | 'rollback';
}

/** A deployment that was accepted. */
export interface AcceptedDeployment {
  readonly backend: RuntimeBackend;
  readonly bundleId: BundleId;
  readonly result: DeployResult;
  readonly warnings: readonly string[];
}

/**
 * Deploys an uploaded bundle, or the latest one, to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function deployBundle(options: DeployBundleOptions, host: Host): Promise<DeployBundleResult> {
  const {bundleId, targetSlug, wait} = options;
  const steps = [
    resolveStep,
    {name: 'deploy', title: `Deploy ${String(bundleId)} to ${targetSlug}`},
    ...(wait ? [waitStep] : []),
  ] as const;
  return host.runSteps(steps, async (step) => {
    const selection = await step('resolve', (view) => resolveBackend(view, () => chooseDeployBackend(options, host)));
    const accepted = await step('deploy', (view) =>
      requestDeployment({...options, operation: 'deploy'}, selection, host, view),
    );
    const settled = wait ? await step('wait', (view) => waitForAccepted(options, accepted, host, view)) : accepted;
    return deployResult(options, settled, host);
  });
}

/** Verifies a deployment and chooses its backend. Sends nothing. */
async function chooseDeployBackend(options: DeployBundleOptions, host: Host): Promise<BackendSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  const capabilities = [
    'deploy',
    ...(options.wait ? ['wait' as const] : []),
    ...namingCapabilities(options.bundleId),
  ] as const;
  return chooseBackend(options.preference, options, capabilities, host);
}

/**
 * Requests the deployment. With `auto`, only `latest` falls back from Api to legacy (on 401, 403 and `invalid_scope`),
 * because the backend that deploys resolves it, and reports it before the request. IDs never cross backends.
 */
export async function requestDeployment(
  options: DeploymentRequest,
  selection: BackendSelection,
  host: Host,
  view: StepView,
): Promise<AcceptedDeployment> {
  const accepted = await deployOrFallBack(options, selection, host, view);
  const {deployment, status} = accepted.result;
  host.writes?.learn({deployment, status});
  view.done(`Deployment of bundle ${String(accepted.bundleId)} to ${options.targetSlug} accepted`);
  warnAll(view, accepted.warnings);
  return accepted;
}

async function deployOrFallBack(
  options: DeploymentRequest,
  selection: BackendSelection,
  host: Host,
  view: StepView,
): Promise<AcceptedDeployment> {
  const {fellBack} = selection;
  if (fellBack !== undefined) await callBack(() => options.onFallback?.(fellBack));
  await callBack(() => options.onResolve?.(selection.backend));
  try {
    const accepted = await deployWith(selection.backend, options, host, view);
    if (fellBack === undefined) return accepted;
    return {...accepted, warnings: [fallbackWarning(fellBack), ...accepted.warnings]};
  } catch (error) {
    const {fallback} = selection;
    if (options.bundleId !== 'latest') {
      const {bundleId, projectSlug, targetSlug} = options;
      const command = [
        'bundle:deploy',
        bundleId,
        ...flagValue('--project', projectSlug),
        ...flagValue('--target', targetSlug),
      ];
      throw withOtherBackend(error, fallback, command);
    }
    const reason = deployFallbackReason(error);
    if (fallback === undefined || reason === undefined) throw error;
    view.detail(`Falling back to the legacy backend: ${reason}`);
    callBackSafely(() => options.onFallback?.(reason));
    callBackSafely(() => options.onResolve?.(fallback));
    const accepted = await deployWith(fallback, options, host, view);
    return {...accepted, warnings: [fallbackWarning(reason), ...accepted.warnings]};
  }
}

/** Waits for an accepted deployment to end. */
export async function waitForAccepted(
  options: DeployBundleOptions,
  accepted: AcceptedDeployment,
  host: Host,
  view: StepView,
): Promise<AcceptedDeployment> {
  const {deployment} = accepted.result;
  const waiting = waitForDeployment({...watched(options, view), backend: accepted.backend, deployment}, host);
  const {status, url = accepted.result.url} = await waiting.catch((error: unknown) => {
    throw isRuntimeCliError(error) ? amendError(error, {details: {bundleId: accepted.bundleId}}) : error;
  });
  view.done(`Deployed to ${options.targetSlug}`);
  return {...accepted, result: {...accepted.result, status, url}};
}

/** What a deployment resolves to, accepted or ended. */
export async function deployResult(
  options: DeployBundleOptions,
  {backend, bundleId, result, warnings}: AcceptedDeployment,
  host: Host,
): Promise<DeployBundleResult> {
  const {projectSlug, targetSlug} = options;
  const {deployment, status, raw} = result;
  const url = await findTargetUrl({...options, backend, reported: [result.url]}, host);
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
  view: StepView,
): Promise<AcceptedDeployment> {
  const shown = watched(options, view);
  const open = await openBackend(name, 'deploy', shown, host);
  const bundleId = await resolveBundleId(open, options.bundleId, options);
  if (options.bundleId === 'latest') view.detail(`Latest bundle: ${String(bundleId)}`);
  const {operation, projectSlug, targetSlug} = options;
  await host.writes?.before({operation, backend: name, projectSlug, targetSlug, bundleIds: [bundleId]});
  const result = await requestDeploy(open, {bundleId, targetSlug}, shown);
  return {backend: name, bundleId, result, warnings: result.warnings ?? []};
}

/**
 * Requests a deployment from a backend once the target is free: with `from`, a promotion if the backend has its own.
 * Progress is that of the request that is accepted.
 * @throws RuntimeCliError when it is refused, or accepted but failed at once; `signal.reason` when aborted.
 */
export async function requestDeploy(
  open: OpenBackend,
  {from, ...request}: {readonly bundleId: BundleId; readonly targetSlug: string; readonly from?: string | undefined},
  options: SlotOptions & WaitOptions & Pick<CommonOptions, 'onProgress'>,
): Promise<DeployResult> {
  const show = (transferred: number) => {
    callBackSafely(() => options.onProgress?.({phase: 'deploy', transferred, total: 1}));
  };
  show(0);
  const send = () =>
    from !== undefined && open.backend.promote
      ? invoke(open, 'promote', {bundleId: request.bundleId, from, to: request.targetSlug})
      : invoke(open, 'deploy', request);
  const result = await inTargetSlot(open, request.targetSlug, options, send).catch(async (error: unknown) => {
    throw await explainMissingBundle(error, open, request.bundleId);
  });
  show(1);
  const {deployment} = result;
  if (result.status === 'failed') throw await withLastLines(deploymentFailed(deployment, result), open, deployment);
  return result;
}
