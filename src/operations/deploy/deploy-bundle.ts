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
import {flagValue} from '../../errors/suggest.js';
import {withOtherBackend, chooseBackend, openBackend, verifySlugs} from '../open-backend.js';
import {namingCapabilities, resolveBundleId} from '../list.js';
import type {DeployBundleOptions, DeployBundleResult} from '../options.js';
import {
  callBack,
  callBackSafely,
  resolveBackend,
  resolveStep,
  warnAll,
  watched,
  type Host,
  type RunStep,
  type StepView,
} from '../steps.js';
import {guardBundle, watchBundle} from '../guard/guard-bundle.js';
import {activeGuards, askForTarget, guardStep} from '../guard/guards.js';
import {refuseUnsafe} from '../guard/safety.js';
import {
  checkDeployment,
  checksOf,
  followUpCapabilities,
  followUpSteps,
  requireTargetUrl,
  withFollowUps,
} from './check-deployment.js';
import {requestDeploy, type DeploymentWatch} from './request-deploy.js';
import {watchForRollback, orRollBack} from './rollback-on-failure.js';
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

/**
 * Deploys an uploaded bundle, or the latest one, to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function deployBundle(given: DeployBundleOptions, host: Host): Promise<DeployBundleResult> {
  const options = withFollowUps(given);
  const {bundleId, targetSlug} = options;
  refuseUnsafe({...options, operation: 'deploy'}, host);
  const guarded = await guardDeploy(options, host);
  const deploy = {...options, bundleId: guarded?.bundleId ?? bundleId};
  const steps = [
    ...(guarded === undefined ? [resolveStep] : []),
    {name: 'deploy', title: `Deploy ${String(deploy.bundleId)} to ${targetSlug}`},
    ...followUpSteps(options),
  ] as const;
  return host.runSteps(steps, async (step) => {
    const choose = () => chooseDeployBackend(options, host);
    const selection = guarded?.selection ?? (await step('resolve', (view) => resolveBackend(view, choose)));
    const watch = watchForRollback(options);
    const place = {operation: 'deploy', projectSlug: options.projectSlug, targetSlug} as const;
    const watching = watchBundle(watch, {...place, bundleId: deploy.bundleId}, options, host);
    return orRollBack({options, watch, host, step}, async () => {
      const accepted = await step('deploy', (view) =>
        requestDeployment({...deploy, operation: 'deploy', watch: watching}, selection, host, view),
      );
      return settleDeployment(deploy, accepted, host, step);
    });
  });
}

/**
 * Checks the guards of a deployment, and has a person confirm it. `latest` is resolved first, so that what is deployed
 * is what was checked. Resolves to undefined if no guard is on.
 */
async function guardDeploy(
  options: DeployBundleOptions,
  host: Host,
): Promise<{readonly selection: BackendSelection; readonly bundleId: BundleId} | undefined> {
  const {projectSlug, targetSlug, guard} = options;
  if (activeGuards(guard).length === 0) return undefined;
  const place = {operation: 'deploy', projectSlug, targetSlug} as const;
  const guarded = await host.runSteps([resolveStep, guardStep(targetSlug)], async (step) => {
    const selection = await step('resolve', (view) => resolveBackend(view, () => chooseDeployBackend(options, host)));
    const bundleId = await step('guard', async (view) => {
      const open = await openBackend(selection.backend, 'deploy', watched(options, view), host);
      const resolved = await resolveBundleId(open, options.bundleId, options);
      await guardBundle({...place, bundleId: resolved}, open, options, host, view);
      return resolved;
    });
    return {selection, bundleId};
  });
  await askForTarget({...place, bundleId: guarded.bundleId}, options);
  return guarded;
}

/** Verifies a deployment and chooses its backend. Sends nothing. */
async function chooseDeployBackend(options: DeployBundleOptions, host: Host): Promise<BackendSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  const capabilities = ['deploy', ...followUpCapabilities(options), ...namingCapabilities(options.bundleId)] as const;
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
    const accepted = await deployWith(fallback, options, host, view).catch((second: unknown) => {
      throw failedTwice(error, second);
    });
    return {...accepted, warnings: [fallbackWarning(reason), ...accepted.warnings]};
  }
}

/** Waits for an accepted deployment and checks it, as the options say. */
export async function settleDeployment(
  options: DeployBundleOptions,
  accepted: AcceptedDeployment,
  host: Host,
  step: RunStep<'wait' | 'check'>,
): Promise<DeployBundleResult> {
  const settled = options.wait
    ? await step('wait', (view) => waitForAccepted(options, accepted, host, view))
    : accepted;
  const result = deployResult(options, settled, host);
  const checks = checksOf(options);
  if (checks.length === 0) return result;
  const check = await step('check', (view) => checkDeployment({...options, ...result}, checks, host, view));
  return {...result, check};
}

/** Waits for an accepted deployment to end. */
async function waitForAccepted(
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
function deployResult(
  options: DeployBundleOptions,
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
  view: StepView,
): Promise<AcceptedDeployment> {
  const shown = watched(options, view);
  const open = await openBackend(name, 'deploy', shown, host);
  const bundleId = await resolveBundleId(open, options.bundleId, options);
  if (options.bundleId === 'latest') view.detail(`Latest bundle: ${String(bundleId)}`);
  const {operation, projectSlug, targetSlug} = options;
  await requireTargetUrl(open, options);
  await host.writes?.before({operation, backend: name, projectSlug, targetSlug, bundleIds: [bundleId]});
  const result = await requestDeploy(open, {bundleId, targetSlug}, shown);
  return {backend: name, bundleId, result, warnings: result.warnings ?? []};
}
