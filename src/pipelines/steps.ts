import type {BackendSelection} from '../backends/select.js';
import {describeSelection} from '../operations/choose-backend.js';
import type {BackendCallOptions} from '../operations/open-backend.js';
import type {CheckOutcome, DeploymentOptions} from '../operations/options.js';
import {
  checkDeployment,
  checksOf,
  describeChecks,
  shownPlace,
  type FinishedDeployment,
} from '../operations/deploy/check-deployment.js';
import {failedDeployment, rollBack, type RollbackWatch} from '../operations/deploy/rollback-on-failure.js';
import {made, type PipelineRun, type Step} from './run.js';

export interface ResolvedRun extends PipelineRun {
  selection?: BackendSelection;
}

export function resolveStep(choose: () => Promise<BackendSelection>): Step<ResolvedRun> {
  return {
    name: 'resolve',
    title: 'Prepare',
    task: async (run, report) => {
      run.selection = await choose();
      report.title = describeSelection(run.selection, run.host);
    },
  };
}

/** A run that deploys a bundle, checks it and rolls back. */
export interface FollowedRun extends PipelineRun {
  readonly watch: RollbackWatch | undefined;
  /** Set once the deployment is accepted, or with `wait` has ended. */
  result?: Omit<FinishedDeployment, 'targetSlug'> | undefined;
  check?: CheckOutcome | undefined;
}

type FollowUpOptions = BackendCallOptions & DeploymentOptions;

export function checkStep(options: FollowUpOptions): Step<FollowedRun> {
  const {targetSlug = ''} = options;
  const checks = checksOf(options);
  const [only, ...more] = checks;
  return {
    name: 'check',
    title: only === undefined || more.length > 0 ? 'Check what was deployed' : `Check ${shownPlace(only)}`,
    enabled: checks.length > 0,
    task: async (run, report) => {
      const deployed = {...report.watch(options), ...made(run, 'result'), targetSlug};
      run.check = await checkDeployment(deployed, checks, run.host);
      report.title = describeChecks(run.check);
    },
  };
}

/** The step that deploys what ran before if the deployment or a check of it has failed. */
export function rollbackStep(options: FollowUpOptions): Step<FollowedRun> {
  const {targetSlug = ''} = options;
  const failedIn = ({failure, watch}: FollowedRun) => failedDeployment(failure?.error, watch);
  return {
    name: 'rollback',
    title: `Roll ${targetSlug} back if this fails`,
    enabled:
      options.rollbackOnFailure === true
        ? (run) => (run.failure === undefined ? run.result === undefined : failedIn(run) !== undefined)
        : false,
    task: async (run, report) => {
      const failed = failedIn(run);
      if (failed === undefined) return;
      const {bundleId, error} = await rollBack(failed, report.watch(options), run.host);
      run.failure = {error};
      report.title = `Rolled ${targetSlug} back to bundle ${String(bundleId)}`;
    },
  };
}
