import {
  checkDeployment,
  checksOf,
  describeChecks,
  shownPlace,
  type FinishedDeployment,
} from '../operations/deploy/check-deployment.js';
import {failedDeployment, rollBack, type RollbackWatch} from '../operations/deploy/rollback-on-failure.js';
import type {CheckOutcome, DeploymentOptions} from '../operations/options.js';
import type {Outlet} from '../operations/outlet.js';
import type {PipelineHost} from './host.js';
import type {Pipeline, Step} from './run.js';

/** The first step. `choose` opens a backend. */
export function resolveStep<Chosen>(choose: (outlet: Outlet) => Promise<Chosen>): Step<unknown, Chosen> {
  return {name: 'resolve', title: 'Prepare', task: (_, outlet) => choose(outlet)};
}

/** Adds the step that checks what was deployed, if there is anything to check. */
export function withCheck<Deployed extends FinishedDeployment & {readonly check?: CheckOutcome | undefined}>(
  pipeline: Pipeline<Deployed>,
  options: DeploymentOptions,
  host: PipelineHost,
): Pipeline<Deployed> {
  const [first, ...more] = checksOf(options);
  if (first === undefined) return pipeline;
  return pipeline.step({
    name: 'check',
    title: more.length > 0 ? 'Check what was deployed' : `Check ${shownPlace(first)}`,
    async task(deployed, outlet) {
      const check = await checkDeployment(deployed, options, host, outlet);
      outlet.title(describeChecks(check));
      return {...deployed, check};
    },
  });
}

/** Adds the step that deploys what ran before if the deployment or a check of it has failed. */
export function withRollback<Result>(
  pipeline: Pipeline<Result>,
  watch: RollbackWatch | undefined,
  options: DeploymentOptions,
  host: PipelineHost,
): Pipeline<Result> {
  if (watch === undefined) return pipeline;
  const {targetSlug} = watch;
  return pipeline.recover({
    name: 'rollback',
    title: `Roll ${targetSlug} back if this fails`,
    handles: (error) => failedDeployment(error, watch) !== undefined,
    async task(failure, outlet) {
      const failed = failedDeployment(failure, watch);
      if (failed === undefined) return failure;
      const {bundleId, error} = await rollBack(failed, targetSlug, options, host, outlet);
      outlet.title(`Rolled ${targetSlug} back to bundle ${String(bundleId)}`);
      return error;
    },
  });
}
