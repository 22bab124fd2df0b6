import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  choosePromoter,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from '../operations/deploy/promote-bundle.js';
import {findRunning} from '../operations/targets.js';
import type {DataOf} from '../operations/outlet.js';
import {oneLine} from '../text/sentence.js';
import {runDeployment} from './deploy.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';

export async function promoteBundle(
  given: DataOf<PromoteBundleOptions>,
  host: PipelineHost,
): Promise<Served<PromoteBundleResult>> {
  const {from, ...options} = withFollowUps(given);
  const {open, result} = await runDeployment(
    options,
    {
      operation: 'promote',
      choose: (host) => choosePromoter({...options, from}, host),
      bundle: {
        title: `Find the bundle that ${from} runs`,
        async find(chosen, host) {
          const {bundleId, message} = await findRunning(chosen.open, from);
          host.outlet.title(
            `${from} runs bundle ${String(bundleId)}${message === undefined ? '' : ` "${oneLine(message)}"`}`,
          );
          return bundleId;
        },
      },
      from,
    },
    host,
  );
  return {open, result: {...result, promotedFrom: from}};
}
