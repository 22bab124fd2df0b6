import {withFollowUps} from '../operations/deploy/check-deployment.js';
import {
  choosePromoter,
  type PromoteBundleOptions,
  type PromoteBundleResult,
} from '../operations/deploy/promote-bundle.js';
import {findRunning} from '../operations/list.js';
import type {WithoutCallbacks} from '../operations/outlet.js';
import {runDeployment} from './deploy.js';
import type {PipelineHost} from './host.js';
import type {Served} from './next-steps.js';

export async function promoteBundle(
  options: WithoutCallbacks<PromoteBundleOptions>,
  host: PipelineHost,
): Promise<PromoteBundleResult> {
  return (await servePromotion(options, host)).result;
}

/** Promotes a bundle, and says which backend has served the call. */
export async function servePromotion(
  given: WithoutCallbacks<PromoteBundleOptions>,
  host: PipelineHost,
): Promise<Served<PromoteBundleResult>> {
  const {from, ...options} = withFollowUps(given);
  const {open, result} = await runDeployment(
    options,
    {
      operation: 'promote',
      choose: (outlet) => choosePromoter({...options, from}, host, outlet),
      bundle: {
        title: `Find the bundle that ${from} runs`,
        async find(chosen, outlet) {
          const {bundleId, message} = await findRunning(chosen.open, from);
          outlet.title(`${from} runs bundle ${String(bundleId)}${message === undefined ? '' : ` "${message}"`}`);
          return bundleId;
        },
      },
      from,
    },
    host,
  );
  return {open, result: {...result, promotedFrom: from}};
}
