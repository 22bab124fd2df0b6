import type {BundleId} from '../backends/contract.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {requestDeployment} from '../operations/deploy/deploy-bundle.js';
import {
  chooseRollbackBackend,
  describeRollback,
  planRollback,
  rollbackCommand,
  type RollbackBundleOptions,
  type RollbackBundleResult,
} from '../operations/deploy/rollback-bundle.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {rollbackRules} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {withOtherBackend} from '../operations/choose-backend.js';
import {runDeployment, type DeployRun} from './deploy.js';
import {resolveStep} from './resolve.js';
import type {PipelineHost} from './host.js';
import {made} from './run.js';

const deletedAdvice = 'It ran before, and was deleted since. To go back to another bundle, pass --to ID.';

interface RollbackRun extends DeployRun {
  /** The bundle that ran before. */
  rolledBackFrom?: BundleId | undefined;
  /** Warnings about bundles that are skipped. */
  skipped?: readonly string[];
}

/** Deploys the bundle that a target ran before the current one, or the one given by `to`. */
export async function rollbackBundle(given: RollbackBundleOptions, host: PipelineHost): Promise<RollbackBundleResult> {
  const {to, ...followed} = withFollowUps(given);
  const options = {...followed, guard: rollbackRules(followed.guard)};
  const {targetSlug} = options;
  refuseUnsafe({...options, operation: 'rollback'}, host);
  const run: RollbackRun = {host, watch: undefined};
  const orElsewhere = (error: unknown): never => {
    throw withOtherBackend(error, run.selection?.other, rollbackCommand({...options, to}));
  };
  const deployed = await runDeployment(run, options, {
    operation: 'rollback',
    finding: [
      resolveStep(() => chooseRollbackBackend({...options, to}, host)),
      {
        name: 'find',
        title: 'Find the bundle to roll back to',
        task: async (_, report) => {
          const planning = planRollback({...report.watch(options), to}, made(run, 'selection'), host);
          const plan = await planning.catch(orElsewhere);
          run.bundleId = plan.bundleId;
          run.rolledBackFrom = plan.current?.bundleId;
          run.skipped = plan.warnings;
          report.title = `Rolling back to ${describeRollback(plan)}`;
          report.warn(run.skipped);
        },
      },
    ],
    title: () => `Deploy to ${targetSlug}`,
    async request(report) {
      const deploy = {...report.watch(options), bundleId: made(run, 'bundleId'), operation: 'rollback'} as const;
      return requestDeployment(deploy, made(run, 'selection'), host, report.note).catch((error: unknown) => {
        const isGone = to === undefined && isRuntimeCliError(error) && error.code === 'ERR_BUNDLE_UNKNOWN';
        return orElsewhere(isGone ? amendError(error, {suggestions: [deletedAdvice]}) : error);
      });
    },
    describe: ({bundleId}) => `Deployment of bundle ${String(bundleId)} to ${targetSlug} accepted`,
  });
  const warnings = [...made(run, 'skipped'), ...deployed.warnings];
  return {...deployed, warnings, rolledBackFrom: run.rolledBackFrom};
}
