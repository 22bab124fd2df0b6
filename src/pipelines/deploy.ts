import type {BundleId} from '../backends/contract.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  chooseDeployBackend,
  deployResult,
  requestDeployment,
  waitForAccepted,
  type AcceptedDeployment,
} from '../operations/deploy/deploy-bundle.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {waitForDeployment as waitFor} from '../operations/deploy/wait-for-deployment.js';
import {guardBundle, watchBundle} from '../operations/guard/guard-bundle.js';
import {activeGuards, askForTarget, describeGuards} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {resolveBundleId} from '../operations/list.js';
import {openBackend} from '../operations/open-backend.js';
import type {
  DeployBundleOptions,
  DeployBundleResult,
  TargetConfirmation,
  WaitForDeploymentOptions,
} from '../operations/options.js';
import type {DeploymentState} from '../backends/contract.js';
import {checkStep, rollbackStep, type FollowedRun} from './follow-ups.js';
import {resolveStep, type ResolvedRun} from './resolve.js';
import type {PipelineHost} from './host.js';
import type {StepReport} from './report.js';
import {made, runGuarded, runPipeline, type PipelineRun, type Step} from './run.js';

/** What the steps of a deployment have found out and made so far. */
export interface DeployRun extends FollowedRun, ResolvedRun {
  /** The bundle to deploy, once it is known. */
  bundleId?: BundleId;
  accepted?: AcceptedDeployment;
  result?: DeployBundleResult;
}

/** The options of what deploys a bundle that is on the service already. */
export type DeployOptions = Omit<DeployBundleOptions, 'bundleId'>;

/** What is particular to an operation that deploys a bundle of the service. */
interface Deploying {
  readonly operation: 'deploy' | 'promote' | 'rollback';
  /** The steps that choose the backend and find the bundle. */
  readonly finding: readonly Step<DeployRun>[];
  readonly title: () => string;
  readonly request: (report: StepReport) => Promise<AcceptedDeployment>;
  /** What was accepted, in a few words. */
  readonly describe: (accepted: AcceptedDeployment) => string;
}

/** Finds a bundle of the service, checks the guards of the target, deploys it, waits, checks and rolls back. */
export async function runDeployment(
  run: DeployRun,
  options: DeployOptions & {readonly wait: boolean},
  {operation, finding, title, request, describe}: Deploying,
): Promise<DeployBundleResult> {
  const {projectSlug, targetSlug, guard} = options;
  try {
    await runGuarded(run, {
      finding,
      guard: activeGuards(guard).length > 0 ? guardStep(operation, options) : undefined,
      ask: () => askForTarget({operation, projectSlug, targetSlug, bundleId: run.bundleId}, options),
      changing: () => [
        {
          name: 'deploy',
          title: title(),
          task: async (_, report) => {
            run.accepted = await request(report);
            report.title = describe(run.accepted);
            report.warn(run.accepted.warnings);
            if (!options.wait) run.result = deployResult(options, run.accepted, run.host);
          },
        },
        waitStep(options),
        checkStep(options),
        rollbackStep(options),
      ],
    });
  } catch (error) {
    throw explainUnfinished(error, run.watch);
  }
  return {...made(run, 'result'), ...(run.check && {check: run.check})};
}

/** Deploys an uploaded bundle, or the latest one, to a target. */
export async function deployBundle(given: DeployBundleOptions, host: PipelineHost): Promise<DeployBundleResult> {
  const options = withFollowUps(given);
  const {projectSlug, targetSlug} = options;
  refuseUnsafe({...options, operation: 'deploy'}, host);
  const run: DeployRun = {host, bundleId: options.bundleId, watch: watchForRollback(options)};
  return runDeployment(run, options, {
    operation: 'deploy',
    finding: [resolveStep(() => chooseDeployBackend(options, host))],
    // With guards, `latest` has been resolved, so that what is deployed is what was checked.
    title: () => `Deploy ${String(run.bundleId)} to ${targetSlug}`,
    async request(report) {
      const bundleId = made(run, 'bundleId');
      const watch = watchBundle(run.watch, {operation: 'deploy', projectSlug, targetSlug, bundleId}, options, host);
      const request = {...report.watch(options), bundleId, operation: 'deploy', watch} as const;
      return requestDeployment(request, made(run, 'selection'), host, report.note);
    },
    describe: ({bundleId}) => `Deployment of bundle ${String(bundleId)} to ${targetSlug} accepted`,
  });
}

/** The step that checks the guards of a target. */
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

/** The step that waits for a deployment to end. */
function waitStep(options: DeployOptions): Step<DeployRun> {
  return {
    name: 'wait',
    title: 'Wait for the deployment',
    enabled: options.wait === true,
    task: async (run, report) => {
      const settled = await waitForAccepted(report.watch(options), made(run, 'accepted'), run.host);
      report.title = `Deployed to ${options.targetSlug}`;
      run.result = deployResult(options, settled, run.host);
    },
  };
}

/** Waits for a deployment to end. */
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
