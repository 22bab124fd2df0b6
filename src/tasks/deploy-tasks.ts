import {
  chooseDeployBackend,
  deployResult,
  requestDeployment,
  waitForAccepted,
  type AcceptedDeployment,
} from '../operations/deploy-bundle.js';
import type {BackendSelection} from '../backends/select.js';
import type {Host} from '../operations/host.js';
import type {DeployBundleOptions, DeployBundleResult} from '../operations/options.js';
import {showIn} from './progress.js';
import {resolveStep} from './resolve-step.js';
import {reached, runPipeline, type PipelineStep, type PipelineTerminal} from './run-pipeline.js';

/** A deployment as a pipeline of tasks. */
export interface DeployTasksOptions {
  readonly deploy: DeployBundleOptions;
  readonly host: Host;
  readonly terminal: PipelineTerminal;
  /** Lines that tell what was resolved from where, shown before anything is sent. */
  readonly resolved: readonly string[];
}

interface DeployContext {
  selection?: BackendSelection;
  accepted?: AcceptedDeployment;
  result?: DeployBundleResult;
}

/** What a pipeline of a deployment has come to. */
export interface DeployOutcome {
  readonly result: DeployBundleResult;
  /** How long it took, in words. */
  readonly took: string;
}

/** Runs a deployment step by step: resolve, deploy, wait. */
export async function runDeployTasks(options: DeployTasksOptions): Promise<DeployOutcome> {
  const context: DeployContext = {};
  const resolve = resolveStep<DeployContext>(options, () => chooseDeployBackend(options.deploy, options.host));
  const steps = [resolve, deployStep(options), ...(options.deploy.wait ? [waitStep(options)] : [])];
  const took = await runPipeline(steps, context, options.terminal);
  return {took, result: context.result ?? deployResult(options.deploy, reached(context.accepted))};
}

function deployStep({deploy, host}: DeployTasksOptions): PipelineStep<DeployContext> {
  return {
    title: `Deploy ${String(deploy.bundleId)} to ${deploy.targetSlug}`,
    async run(context, view) {
      const onFallback = (reason: string) => {
        view.detail(`falling back to legacy: ${reason}`);
      };
      const onBundle = (bundleId: string | number) => {
        if (deploy.bundleId === 'latest') view.detail(`latest is bundle ${String(bundleId)}`);
      };
      const options = {...deploy, ...showIn(view), onFallback};
      context.accepted = await requestDeployment(options, reached(context.selection), host, onBundle);
      view.done(`Deployment of bundle ${String(context.accepted.bundleId)} to ${deploy.targetSlug} was accepted`);
      for (const warning of context.accepted.warnings) host.logger.warn(warning);
    },
  };
}

function waitStep({deploy, host}: DeployTasksOptions): PipelineStep<DeployContext> {
  return {
    title: 'Wait for the deployment',
    async run(context, view) {
      context.result = await waitForAccepted({...deploy, ...showIn(view)}, reached(context.accepted), host);
      view.done(`Deployed to ${deploy.targetSlug}`);
    },
  };
}
