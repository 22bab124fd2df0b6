import type {BundleId, DeployOperation, DeploymentState} from '../backends/contract.js';
import type {BackendSelection} from '../backends/select.js';
import {withOtherBackend} from '../operations/choose-backend.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {chooseDeployBackend, requestDeployment, waitForAccepted} from '../operations/deploy/deploy-bundle.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {waitForDeployment as waitFor} from '../operations/deploy/wait-for-deployment.js';
import {activeGuards, askForTarget, describeGuards, guardBundle, watchNotOlder} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {resolveBundleId} from '../operations/list.js';
import {openBackend} from '../operations/open-backend.js';
import type {
  DeployBundleOptions,
  DeployBundleResult,
  TargetConfirmation,
  WaitForDeploymentOptions,
} from '../operations/options.js';
import {checkStep, resolveStep, rollbackStep, type FollowedRun, type ResolvedRun} from './steps.js';
import type {PipelineHost} from './host.js';
import type {StepReport} from './report.js';
import {made, runGuarded, runPipeline, type PipelineRun, type Step} from './run.js';

interface DeployRun extends FollowedRun, ResolvedRun {
  /** The bundle to deploy, once it is known. */
  bundleId?: BundleId | undefined;
  accepted?: DeployBundleResult;
  result?: DeployBundleResult;
}

type DeployOptions = Omit<DeployBundleOptions, 'bundleId'> & {readonly wait: boolean};

/** What is particular to an operation that deploys a bundle of the service. */
export interface Deploying {
  readonly operation: Exclude<DeployOperation, 'push'>;
  readonly choose: () => Promise<BackendSelection>;
  readonly bundle: BundleId | FindStep;
  /** The target that runs the bundle, for a promotion. */
  readonly from?: string;
}

interface FindStep {
  readonly title: string;
  readonly find: (selection: BackendSelection, report: StepReport) => Promise<BundleId>;
}

/** Finds a bundle of the service, checks the guards of the target, deploys it, waits, checks and rolls back. */
export async function runDeployment(
  options: DeployOptions,
  {operation, choose, bundle, from}: Deploying,
  host: PipelineHost,
): Promise<DeployBundleResult> {
  const {projectSlug, targetSlug, guard} = options;
  refuseUnsafe({...options, operation}, host);
  const finding = typeof bundle === 'object' ? [findStep(bundle)] : [];
  const run: DeployRun = {
    host,
    bundleId: typeof bundle === 'object' ? undefined : bundle,
    watch: operation === 'rollback' ? undefined : watchForRollback(options),
  };
  const what = operation === 'promote' ? 'Promotion' : 'Deployment';
  const route = from === undefined ? `to ${targetSlug}` : `from ${from} to ${targetSlug}`;
  try {
    await runGuarded<DeployRun>(run, {
      finding: [resolveStep(choose), ...finding],
      guard: activeGuards(guard).length > 0 ? guardStep(operation, options) : undefined,
      ask: () => askForTarget({operation, projectSlug, targetSlug, bundleId: run.bundleId}, options),
      changing: () => [
        {
          name: 'deploy',
          title:
            run.bundleId === undefined ? `Deploy to ${targetSlug}` : `Deploy ${String(run.bundleId)} to ${targetSlug}`,
          task: async (_, report) => {
            const bundleId = made(run, 'bundleId');
            const watch = watchNotOlder(run.watch, options, (open, rules) =>
              guardBundle({operation, projectSlug, targetSlug, bundleId}, open, {...options, guard: rules}, host),
            );
            const request = {...report.watch(options), bundleId, operation, from, watch};
            run.accepted = await requestDeployment(request, made(run, 'selection'), host, report.note);
            report.title = `${what} of bundle ${String(run.accepted.bundleId)} ${route} accepted`;
            report.warn(run.accepted.warnings);
            if (!options.wait) run.result = run.accepted;
          },
        },
        {
          name: 'wait',
          title: 'Wait for the deployment',
          enabled: options.wait,
          task: async (_, report) => {
            run.result = await waitForAccepted(report.watch(options), made(run, 'accepted'), host);
            report.title = `Deployed to ${targetSlug}`;
          },
        },
        checkStep(options),
        rollbackStep(options),
      ],
    });
  } catch (error) {
    throw explainUnfinished(error, run.watch);
  }
  return {...made(run, 'result'), ...(run.check && {check: run.check})};
}

export async function deployBundle(given: DeployBundleOptions, host: PipelineHost): Promise<DeployBundleResult> {
  const options = withFollowUps(given);
  const choose = () => chooseDeployBackend(options, host);
  return runDeployment(options, {operation: 'deploy', choose, bundle: options.bundleId}, host);
}

function findStep({title, find}: FindStep): Step<DeployRun> {
  return {
    name: 'find',
    title,
    task: async (run, report) => {
      const selection = made(run, 'selection');
      run.bundleId = await find(selection, report).catch((error: unknown) => {
        throw withOtherBackend(error, selection.fallback);
      });
    },
  };
}

/** The step that checks the guards of a target. `latest` is resolved, so that what is deployed is what was checked. */
function guardStep(operation: TargetConfirmation['operation'], options: DeployOptions): Step<DeployRun> {
  const {projectSlug, targetSlug} = options;
  return {
    name: 'guard',
    title: `Check the guards of ${targetSlug}`,
    task: async (run, report) => {
      const open = await openBackend(made(run, 'selection').backend, report.watch(options), run.host);
      const bundleId = await resolveBundleId(open, made(run, 'bundleId'), options);
      run.bundleId = bundleId;
      await guardBundle({operation, projectSlug, targetSlug, bundleId}, open, options, run.host);
      report.title = describeGuards(targetSlug, options.guard);
    },
  };
}

export async function waitForDeployment(
  options: WaitForDeploymentOptions,
  host: PipelineHost,
): Promise<DeploymentState> {
  const run: PipelineRun & {state?: DeploymentState} = {host};
  await runPipeline(run, [
    {
      name: 'wait',
      title: 'Wait for the deployment',
      task: async (_, report) => {
        run.state = await waitFor(report.watch(options), host);
      },
    },
  ]);
  return made(run, 'state');
}
