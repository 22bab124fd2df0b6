import type {BundleId} from '../backends/contract.js';
import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {deployResult, requestDeployment} from '../operations/deploy/deploy-bundle.js';
import {
  chooseRollbackBackend,
  describeRollback,
  planRollback,
  rollbackCommand,
  skippedWarnings,
  type RollbackBundleOptions,
  type RollbackBundleResult,
} from '../operations/deploy/rollback-bundle.js';
import {activeGuards, askForTarget, rollbackRules} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {withOtherBackend, type BundleSelection} from '../operations/open-backend.js';
import {guardStep, waitStep, type DeployRun} from './deploy.js';
import {checkStep} from './follow-ups.js';
import {resolveStep, type ResolvedRun} from './resolve.js';
import type {PipelineHost} from './host.js';
import {made, runPipeline, type Step} from './run.js';

interface RollbackRun extends DeployRun {
  selection?: ResolvedRun<BundleSelection>['selection'];
  /** The bundle that ran before. */
  rolledBackFrom?: BundleId | undefined;
  /** Warnings about bundles that are skipped. */
  skipped?: readonly string[];
}

/**
 * Deploys the bundle that a target ran before the current one, or the one given by `to`.
 * @throws RuntimeCliError `ERR_REJECTED` when there is no such bundle, and as `deployBundle`; `signal.reason` when
 * aborted.
 */
export async function rollbackBundle(given: RollbackBundleOptions, host: PipelineHost): Promise<RollbackBundleResult> {
  const {to, ...options} = withFollowUps(given);
  const {projectSlug, targetSlug} = options;
  refuseUnsafe({...options, operation: 'rollback'}, host);
  const rules = {...options, guard: rollbackRules(options.guard)};
  const run: RollbackRun = {host, watch: undefined};
  const orElsewhere = (error: unknown): never => {
    throw withOtherBackend(error, run.selection?.other, rollbackCommand({...options, to}));
  };
  const finding: readonly Step<RollbackRun>[] = [
    resolveStep(() => chooseRollbackBackend({...options, to}, host)),
    {
      name: 'find',
      title: 'Find the bundle to roll back to',
      task: async (_, report) => {
        const planning = planRollback({...report.watch(options), to}, made(run, 'selection'), host);
        const plan = await planning.catch(orElsewhere);
        run.bundleId = plan.bundleId;
        run.rolledBackFrom = plan.current?.bundleId;
        run.skipped = skippedWarnings(plan);
        report.title = `Rolling back to ${describeRollback(plan)}`;
        report.warn(run.skipped);
      },
    },
  ];
  const deploying: readonly Step<RollbackRun>[] = [
    {
      name: 'deploy',
      title: `Deploy to ${targetSlug}`,
      task: async (_, report) => {
        const deploy = {...report.watch(options), bundleId: made(run, 'bundleId'), operation: 'rollback'} as const;
        const requesting = requestDeployment(deploy, made(run, 'selection'), host, report.note);
        run.accepted = await requesting.catch(orElsewhere);
        report.title = `Deployment of bundle ${String(run.accepted.bundleId)} to ${targetSlug} accepted`;
        report.warn(run.accepted.warnings);
        if (!options.wait) run.result = deployResult(options, run.accepted, host);
      },
    },
    waitStep(options),
    checkStep(options),
  ];
  if (activeGuards(rules.guard).length === 0) await runPipeline(run, [...finding, ...deploying]);
  else {
    await runPipeline(run, [...finding, guardStep('rollback', rules)]);
    await askForTarget({operation: 'rollback', projectSlug, targetSlug, bundleId: run.bundleId}, rules);
    await runPipeline(run, deploying);
  }
  const {rolledBackFrom, check} = run;
  const result = made(run, 'result');
  const warnings = [...made(run, 'skipped'), ...result.warnings];
  return {...result, warnings, ...(check && {check}), rolledBackFrom};
}
