import type {DeployResult} from '../backends/contract.js';
import {isRuntimeCliError} from '../errors/index.js';
import {
  checkDeployment,
  checkFailed,
  describeChecks,
  failedChecks,
  hasFailedCheck,
  recordFailedCheck,
  shownPlace,
} from '../operations/deploy/check-deployment.js';
import {canRollBack, deployAgain, deploymentBefore, provesFailure} from '../operations/deploy/rollback-bundle.js';
import type {PlaceOptions} from '../operations/deploy/new-place.js';
import type {InSlot} from '../operations/deploy/start-deployment.js';
import {failedAtOnce, pollDeployment} from '../operations/deploy/wait-for-deployment.js';
import {activeGuards, askForTarget, checkGuards} from '../operations/guard/guards.js';
import {resolveBundleId} from '../operations/list-bundles.js';
import {makeChange, targetChanges} from '../operations/targets/changes.js';
import {asClause} from '../text/sentence.js';
import {known, type Ledger} from './ledger.js';
import type {Question, Step} from './run.js';

// What comes before a deployment, and after it: the same for a push, a deployment, a promotion and a rollback.

function isGuarded({release}: Ledger): boolean {
  return release !== undefined && activeGuards(release).length > 0;
}

export const guard: Step = {
  name: 'guard',
  title: (ledger) => `Check the guards of ${String(ledger.release?.targetSlug)}`,
  due: isGuarded,
  async run(ledger, {outlet}) {
    const {open, release, bundleId: named} = known(ledger, 'open', 'release');
    // `latest` is resolved, so that what is deployed is what was checked.
    const bundleId = named === undefined ? undefined : await resolveBundleId(open, named);
    await checkGuards(release, open, bundleId);
    outlet.title(`Guards of ${release.targetSlug}: ${activeGuards(release).join(', ')}`);
    return {bundleId};
  },
};

export const confirmTarget: Question = {
  due: isGuarded,
  async ask(ledger) {
    const {release, bundleId, isConfirmed} = known(ledger, 'release');
    if (isConfirmed === true) return;
    const {operation, projectSlug, targetSlug} = release;
    await askForTarget({operation, projectSlug, targetSlug, bundleId}, release);
  },
};

/** Lets the caller object to a new target or project. */
export const confirmNew: Question<{readonly connection: PlaceOptions}> = {
  due: ({request: {connection}}) => connection.confirmNew !== undefined && connection.create === undefined,
  async ask({request, newPlace}) {
    if (newPlace !== undefined) await request.connection.confirmNew?.(newPlace);
  },
};

/** Writes down a deployment that a backend has accepted. @throws RuntimeCliError if it has failed at once */
export async function accept(ledger: Ledger, {answer, before}: InSlot<DeployResult>): Promise<void> {
  const {open} = known(ledger, 'open');
  const {deployment, status, url, raw, warnings = []} = answer;
  Object.assign(ledger, {deployment, status, raw, before, url: url ?? ledger.url});
  warnings.forEach((warning) => open.host.outlet.warn(warning));
  if (status === 'failed') throw await failedAtOnce(open, deployment);
}

export const wait: Step = {
  name: 'wait',
  title: 'Wait for the deployment',
  due: ({release}) => release?.wait === true,
  async run(ledger, {outlet}) {
    const {open, release, deployment} = known(ledger, 'open', 'release', 'deployment');
    const {status, url} = await pollDeployment(open, deployment);
    outlet.title(`Deployed to ${release.targetSlug}`);
    return {status, url: url ?? ledger.url};
  },
};

export const check: Step = {
  name: 'check',
  title({release}) {
    const [only, ...more] = release?.checks ?? [];
    return only === undefined || more.length > 0 ? 'Check what was deployed' : `Check ${shownPlace(only)}`;
  },
  due: ({release}) => release !== undefined && release.checks.length > 0,
  async run(ledger, {outlet}) {
    const {open, release, bundleId} = known(ledger, 'open', 'release', 'bundleId');
    const {targetSlug, checks} = release;
    const checked = await checkDeployment(open, {targetSlug, url: ledger.url}, checks);
    const {refused, url, ...outcome} = checked;
    Object.assign(ledger, {check: outcome, url});
    if (!outcome.passed) {
      if (refused === undefined) await recordFailedCheck(open, targetSlug, bundleId);
      const goesBack = !release.rollsBack && (await canRollBack(open, targetSlug)) !== false;
      throw checkFailed(open, {bundleId, targetSlug, goesBack}, checked);
    }
    outlet.title(describeChecks(outcome));
    return {};
  },
};

/** What was deployed is live, so a failure is only a warning. */
export const invalidateAfter: Step = {
  name: 'invalidate',
  title: 'Clear the cache',
  due: ({release}) => release !== undefined && release.invalidate.length > 0,
  async run(ledger, {outlet}) {
    const {open, release} = known(ledger, 'open', 'release');
    const {targetSlug, invalidate: patterns} = release;
    try {
      await makeChange(open, targetChanges.invalidate, {targetSlug, patterns});
      outlet.title(targetChanges.invalidate.outcome({targetSlug, patterns}, false));
      return {};
    } catch (error) {
      if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
      outlet.title(`The cache of ${targetSlug} was not cleared`);
      outlet.warn(`The deployment is live, but the cache of ${targetSlug} was not cleared: ${error.message}`);
      return {uncleared: error};
    }
  },
};

/** Deploys what ran before if the deployment or a check of it has failed. */
export const rollback: Step = {
  name: 'rollback',
  title: ({release}) => `Roll ${String(release?.targetSlug)} back if this fails`,
  due({release, failure, deployment, before}) {
    if (release?.rollsBack !== true) return false;
    if (failure === undefined) return true;
    return provesFailure(failure.error) && deployment !== undefined && before !== undefined;
  },
  recovers: true,
  async run(ledger, {outlet}) {
    const {open, release, ...failed} = known(ledger, 'open', 'release', 'bundleId', 'deployment', 'before');
    const {targetSlug} = release;
    const {live, reason} = deploymentBefore(failed, targetSlug);
    const bundleId = live?.bundleId;
    ledger.rollback = {rolledBack: false, bundleId, reason};
    try {
      if (live === undefined || bundleId === undefined) throw new Error(reason);
      const deployment = await deployAgain(open, release, failed, bundleId);
      ledger.rollback = {...ledger.rollback, deployment};
      const {status} = await pollDeployment(open, deployment);
      const isDoubtful = hasFailedCheck(live, await failedChecks(open, targetSlug));
      outlet.title(`Rolled ${targetSlug} back to bundle ${String(bundleId)}`);
      return {rollback: {...ledger.rollback, rolledBack: true, status, isDoubtful}};
    } catch (error) {
      const isTheirs = isRuntimeCliError(error) && error.code === 'ERR_NOT_ROLLED_BACK';
      const why = isTheirs ? {reason: asClause(error.message)} : {error};
      ledger.rollback = {...ledger.rollback, ...(reason === undefined && why)};
      throw error;
    }
  },
};
