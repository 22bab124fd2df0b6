import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  choosePromoter,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from '../operations/deploy/promote-bundle.js';
import {findRunning} from '../operations/list.js';
import {openBackend} from '../operations/open-backend.js';
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
      find: async ({backend}, report) => {
        const open = await openBackend(backend, {...report.watch(options), targetSlug: from}, host);
        const {bundleId, message} = await findRunning(open, from);
        report.title = `${from} runs bundle ${String(bundleId)}${message === undefined ? '' : ` "${message}"`}`;
        return bundleId;
      },
    },
    from,
  } satisfies Deploying;
  return {...(await runDeployment(options, promoting, host)), promotedFrom: from};
}
