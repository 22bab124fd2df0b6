import type {BundleId, DeploymentState} from '../backends/contract.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {requireCapability} from '../operations/call-backend.js';
import {chooseCapable, registryOf, withOtherBackend, type ChosenBackend} from '../operations/choose-backend.js';
import {
  followUpCapabilities,
  releaseOf,
  verifyPromotion,
  verifyRelease,
  type AcceptedDeployment,
  type Release,
} from '../operations/deploy/release.js';
import {describeRollback, planRollback} from '../operations/deploy/rollback-bundle.js';
import {explainUnfinished} from '../operations/deploy/rollback-on-failure.js';
import {startDeployment, waitForAccepted} from '../operations/deploy/start-deployment.js';
import {waitForDeployment as waitFor} from '../operations/deploy/wait-for-deployment.js';
import {changeRules} from '../operations/guard/guards.js';
import {idFor, namingCapabilities} from '../operations/list.js';
import {openBackend, type OpenBackend} from '../operations/open-backend.js';
import type {
  DeployBundleOptions,
  DeployBundleResult,
  PromoteBundleOptions,
  PromoteBundleResult,
  RollbackBundleOptions,
  RollbackBundleResult,
  WaitForDeploymentOptions,
} from '../operations/options.js';
import {findRunning} from '../operations/targets.js';
import {oneLine} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {Pipeline} from './run.js';
import {runGuarded, withFollowUpSteps} from './steps.js';

/** The bundle to deploy, and the backend that has it. */
interface FoundBundle extends ChosenBackend {
  readonly bundleId: BundleId;
}

/** What is known of a bundle before it is found. */
interface SoughtBundle {
  readonly bundleId?: BundleId;
  /** The target that runs it, for a promotion. */
  readonly from?: string;
}

/** Checks the guards of the target of a bundle of the service, deploys it, waits, checks and rolls back. */
export async function runDeployment(
  finding: Pipeline<FoundBundle>,
  release: Release,
  {from, ...sought}: SoughtBundle,
): Promise<Served<DeployBundleResult>> {
  const {operation, targetSlug} = release;
  try {
    const deployed = await runGuarded(finding, release, (found, checked) => {
      const {bundleId} = checked ?? sought;
      const title = bundleId === undefined ? `Deploy to ${targetSlug}` : `Deploy ${String(bundleId)} to ${targetSlug}`;
      const requested = found.step('deploy', title, async (chosen, {outlet}) => {
        const accepted = await startDeployment(chosen, release, {bundleId: chosen.bundleId, from});
        const what = operation === 'promote' ? 'Promotion' : 'Deployment';
        const route = from === undefined ? `to ${targetSlug}` : `from ${from} to ${targetSlug}`;
        outlet.title(`${what} of bundle ${String(accepted.bundleId)} ${route} accepted`);
        return accepted;
      });
      return withFollowUpSteps(requested, release, waitForAccepted);
    });
    return {open: deployed.open, result: deploymentResult(deployed, finding.warnings)};
  } catch (error) {
    throw explainUnfinished(error, release);
  }
}

function deploymentResult(deployed: AcceptedDeployment, warnings: readonly string[]): DeployBundleResult {
  const {open, bundleId, targetSlug, url, deployment, status, raw, check} = deployed;
  const {backendName, projectSlug} = open;
  const {deploymentId} = deployment;
  return {
    backend: backendName,
    bundleId,
    projectSlug,
    targetSlug,
    deploymentId,
    url,
    deployment,
    status,
    warnings,
    raw,
    ...(check && {check}),
  };
}

export async function deployBundle(
  options: DeployBundleOptions,
  host: PipelineHost,
): Promise<Served<DeployBundleResult>> {
  const verified = verifyRelease('deploy', options, host);
  const {bundleId} = verified;
  const capabilities = ['deploy', ...namingCapabilities(bundleId), ...followUpCapabilities(verified)] as const;
  const finding = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => ({
    ...(await chooseCapable(verified, capabilities, run)),
    bundleId,
  }));
  return runDeployment(finding, releaseOf('deploy', verified), {bundleId});
}

/** Adds the step that finds the bundle to deploy. */
function withFindStep(
  chosen: Pipeline<ChosenBackend>,
  title: string,
  find: (open: OpenBackend) => Promise<BundleId>,
): Pipeline<FoundBundle> {
  return chosen.step('find', title, async (backend) => {
    try {
      return {...backend, bundleId: await find(backend.open)};
    } catch (error) {
      throw withOtherBackend(error, backend.fallback?.backend.name);
    }
  });
}

const deletedAdvice = 'That bundle has been deleted. To go back to another bundle, pass --to ID.';

export async function rollbackBundle(
  options: RollbackBundleOptions,
  host: PipelineHost,
): Promise<Served<RollbackBundleResult>> {
  const {to, ...verified} = verifyRelease('rollback', options, host);
  const {targetSlug, guard} = verified;
  const release = releaseOf('rollback', {...verified, guard: changeRules(guard), rollbackOnFailure: false});
  const naming = to === undefined ? (['history'] as const) : namingCapabilities(to);
  const choosing = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => {
    const chosen = await chooseCapable(verified, ['deploy', ...followUpCapabilities(verified), ...naming], run);
    if (to !== undefined && to !== 'latest') idFor(chosen.open.backend, to);
    return chosen;
  });
  let rolledBackFrom: BundleId | undefined;
  const finding = withFindStep(choosing, 'Find the bundle to roll back to', async (open) => {
    const {outlet} = open.host;
    const plan = await planRollback(open, targetSlug, to);
    outlet.title(`Rolling back to ${describeRollback(plan)}`);
    plan.warnings.forEach((warning) => outlet.warn(warning));
    rolledBackFrom = plan.current?.bundleId;
    return plan.bundleId;
  });
  try {
    const {open, result} = await runDeployment(finding, release, {});
    return {open, result: {...result, rolledBackFrom}};
  } catch (error) {
    const isGone = to === undefined && isRuntimeCliError(error) && error.code === 'ERR_BUNDLE_UNKNOWN';
    throw isGone ? amendError(error, {suggestions: [deletedAdvice]}) : error;
  }
}

export async function promoteBundle(
  options: PromoteBundleOptions,
  host: PipelineHost,
): Promise<Served<PromoteBundleResult>> {
  const {from, ...verified} = verifyRelease('promote', options, host);
  verifyPromotion(from, verified.targetSlug);
  const choosing = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => {
    const chosen = await chooseCapable(verified, ['history', ...followUpCapabilities(verified)], run);
    const {backend} = chosen.open;
    if (!backend.promote) requireCapability(backend, 'deploy');
    return chosen;
  });
  const finding = withFindStep(choosing, `Find the bundle that ${from} runs`, async (open) => {
    const {bundleId, message} = await findRunning(open, from);
    const described = message === undefined ? '' : ` "${oneLine(message)}"`;
    open.host.outlet.title(`${from} runs bundle ${String(bundleId)}${described}`);
    return bundleId;
  });
  const {open, result} = await runDeployment(finding, releaseOf('promote', verified), {from});
  return {open, result: {...result, promotedFrom: from}};
}

export function waitForDeployment(options: WaitForDeploymentOptions, host: PipelineHost): Promise<DeploymentState> {
  return Pipeline.start(host)
    .step('wait', 'Wait for the deployment', async (_, run) => {
      const backend = registryOf(options).get(options.backend);
      return waitFor(await openBackend(backend, options, run, options.backend), options.deployment);
    })
    .run();
}
