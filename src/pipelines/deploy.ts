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
import type {DataOf} from '../operations/outlet.js';
import {resolveStep, withFollowUpSteps} from './steps.js';
import type {RunHost} from '../operations/host.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';
import {Pipeline, runGuarded, type Step} from './run.js';

type DeployOptions = Omit<DataOf<DeployBundleOptions>, 'bundleId'> & {readonly wait: boolean};

/** What is particular to an operation that deploys a bundle of the service. */
interface Deploying {
  readonly operation: Exclude<DeployOperation, 'push'>;
  readonly choose: (host: RunHost) => Promise<ChosenBackend>;
  readonly bundle: BundleId | FindStep;
  /** The target that runs the bundle, for a promotion. */
  readonly from?: string;
}

interface FindStep {
  readonly title: string;
  readonly find: (chosen: ChosenBackend, host: RunHost) => Promise<BundleId>;
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
  const known = typeof bundle === 'object' ? undefined : bundle;
  try {
    const deployed = await runGuarded({
      finding: findingBundle(start, choose, bundle),
      guard: guardStep(operation, options),
      ask: ({bundleId}) => askForTarget({operation, projectSlug, targetSlug, bundleId}, options),
      changing(found, checked) {
        const {bundleId = known} = checked ?? {};
        const requested = found.step({
          name: 'deploy',
          title: bundleId === undefined ? `Deploy to ${targetSlug}` : `Deploy ${String(bundleId)} to ${targetSlug}`,
          async task(chosen, run): Promise<AcceptedDeployment> {
            const watch = watchBundle(rollback, operation, chosen.bundleId, options, run);
            const request = {operation, bundleId: chosen.bundleId, targetSlug, from, watch};
            const accepted = await requestDeployment(chosen, request, options, run);
            const what = operation === 'promote' ? 'Promotion' : 'Deployment';
            const route = from === undefined ? `to ${targetSlug}` : `from ${from} to ${targetSlug}`;
            run.outlet.title(`${what} of bundle ${String(accepted.bundleId)} ${route} accepted`);
            return accepted;
          },
        });
        return withFollowUpSteps(requested, options, rollback, (one, run) => waitForAccepted(one, options, run));
      },
    });
    return {open: deployed.open, result: deploymentResult(deployed, start.warnings)};
  } catch (error) {
    throw explainUnfinished(error, rollback);
  }
}

function deploymentResult(accepted: AcceptedDeployment, warnings: readonly string[]): DeployBundleResult {
  const {open, bundleId, targetSlug, url, deployment, status, raw, check} = accepted;
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

export function deployBundle(
  given: DataOf<DeployBundleOptions>,
  host: PipelineHost,
): Promise<Served<DeployBundleResult>> {
  const {bundleId: bundle, ...options} = withFollowUps(given);
  const choose = (run: RunHost) => chooseDeployBackend({...options, bundleId: bundle}, run);
  return runDeployment(options, {operation: 'deploy', choose, bundle}, host);
}

function findingBundle(
  start: Pipeline<undefined>,
  choose: Deploying['choose'],
  bundle: Deploying['bundle'],
): Pipeline<FoundBundle> {
  if (typeof bundle !== 'object')
    return start.step(resolveStep(async (host) => ({...(await choose(host)), bundleId: bundle})));
  return start.step(resolveStep(choose)).step({
    name: 'find',
    title: bundle.title,
    async task(chosen, host) {
      try {
        return {...chosen, bundleId: await bundle.find(chosen, host)};
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
): Step<FoundBundle, FoundBundle> | undefined {
  const {projectSlug, targetSlug, guard} = options;
  if (activeGuards(guard).length === 0) return undefined;
  return {
    name: 'guard',
    title: `Check the guards of ${targetSlug}`,
    async task(found, host) {
      const bundleId = await resolveBundleId(found.open, found.bundleId);
      await guardBundle({operation, projectSlug, targetSlug, bundleId}, found.open, options, host);
      host.outlet.title(describeGuards(targetSlug, guard));
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
  host: RunHost,
): DeploymentWatch | undefined {
  const {projectSlug, targetSlug} = options;
  return watchNotOlder(watch, options, (open, guard) =>
    guardBundle({operation, projectSlug, targetSlug, bundleId}, open, {...options, guard}, host),
  );
}

export function waitForDeployment(
  options: DataOf<WaitForDeploymentOptions>,
  host: PipelineHost,
): Promise<DeploymentState> {
  return Pipeline.start(host)
    .step({
      name: 'wait',
      title: 'Wait for the deployment',
      async task(_, run) {
        const backend = registryOf(options).get(options.backend);
        return waitFor(
          await openBackend(backend, options, run, options.backend),
          options.deployment,
          options,
          run.outlet,
        );
      },
    })
    .run();
}
