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
import {made, runPipeline, type PipelineRun, type Step} from './run.js';

/** What the steps of a deployment have found out and made so far. */
export interface DeployRun extends FollowedRun, ResolvedRun {
  /** The bundle to deploy, once it is known. */
  bundleId?: BundleId;
  accepted?: AcceptedDeployment;
  result?: DeployBundleResult;
}

/**
 * Deploys an uploaded bundle, or the latest one, to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function deployBundle(given: DeployBundleOptions, host: PipelineHost): Promise<DeployBundleResult> {
  const options = withFollowUps(given);
  const {projectSlug, targetSlug} = options;
  const place = {operation: 'deploy', projectSlug, targetSlug} as const;
  refuseUnsafe({...options, operation: 'deploy'}, host);
  const run: DeployRun = {host, bundleId: options.bundleId, watch: watchForRollback(options)};
  const resolve = resolveStep(() => chooseDeployBackend(options, host));
  const guarded = activeGuards(options.guard).length > 0;
  if (guarded) {
    // `latest` is resolved first, so that what is deployed is what was checked.
    await runPipeline<DeployRun>(run, [resolve, guardStep('deploy', options)]);
    await askForTarget({...place, bundleId: run.bundleId}, options);
  }
  const bundleId = made(run, 'bundleId');
  try {
    await runPipeline<DeployRun>(run, [
      {...resolve, enabled: !guarded},
      {
        name: 'deploy',
        title: `Deploy ${String(bundleId)} to ${targetSlug}`,
        task: async (_, report) => {
          const watch = watchBundle(run.watch, {...place, bundleId}, options, host);
          const request = {...report.watch(options), bundleId, operation: 'deploy', watch} as const;
          run.accepted = await requestDeployment(request, made(run, 'selection'), host, report.note);
          report.title = `Deployment of bundle ${String(run.accepted.bundleId)} to ${targetSlug} accepted`;
          report.warn(run.accepted.warnings);
          if (!options.wait) run.result = deployResult(options, run.accepted, host);
        },
      },
      waitStep(options),
      checkStep(options),
      rollbackStep(options),
    ]);
  } catch (error) {
    throw explainUnfinished(error, run.watch);
  }
  return {...made(run, 'result'), ...(run.check && {check: run.check})};
}

/** The options of what deploys a bundle that is on the service already. */
export type DeployOptions = Omit<DeployBundleOptions, 'bundleId'>;

/** The step that checks the guards of a target. */
export function guardStep(operation: TargetConfirmation['operation'], options: DeployOptions): Step<DeployRun> {
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
export function waitStep(options: DeployOptions): Step<DeployRun> {
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

/**
 * Waits for a deployment to end.
 * @throws RuntimeCliError `ERR_DEPLOYMENT_FAILED`, `ERR_WAIT_TIMEOUT` or `ERR_OUTCOME_UNKNOWN` when it did not finish.
 */
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
