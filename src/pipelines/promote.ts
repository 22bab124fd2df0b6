import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  choosePromoter,
  findPromoted,
  promoteCommand,
  requestPromotion,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from '../operations/deploy/promote-bundle.js';
import {deployResult} from '../operations/deploy/deploy-bundle.js';
import {explainUnfinished, watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {watchBundle} from '../operations/guard/guard-bundle.js';
import {activeGuards, askForTarget} from '../operations/guard/guards.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {withOtherBackend, type BundleSelection} from '../operations/open-backend.js';
import {guardStep, waitStep, type DeployRun} from './deploy.js';
import {checkStep, rollbackStep} from './follow-ups.js';
import {resolveStep, type ResolvedRun} from './resolve.js';
import type {PipelineHost} from './host.js';
import {made, runPipeline, type Step} from './run.js';

type PromoteRun = DeployRun & ResolvedRun<BundleSelection>;

/**
 * Deploys the bundle that one target runs to another. Uses the backend's own promotion if it has one, and otherwise
 * deploys the bundle like `deployBundle`.
 * @throws RuntimeCliError `ERR_REJECTED` when the server does not report what `from` runs, and as `deployBundle`;
 * `signal.reason` when aborted.
 */
export async function promoteBundle(given: PromoteBundleOptions, host: PipelineHost): Promise<PromoteBundleResult> {
  const options = withFollowUps(given);
  const {from, projectSlug, targetSlug} = options;
  refuseUnsafe({...options, operation: 'promote'}, host);
  const run: PromoteRun = {host, watch: watchForRollback(options)};
  const confirmation = () =>
    ({operation: 'promote', projectSlug, targetSlug, bundleId: made(run, 'bundleId')}) as const;
  const orElsewhere = (error: unknown): never => {
    throw withOtherBackend(error, run.selection?.other, promoteCommand(options));
  };
  const finding: readonly Step<PromoteRun>[] = [
    resolveStep(() => choosePromoter(options, host)),
    {
      name: 'find',
      title: `Find the bundle that ${from} runs`,
      task: async (_, report) => {
        const selection = made(run, 'selection');
        const {bundleId, message} = await findPromoted(report.watch(options), selection, host).catch(orElsewhere);
        run.bundleId = bundleId;
        report.title = `${from} runs bundle ${String(bundleId)}${message === undefined ? '' : ` "${message}"`}`;
      },
    },
  ];
  const deploying: readonly Step<PromoteRun>[] = [
    {
      name: 'deploy',
      title: `Deploy to ${targetSlug}`,
      task: async (_, report) => {
        const bundleId = made(run, 'bundleId');
        const watch = watchBundle(run.watch, confirmation(), options, host);
        const request = requestPromotion({...report.watch(options), watch}, bundleId, made(run, 'selection'), host);
        run.accepted = await request.catch(orElsewhere);
        report.title = `Promotion of bundle ${String(bundleId)} from ${from} to ${targetSlug} accepted`;
        report.warn(run.accepted.warnings);
        if (!options.wait) run.result = deployResult(options, run.accepted, host);
      },
    },
    waitStep(options),
    checkStep(options),
    rollbackStep(options),
  ];
  try {
    if (activeGuards(options.guard).length === 0) await runPipeline(run, [...finding, ...deploying]);
    else {
      await runPipeline(run, [...finding, guardStep('promote', options)]);
      await askForTarget(confirmation(), options);
      await runPipeline(run, deploying);
    }
  } catch (error) {
    throw explainUnfinished(error, run.watch);
  }
  return {...made(run, 'result'), ...(run.check && {check: run.check}), promotedFrom: from};
}
