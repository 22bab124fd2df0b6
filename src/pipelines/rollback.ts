import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  chooseRollbackBackend,
  describeRollback,
  planRollback,
  type RollbackBundleOptions,
  type RollbackBundleResult,
} from '../operations/deploy/rollback-bundle.js';
import type {BundleId} from '../backends/contract.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {changeRules} from '../operations/guard/guards.js';
import type {DataOf} from '../operations/outlet.js';
import {runDeployment} from './deploy.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';

const deletedAdvice = 'That bundle has been deleted. To go back to another bundle, pass --to ID.';

export async function rollbackBundle(
  given: DataOf<RollbackBundleOptions>,
  host: PipelineHost,
): Promise<Served<RollbackBundleResult>> {
  const {to, ...followed} = withFollowUps(given);
  const options = {...followed, guard: changeRules(followed.guard)};
  let rolledBackFrom: BundleId | undefined;
  try {
    const {open, result} = await runDeployment(
      options,
      {
        operation: 'rollback',
        choose: (host) => chooseRollbackBackend({...options, to}, host),
        bundle: {
          title: 'Find the bundle to roll back to',
          async find(chosen, host) {
            const plan = await planRollback(chosen.open, {...options, to}, host);
            host.outlet.title(`Rolling back to ${describeRollback(plan)}`);
            plan.warnings.forEach((warning) => host.outlet.warn(warning));
            rolledBackFrom = plan.current?.bundleId;
            return plan.bundleId;
          },
        },
      },
      host,
    );
    return {open, result: {...result, rolledBackFrom}};
  } catch (error) {
    const isGone = to === undefined && isRuntimeCliError(error) && error.code === 'ERR_BUNDLE_UNKNOWN';
    throw isGone ? amendError(error, {suggestions: [deletedAdvice]}) : error;
  }
}
