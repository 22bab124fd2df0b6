import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  choosePromoter,
  findPromoted,
  promoteCommand,
  requestPromotion,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from '../operations/deploy/promote-bundle.js';
import {watchForRollback} from '../operations/deploy/rollback-on-failure.js';
import {watchBundle} from '../operations/guard/guard-bundle.js';
import {refuseUnsafe} from '../operations/guard/safety.js';
import {withOtherBackend} from '../operations/choose-backend.js';
import {runDeployment, type DeployRun} from './deploy.js';
import {resolveStep} from './resolve.js';
import type {PipelineHost} from './host.js';
import {made} from './run.js';

/**
 * Deploys the bundle that one target runs to another. Uses the backend's own promotion if it has one, and otherwise
 * deploys the bundle like `deployBundle`.
 */
export async function promoteBundle(given: PromoteBundleOptions, host: PipelineHost): Promise<PromoteBundleResult> {
  const options = withFollowUps(given);
  const {from, projectSlug, targetSlug} = options;
  refuseUnsafe({...options, operation: 'promote'}, host);
  const run: DeployRun = {host, watch: watchForRollback(options)};
  const orElsewhere = (error: unknown): never => {
    throw withOtherBackend(error, run.selection?.other, promoteCommand(options));
  };
  const deployed = await runDeployment(run, options, {
    operation: 'promote',
    finding: [
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
    ],
    title: () => `Deploy to ${targetSlug}`,
    async request(report) {
      const bundleId = made(run, 'bundleId');
      const watch = watchBundle(run.watch, {operation: 'promote', projectSlug, targetSlug, bundleId}, options, host);
      const watched = {...report.watch(options), watch};
      return requestPromotion(watched, bundleId, made(run, 'selection'), host).catch(orElsewhere);
    },
    describe: ({bundleId}) => `Promotion of bundle ${String(bundleId)} from ${from} to ${targetSlug} accepted`,
  });
  return {...deployed, promotedFrom: from};
}
