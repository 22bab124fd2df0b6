import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  choosePromoter,
  findPromoted,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from '../operations/deploy/promote-bundle.js';
import {runDeployment, type Deploying} from './deploy.js';
import type {PipelineHost} from './host.js';

export async function promoteBundle(given: PromoteBundleOptions, host: PipelineHost): Promise<PromoteBundleResult> {
  const options = withFollowUps(given);
  const {from} = options;
  const promoting = {
    operation: 'promote',
    choose: () => choosePromoter(options, host),
    bundle: {
      title: `Find the bundle that ${from} runs`,
      find: async (selection, report) => {
        const {bundleId, message} = await findPromoted(report.watch(options), selection, host);
        report.title = `${from} runs bundle ${String(bundleId)}${message === undefined ? '' : ` "${message}"`}`;
        return bundleId;
      },
    },
    from,
  } satisfies Deploying;
  return {...(await runDeployment(options, promoting, host)), promotedFrom: from};
}
