import type {BackendSelection} from '../backends/select.js';
import {
  deployResult,
  requestDeployment,
  waitForAccepted,
  type AcceptedDeployment,
} from '../operations/deploy-bundle.js';
import type {Host} from '../operations/host.js';
import type {DeployBundleResult} from '../operations/options.js';
import {
  chooseRollbackBackend,
  planRollback,
  rollbackDeployment,
  rollbackResult,
  type RollbackBundleOptions,
  type RollbackBundleResult,
  type RollbackPlan,
} from '../operations/rollback-bundle.js';
import {showIn} from './progress.js';
import {resolveStep, type ResolveOptions} from './resolve-step.js';
import {reached, runPipeline, type PipelineStep} from './run-pipeline.js';

/** A rollback as a pipeline of tasks. */
export interface RollbackTasksOptions extends ResolveOptions {
  readonly rollback: RollbackBundleOptions;
  readonly host: Host;
}

interface RollbackContext {
  selection?: BackendSelection;
  plan?: RollbackPlan;
  accepted?: AcceptedDeployment;
  result?: DeployBundleResult;
}

/** What a pipeline of a rollback has come to. */
export interface RollbackOutcome {
  readonly result: RollbackBundleResult;
  /** How long it took, in words. */
  readonly took: string;
}

/** Runs a rollback step by step: resolve, find, deploy, wait. */
export async function runRollbackTasks(options: RollbackTasksOptions): Promise<RollbackOutcome> {
  const {rollback, host, terminal} = options;
  const context: RollbackContext = {};
  const steps = [
    resolveStep<RollbackContext>(options, () => chooseRollbackBackend(rollback, host)),
    findStep(options),
    deployStep(options),
    ...(rollback.wait ? [waitStep(options)] : []),
  ];
  const took = await runPipeline(steps, context, terminal);
  const plan = reached(context.plan);
  const deploy = rollbackDeployment(rollback, plan);
  const result = context.result ?? deployResult(deploy, reached(context.accepted));
  return {took, result: rollbackResult(result, plan)};
}

function findStep({rollback, host}: RollbackTasksOptions): PipelineStep<RollbackContext> {
  return {
    title: 'Find the bundle to go back to',
    async run(context, view) {
      const plan = await planRollback({...rollback, ...showIn(view)}, reached(context.selection), host);
      context.plan = plan;
      view.done(`Going back to ${describePlan(plan)}`);
    },
  };
}

/** `bundle 3 "main: 1a2b3c", deployed 2026-01-01T00:00:00Z; bundle 4 runs now` */
function describePlan({bundleId, current, previous}: RollbackPlan): string {
  const message = previous?.message === undefined ? '' : ` "${previous.message}"`;
  const when = previous?.createdAt === undefined ? '' : `, deployed ${previous.createdAt}`;
  const now = current === undefined ? '' : `; bundle ${String(current.bundleId)} runs now`;
  return `bundle ${String(bundleId)}${message}${when}${now}`;
}

function deployStep({rollback, host}: RollbackTasksOptions): PipelineStep<RollbackContext> {
  return {
    title: `Deploy to ${rollback.targetSlug}`,
    async run(context, view) {
      const options = {...rollbackDeployment(rollback, reached(context.plan)), ...showIn(view)};
      context.accepted = await requestDeployment(options, reached(context.selection), host);
      view.done(`Deployment of bundle ${String(options.bundleId)} to ${rollback.targetSlug} was accepted`);
      for (const warning of context.accepted.warnings) host.logger.warn(warning);
    },
  };
}

function waitStep({rollback, host}: RollbackTasksOptions): PipelineStep<RollbackContext> {
  return {
    title: 'Wait for the deployment',
    async run(context, view) {
      const options = {...rollbackDeployment(rollback, reached(context.plan)), ...showIn(view)};
      context.result = await waitForAccepted(options, reached(context.accepted), host);
      view.done(`Deployed to ${rollback.targetSlug}`);
    },
  };
}
