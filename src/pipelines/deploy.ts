import type {BackendCapability, BundleId, DeploymentState} from '../backends/contract.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {requireCapability} from '../operations/call-backend.js';
import {chooseCapable, registryOf, withOtherBackend, type ChosenBackend} from '../operations/choose-backend.js';
import {
  followUpCapabilities,
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
import type {RunHost} from '../operations/host.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {Pipeline} from './run.js';
import {runGuarded, withFollowUpSteps} from './steps.js';

/** What is particular to an operation that deploys a bundle of the service. */
interface Deploying {
  readonly capabilities: readonly BackendCapability[];
  /** Verifies what else the backend must support. */
  readonly verify?: (open: OpenBackend) => void;
  readonly bundle: BundleId | FindStep;
  /** The target that runs the bundle, for a promotion. */
  readonly from?: string;
}

interface FindStep {
  readonly title: string;
  readonly find: (open: OpenBackend) => Promise<BundleId>;
}

/** The bundle to deploy, and the backend that has it. */
interface FoundBundle extends ChosenBackend {
  readonly bundleId: BundleId;
}

/** Finds a bundle of the service, checks the guards of the target, deploys it, waits, checks and rolls back. */
export async function runDeployment(
  release: Release,
  deploying: Deploying,
  host: PipelineHost,
): Promise<Served<DeployBundleResult>> {
  const {operation, targetSlug} = release;
  const {bundle, from} = deploying;
  const finding = findBundle(release, deploying, host);
  try {
    const deployed = await runGuarded(finding, release, (found, checked) => {
      const known = checked?.bundleId ?? (typeof bundle === 'object' ? undefined : bundle);
      const title = known === undefined ? `Deploy to ${targetSlug}` : `Deploy ${String(known)} to ${targetSlug}`;
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

function findBundle(
  release: Release,
  {capabilities, verify, bundle}: Deploying,
  host: PipelineHost,
): Pipeline<FoundBundle> {
  const choose = async (run: RunHost) => {
    const chosen = await chooseCapable(release, [...capabilities, ...followUpCapabilities(release)], run);
    verify?.(chosen.open);
    return chosen;
  };
  const start = Pipeline.start(host);
  if (typeof bundle !== 'object')
    return start.step('resolve', 'Prepare', async (_, run) => ({...(await choose(run)), bundleId: bundle}));
  return start
    .step('resolve', 'Prepare', (_, run) => choose(run))
    .step('find', bundle.title, async (chosen) => {
      try {
        return {...chosen, bundleId: await bundle.find(chosen.open)};
      } catch (error) {
        throw withOtherBackend(error, chosen.fallback?.backend.name);
      }
    });
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
  const {bundleId: bundle, ...release} = verifyRelease('deploy', options, host);
  const capabilities = ['deploy', ...namingCapabilities(bundle)] as const;
  return runDeployment(release, {capabilities, bundle}, host);
}

const deletedAdvice = 'That bundle has been deleted. To go back to another bundle, pass --to ID.';

export async function rollbackBundle(
  options: RollbackBundleOptions,
  host: PipelineHost,
): Promise<Served<RollbackBundleResult>> {
  const {to, ...verified} = verifyRelease('rollback', options, host);
  const {targetSlug, guard} = verified;
  const release = {...verified, guard: changeRules(guard), watch: undefined};
  let rolledBackFrom: BundleId | undefined;
  const deploying: Deploying = {
    capabilities: ['deploy', ...(to === undefined ? (['history'] as const) : namingCapabilities(to))],
    verify(open) {
      if (to !== undefined && to !== 'latest') idFor(open.backend, to);
    },
    bundle: {
      title: 'Find the bundle to roll back to',
      async find(open) {
        const {outlet} = open.host;
        const plan = await planRollback(open, targetSlug, to);
        outlet.title(`Rolling back to ${describeRollback(plan)}`);
        plan.warnings.forEach((warning) => outlet.warn(warning));
        rolledBackFrom = plan.current?.bundleId;
        return plan.bundleId;
      },
    },
  };
  try {
    const {open, result} = await runDeployment(release, deploying, host);
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
  const {from, ...release} = verifyRelease('promote', options, host);
  verifyPromotion(from, release.targetSlug);
  const deploying: Deploying = {
    capabilities: ['history'],
    verify({backend}) {
      if (!backend.promote) requireCapability(backend, 'deploy');
    },
    bundle: {
      title: `Find the bundle that ${from} runs`,
      async find(open) {
        const {bundleId, message} = await findRunning(open, from);
        const described = message === undefined ? '' : ` "${oneLine(message)}"`;
        open.host.outlet.title(`${from} runs bundle ${String(bundleId)}${described}`);
        return bundleId;
      },
    },
    from,
  };
  const {open, result} = await runDeployment(release, deploying, host);
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
