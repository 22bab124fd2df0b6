import type {BundleId, DeployOperation, DeploymentState} from '../backends/contract.js';
import {registryOf, withOtherBackend, type ChosenBackend} from '../operations/choose-backend.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  chooseDeployBackend,
  requestDeployment,
  waitForAccepted,
  type AcceptedDeployment,
  type DeploymentWatch,
} from '../operations/deploy/deploy-bundle.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {waitForDeployment as waitFor} from '../operations/deploy/wait-for-deployment.js';
import {activeGuards, askForTarget, describeGuards, guardBundle, watchNotOlder} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {resolveBundleId} from '../operations/list.js';
import {openBackend} from '../operations/open-backend.js';
import type {DeployBundleOptions, DeployBundleResult, WaitForDeploymentOptions} from '../operations/options.js';
import type {Outlet, WithoutCallbacks} from '../operations/outlet.js';
import {resolveStep, withCheck, withRollback} from './steps.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {Pipeline, runGuarded, type Step} from './run.js';

type DeployOptions = Omit<WithoutCallbacks<DeployBundleOptions>, 'bundleId'> & {readonly wait: boolean};

/** What is particular to an operation that deploys a bundle of the service. */
interface Deploying {
  readonly operation: Exclude<DeployOperation, 'push'>;
  readonly choose: (outlet: Outlet) => Promise<ChosenBackend>;
  readonly bundle: BundleId | FindStep;
  /** The target that runs the bundle, for a promotion. */
  readonly from?: string;
}

interface FindStep {
  readonly title: string;
  readonly find: (chosen: ChosenBackend, outlet: Outlet) => Promise<BundleId>;
}

/** The bundle to deploy, and the backend that has it. */
interface FoundBundle extends ChosenBackend {
  readonly bundleId: BundleId;
}

/** Finds a bundle of the service, checks the guards of the target, deploys it, waits, checks and rolls back. */
export async function runDeployment(
  options: DeployOptions,
  {operation, choose, bundle, from}: Deploying,
  host: PipelineHost,
): Promise<Served<DeployBundleResult>> {
  const {projectSlug, targetSlug} = options;
  refuseUnsafe({...options, operation}, host);
  const rollback = operation === 'rollback' ? undefined : watchForRollback(options);
  const start = Pipeline.start(host);
  const deploying = (found: Pipeline<FoundBundle>, bundleId: BundleId | undefined) => {
    const deployed = found.step({
      name: 'deploy',
      title: bundleId === undefined ? `Deploy to ${targetSlug}` : `Deploy ${String(bundleId)} to ${targetSlug}`,
      async task(chosen, outlet): Promise<AcceptedDeployment> {
        const watch = watchBundle(rollback, operation, chosen.bundleId, options, host);
        const request = {operation, bundleId: chosen.bundleId, targetSlug, from, watch};
        const accepted = await requestDeployment(chosen, request, options, host, outlet);
        const what = operation === 'promote' ? 'Promotion' : 'Deployment';
        const route = from === undefined ? `to ${targetSlug}` : `from ${from} to ${targetSlug}`;
        outlet.title(`${what} of bundle ${String(accepted.bundleId)} ${route} accepted`);
        return accepted;
      },
    });
    const waited = !options.wait
      ? deployed
      : deployed.step({
          name: 'wait',
          title: 'Wait for the deployment',
          async task(accepted, outlet) {
            const finished = await waitForAccepted(accepted, options, host, outlet);
            outlet.title(`Deployed to ${targetSlug}`);
            return finished;
          },
        });
    return withRollback(withCheck(waited, options, host), rollback, options, host);
  };
  const known = typeof bundle === 'object' ? undefined : bundle;
  try {
    const deployed = await runGuarded({
      finding: findingBundle(start, choose, bundle),
      guard: guardStep(operation, options, host),
      ask: ({bundleId}) => askForTarget({operation, projectSlug, targetSlug, bundleId}, options),
      changing: (found, checked) => deploying(found, checked?.bundleId ?? known),
    });
    return {open: deployed.open, result: deploymentResult(deployed, start.warnings)};
  } catch (error) {
    throw explainUnfinished(error, rollback);
  }
}

function deploymentResult(accepted: AcceptedDeployment, warnings: readonly string[]): DeployBundleResult {
  const {open, bundleId, targetSlug, url, deployment, status, raw, check} = accepted;
  const {backend, projectSlug} = open;
  const {deploymentId} = deployment;
  return {
    backend: backend.name,
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
  options: WithoutCallbacks<DeployBundleOptions>,
  host: PipelineHost,
): Promise<DeployBundleResult> {
  return (await serveDeployment(options, host)).result;
}

/** Deploys a bundle, and says which backend has served the call. */
export function serveDeployment(
  given: WithoutCallbacks<DeployBundleOptions>,
  host: PipelineHost,
): Promise<Served<DeployBundleResult>> {
  const {bundleId: bundle, ...options} = withFollowUps(given);
  const choose = (outlet: Outlet) => chooseDeployBackend({...options, bundleId: bundle}, host, outlet);
  return runDeployment(options, {operation: 'deploy', choose, bundle}, host);
}

function findingBundle(
  start: Pipeline<undefined>,
  choose: Deploying['choose'],
  bundle: Deploying['bundle'],
): Pipeline<FoundBundle> {
  if (typeof bundle !== 'object')
    return start.step(resolveStep(async (outlet) => ({...(await choose(outlet)), bundleId: bundle})));
  return start.step(resolveStep(choose)).step({
    name: 'find',
    title: bundle.title,
    async task(chosen, outlet) {
      try {
        return {...chosen, bundleId: await bundle.find(chosen, outlet)};
      } catch (error) {
        throw withOtherBackend(error, chosen.fallback?.backend.name);
      }
    },
  });
}

/** The step that checks the guards of a target. `latest` is resolved, so that what is deployed is what was checked. */
function guardStep(
  operation: Deploying['operation'],
  options: DeployOptions,
  host: PipelineHost,
): Step<FoundBundle, FoundBundle> | undefined {
  const {projectSlug, targetSlug, guard} = options;
  if (activeGuards(guard).length === 0) return undefined;
  return {
    name: 'guard',
    title: `Check the guards of ${targetSlug}`,
    async task(found, outlet) {
      const bundleId = await resolveBundleId(found.open, found.bundleId);
      await guardBundle({operation, projectSlug, targetSlug, bundleId}, found.open, options, host);
      outlet.title(describeGuards(targetSlug, guard));
      return {...found, bundleId};
    },
  };
}

/** Checks again what the target runs right before each request that starts the deployment of a bundle. */
function watchBundle(
  watch: DeploymentWatch | undefined,
  operation: Deploying['operation'],
  bundleId: BundleId,
  options: DeployOptions,
  host: PipelineHost,
): DeploymentWatch | undefined {
  const {projectSlug, targetSlug} = options;
  return watchNotOlder(watch, options, (open, guard) =>
    guardBundle({operation, projectSlug, targetSlug, bundleId}, open, {...options, guard}, host),
  );
}

export function waitForDeployment(
  options: WithoutCallbacks<WaitForDeploymentOptions>,
  host: PipelineHost,
): Promise<DeploymentState> {
  return Pipeline.start(host)
    .step({
      name: 'wait',
      title: 'Wait for the deployment',
      async task(_, outlet) {
        const backend = registryOf(options).get(options.backend);
        return waitFor(await openBackend(backend, options, host, outlet), options.deployment, options, outlet);
      },
    })
    .run();
}
