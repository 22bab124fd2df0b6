import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  chooseRollbackBackend,
  describeRollback,
  planRollback,
  type RollbackBundleOptions,
  type RollbackBundleResult,
  type RollbackPlan,
} from '../operations/deploy/rollback-bundle.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {rollbackRules} from '../operations/guard/guards.js';
import {runDeployment, type Deploying} from './deploy.js';
import type {PipelineHost} from './host.js';

const deletedAdvice = 'That bundle has been deleted. To go back to another bundle, pass --to ID.';

export async function rollbackBundle(given: RollbackBundleOptions, host: PipelineHost): Promise<RollbackBundleResult> {
  const {to, ...followed} = withFollowUps(given);
  const options = {...followed, guard: rollbackRules(followed.guard)};
  let plan: RollbackPlan | undefined;
  const rolling = {
    operation: 'rollback',
    choose: () => chooseRollbackBackend({...options, to}, host),
    bundle: {
      title: 'Find the bundle to roll back to',
      find: async (selection, report) => {
        plan = await planRollback({...report.watch(options), to}, selection, host);
        report.title = `Rolling back to ${describeRollback(plan)}`;
        report.warn(plan.warnings);
        return plan.bundleId;
      },
    },
  } satisfies Deploying;
  const deployed = await runDeployment(options, rolling, host).catch((error: unknown) => {
    const isGone = to === undefined && isRuntimeCliError(error) && error.code === 'ERR_BUNDLE_UNKNOWN';
    throw isGone ? amendError(error, {suggestions: [deletedAdvice]}) : error;
  });
  const warnings = [...(plan?.warnings ?? []), ...deployed.warnings];
  return {...deployed, warnings, rolledBackFrom: plan?.current?.bundleId};
}
