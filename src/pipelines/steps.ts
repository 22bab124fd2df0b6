import type {BackendCapability, BundleId} from '../backends/contract.js';
import {chooseCapable, type ChosenBackend} from '../operations/choose-backend.js';
import {checkDeployment, describeChecks, shownPlace} from '../operations/deploy/check-deployment.js';
import type {AcceptedDeployment, Release} from '../operations/deploy/release.js';
import {failedDeployment, rollBack} from '../operations/deploy/rollback-on-failure.js';
import {isRuntimeCliError} from '../errors/index.js';
import {activeGuards, askForTarget, checkGuards, describeGuards} from '../operations/guard/guards.js';
import {resolveBundleId} from '../operations/list-bundles.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {ProjectOptions} from '../operations/options.js';
import {describeInvalidation, invalidateIn} from '../operations/targets/invalidate.js';
import type {PipelineHost} from './host.js';
import {Pipeline, type RecoveryStep} from './run.js';

/** Starts with a backend that is capable of something. */
export function chooseFor(
  options: ProjectOptions,
  capabilities: readonly BackendCapability[],
  host: PipelineHost,
): Pipeline<ChosenBackend> {
  return Pipeline.start(host).step('resolve', 'Prepare', (_, run) => chooseCapable(options, capabilities, run));
}

/** What the guards of a target have to know. */
interface Guarded {
  readonly open: OpenBackend;
  /** Undefined for a push. */
  readonly bundleId?: BundleId | undefined;
}

/** Adds the step that checks the guards of a target, if there are any. */
export function withGuardStep<Found extends Guarded>(
  finding: Pipeline<Found>,
  release: Release | undefined,
): Pipeline<Found> {
  if (release === undefined || activeGuards(release).length === 0) return finding;
  return finding.step('guard', `Check the guards of ${release.targetSlug}`, async (found) => {
    const {open} = found;
    // `latest` is resolved, so that what is deployed is what was checked.
    const bundleId = found.bundleId === undefined ? undefined : await resolveBundleId(open, found.bundleId);
    await checkGuards(release, open, bundleId);
    open.host.outlet.title(describeGuards(release));
    return {...found, bundleId};
  });
}

/**
 * Runs the steps that change a target. With guards, they are a list of their own: nobody can answer a question while a
 * list is redrawn.
 * @param changing gets what was found if the steps before have run already
 */
export async function runGuarded<Found extends Guarded, Result>(
  finding: Pipeline<Found>,
  release: Release | undefined,
  changing: (pipeline: Pipeline<Found>, found?: Found) => Pipeline<Result>,
): Promise<Result> {
  const guarded = withGuardStep(finding, release);
  if (guarded === finding || release === undefined) return changing(finding).run();
  const found = await guarded.run();
  const {operation, projectSlug, targetSlug} = release;
  await askForTarget({operation, projectSlug, targetSlug, bundleId: found.bundleId}, release);
  return changing(guarded.after(found), found).run();
}

/** Adds the steps after a deployment: wait, check and invalidate, and roll back if the deployment or a check fails. */
export function withFollowUpSteps<Deployed extends AcceptedDeployment>(
  deployed: Pipeline<Deployed>,
  release: Release,
  waitFor: (deployed: Deployed) => Promise<Deployed>,
): Pipeline<Deployed> {
  let pipeline = deployed;
  if (release.wait) {
    pipeline = pipeline.step('wait', 'Wait for the deployment', async (accepted, {outlet}) => {
      const finished = await waitFor(accepted);
      outlet.title(`Deployed to ${release.targetSlug}`);
      return finished;
    });
  }
  const [only, ...more] = release.checks;
  if (only !== undefined) {
    const title = more.length > 0 ? 'Check what was deployed' : `Check ${shownPlace(only)}`;
    pipeline = pipeline.step('check', title, async (finished, {outlet}) => {
      const check = await checkDeployment(finished);
      outlet.title(describeChecks(check));
      return {...finished, check};
    });
  }
  if (release.invalidate.length > 0) {
    pipeline = pipeline.change('invalidate', 'Clear the cache', async (finished) => {
      await clearCache(finished);
      return finished;
    });
  }
  return release.watch === undefined ? pipeline : pipeline.recover(rollbackStep(release));
}

/** Clears the cache of what was deployed, which is live: a failure is only a warning. */
async function clearCache({open, release}: AcceptedDeployment): Promise<void> {
  const {targetSlug, invalidate: patterns} = release;
  const {outlet, writes} = open.host;
  // The deployment has ended well.
  writes?.conclude({});
  try {
    await invalidateIn(open, {targetSlug, patterns});
    outlet.title(describeInvalidation({targetSlug, patterns}));
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    writes?.conclude({error});
    outlet.title(`The cache of ${targetSlug} was not cleared`);
    outlet.warn(`The deployment is live, but the cache of ${targetSlug} was not cleared: ${error.message}`);
  }
}

/** The step that deploys what ran before if the deployment or a check of it has failed. */
function rollbackStep(release: Release): RecoveryStep {
  const {targetSlug} = release;
  return {
    name: 'rollback',
    title: `Roll ${targetSlug} back if this fails`,
    recovery(failure) {
      const failed = failedDeployment(failure, release);
      if (failed === undefined) return undefined;
      return async ({outlet}) => {
        const {bundleId, error} = await rollBack(failed, release);
        outlet.title(`Rolled ${targetSlug} back to bundle ${String(bundleId)}`);
        return error;
      };
    },
  };
}
