import {
  checkDeployment,
  checksOf,
  describeChecks,
  shownPlace,
  type FinishedDeployment,
} from '../operations/deploy/check-deployment.js';
import {failedDeployment, rollBack, type RollbackWatch} from '../operations/deploy/rollback-on-failure.js';
import type {CheckOutcome, DeploymentOptions} from '../operations/options.js';
import {invalidatedPatterns, invalidateIn} from '../operations/target/invalidate.js';
import {isRuntimeCliError} from '../errors/index.js';
import type {RunHost} from '../operations/host.js';
import type {Pipeline, RecoveryStep, Step} from './run.js';

/** The first step. `choose` opens a backend. */
export function resolveStep<Chosen>(choose: (host: RunHost) => Promise<Chosen>): Step<unknown, Chosen> {
  return {name: 'resolve', title: 'Prepare', task: (_, host) => choose(host)};
}

type Deployed = FinishedDeployment & {readonly check?: CheckOutcome | undefined};

/** Adds what follows a deployment: waiting for it, its checks, the way back if it or one of them fails, its cache. */
export function withFollowUpSteps<Found extends Deployed>(
  deployed: Pipeline<Found>,
  options: DeploymentOptions & {readonly wait: boolean},
  watch: RollbackWatch | undefined,
  waitFor: (deployed: Found, host: RunHost) => Promise<Found>,
): Pipeline<Found> {
  const waited = options.wait ? deployed.step(waitStep(waitFor)) : deployed;
  const checked = checksOf(options).length > 0 ? waited.step(checkStep(options)) : waited;
  const {invalidate = []} = options;
  const done = invalidate.length > 0 ? checked.step(invalidateStep(invalidate)) : checked;
  return watch === undefined ? done : done.recover(rollbackStep(watch, options));
}

/** The step that clears the cache. What was deployed is live, so its failure is only a warning. */
function invalidateStep<Found extends Deployed>(given: readonly string[]): Step<Found, Found> {
  const patterns = invalidatedPatterns({patterns: given});
  return {
    name: 'invalidate',
    title: 'Clear the cache',
    async task(deployed, host) {
      const {open, targetSlug} = deployed;
      // The deployment has ended well.
      host.writes?.conclude({});
      try {
        await invalidateIn(open, {targetSlug, patterns}, host);
        host.outlet.title(`Invalidating ${patterns.join(', ')} of ${targetSlug}`);
      } catch (error) {
        if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
        host.writes?.conclude({error});
        host.outlet.title(`The cache of ${targetSlug} was not cleared`);
        host.outlet.warn(`The deployment is live, but the cache of ${targetSlug} was not cleared: ${error.message}`);
      }
      return deployed;
    },
  };
}

function waitStep<Found extends Deployed>(
  waitFor: (deployed: Found, host: RunHost) => Promise<Found>,
): Step<Found, Found> {
  return {
    name: 'wait',
    title: 'Wait for the deployment',
    async task(deployed, host) {
      const finished = await waitFor(deployed, host);
      host.outlet.title(`Deployed to ${finished.targetSlug}`);
      return finished;
    },
  };
}

function checkStep<Found extends Deployed>(options: DeploymentOptions): Step<Found, Found> {
  const [only, ...more] = checksOf(options);
  return {
    name: 'check',
    title: only === undefined || more.length > 0 ? 'Check what was deployed' : `Check ${shownPlace(only)}`,
    async task(deployed, host) {
      const check = await checkDeployment(deployed, options, host);
      host.outlet.title(describeChecks(check));
      return {...deployed, check};
    },
  };
}

/** The step that deploys what ran before if the deployment or a check of it has failed. */
function rollbackStep(watch: RollbackWatch, options: DeploymentOptions): RecoveryStep {
  const {targetSlug} = watch;
  return {
    name: 'rollback',
    title: `Roll ${targetSlug} back if this fails`,
    handles: (error) => failedDeployment(error, watch) !== undefined,
    async task(failure, host) {
      const failed = failedDeployment(failure, watch);
      if (failed === undefined) return failure;
      const {bundleId, error} = await rollBack(failed, targetSlug, options, host);
      host.outlet.title(`Rolled ${targetSlug} back to bundle ${String(bundleId)}`);
      return error;
    },
  };
}
