import type {BackendCapability, BundleId, DeploymentState} from '../backends/contract.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {requireCapability} from '../operations/call-backend.js';
import {chooseCapable, openNamed, withOtherBackend, type ChosenBackend} from '../operations/choose-backend.js';
import {
  followUpCapabilities,
  planRelease,
  verifyPromotion,
  type AcceptedDeployment,
  type Release,
} from '../operations/deploy/release.js';
import {describeRollback, planRollback} from '../operations/deploy/rollback-bundle.js';
import {explainUnfinished} from '../operations/deploy/rollback-on-failure.js';
import {
  startDeployment,
  waitForAccepted,
  type DeployedBundle,
  type FoundBundle,
} from '../operations/deploy/start-deployment.js';
import {pollDeployment as waitFor} from '../operations/deploy/wait-for-deployment.js';
import {changeRules} from '../operations/guard/guards.js';
import type {RunHost} from '../operations/host.js';
import {idFor, namingCapabilities} from '../operations/list-bundles.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {
  DeployBundleOptions,
  DeployBundleResult,
  PromoteBundleOptions,
  PromoteBundleResult,
  RollbackBundleOptions,
  RollbackBundleResult,
  TargetOptions,
  WaitForDeploymentOptions,
} from '../operations/options.js';
import {findRunning} from '../operations/targets/find-targets.js';
import {oneLine} from '../text/sentence.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {Pipeline} from './run.js';
import {runGuarded, withFollowUpSteps} from './steps.js';

/**
 * Checks the guards of the target of a bundle of the service, deploys it, waits, checks and rolls back.
 * @param known the bundle, if it need not be found
 */
async function runDeployment(
  finding: Pipeline<FoundBundle>,
  release: Release,
  known?: BundleId,
): Promise<Served<DeployBundleResult>> {
  const {operation, targetSlug} = release;
  try {
    const deployed = await runGuarded(finding, release, (found, checked) => {
      const {bundleId} = checked ?? {bundleId: known};
      const title = bundleId === undefined ? `Deploy to ${targetSlug}` : `Deploy ${String(bundleId)} to ${targetSlug}`;
      const requested = found.change('deploy', title, async (bundle, {outlet}) => {
        const accepted = await startDeployment(bundle);
        const {from} = bundle;
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
  const {open, release, bundleId, url, deployment, status, raw, check} = deployed;
  const {deploymentId} = deployment;
  return {
    ...open.project,
    bundleId,
    targetSlug: release.targetSlug,
    deploymentId,
    url,
    deployment,
    status,
    warnings,
    raw,
    ...(check && {check}),
  };
}

/** Chooses a backend that is capable of a release, and of what follows it. */
async function chooseForRelease(
  options: TargetOptions,
  release: Release,
  capabilities: readonly BackendCapability[],
  run: RunHost,
) {
  const needed = [...capabilities, ...followUpCapabilities(release)];
  return {...(await chooseCapable({...options, wait: release.wait}, needed, run)), release};
}

export async function deployBundle(
  options: DeployBundleOptions,
  host: PipelineHost,
): Promise<Served<DeployBundleResult>> {
  const release = planRelease('deploy', options, host);
  const {bundleId} = options;
  const finding = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => ({
    ...(await chooseForRelease(options, release, ['deploy', ...namingCapabilities(bundleId)], run)),
    bundleId,
  }));
  return runDeployment(finding, release, bundleId);
}

/** Adds the step that finds the bundle to deploy. */
function withFindStep(
  chosen: Pipeline<ChosenBackend & {readonly release: Release}>,
  title: string,
  find: (open: OpenBackend) => Promise<DeployedBundle>,
): Pipeline<FoundBundle> {
  return chosen.step('find', title, async (backend) => {
    try {
      return {...backend, ...(await find(backend.open))};
    } catch (error) {
      throw withOtherBackend(error, backend.fallback?.backend.name);
    }
  });
}

const deletedAdvice = 'That bundle has been deleted. To go back to another bundle, pass --to ID.';

export async function rollbackBundle(
  {to, ...options}: RollbackBundleOptions,
  host: PipelineHost,
): Promise<Served<RollbackBundleResult>> {
  const {targetSlug, guard} = options;
  const release = planRelease('rollback', {...options, guard: changeRules(guard)}, host);
  const naming = to === undefined ? (['history'] as const) : namingCapabilities(to);
  const choosing = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => {
    const chosen = await chooseForRelease(options, release, ['deploy', ...naming], run);
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
    return {bundleId: plan.bundleId};
  });
  try {
    const {open, result} = await runDeployment(finding, release);
    return {open, result: {...result, rolledBackFrom}};
  } catch (error) {
    const isGone = to === undefined && isRuntimeCliError(error) && error.code === 'ERR_BUNDLE_UNKNOWN';
    throw isGone ? amendError(error, {suggestions: [deletedAdvice]}) : error;
  }
}

export async function promoteBundle(
  {from, ...options}: PromoteBundleOptions,
  host: PipelineHost,
): Promise<Served<PromoteBundleResult>> {
  const release = planRelease('promote', options, host);
  verifyPromotion(from, options.targetSlug);
  const choosing = Pipeline.start(host).step('resolve', 'Prepare', async (_, run) => {
    const chosen = await chooseForRelease(options, release, ['history'], run);
    const {backend} = chosen.open;
    if (!backend.promote) requireCapability(backend, 'deploy');
    return chosen;
  });
  const finding = withFindStep(choosing, `Find the bundle that ${from} runs`, async (open) => {
    const {bundleId, message} = await findRunning(open, from);
    const described = message === undefined ? '' : ` "${oneLine(message)}"`;
    open.host.outlet.title(`${from} runs bundle ${String(bundleId)}${described}`);
    return {bundleId, from};
  });
  const {open, result} = await runDeployment(finding, release);
  return {open, result: {...result, promotedFrom: from}};
}

export function waitForDeployment(options: WaitForDeploymentOptions, host: PipelineHost): Promise<DeploymentState> {
  return Pipeline.start(host)
    .step('wait', 'Wait for the deployment', async (_, run) =>
      waitFor(await openNamed(options.backend, options, run), options.deployment),
    )
    .run();
}
