import {rejectProblems, slugProblems} from '../../settings/definitions.js';
import {createError} from '../../errors/index.js';
import {requireCapability} from '../call-backend.js';
import {chooseCapable, type ChosenBackend} from '../choose-backend.js';
import type {DeployBundleOptions, DeployBundleResult} from '../options.js';
import type {RunHost} from '../host.js';
import type {DataOf} from '../outlet.js';
import {followUpCapabilities} from './check-deployment.js';

/** Options of `promoteBundle`. */
export interface PromoteBundleOptions extends Omit<DeployBundleOptions, 'bundleId' | 'onFallback' | 'onResolve'> {
  /** Slug of the target whose bundle is deployed. */
  readonly from: string;
}

/** What `promoteBundle` resolves to. */
export interface PromoteBundleResult extends DeployBundleResult {
  /** The target that ran the bundle. */
  readonly promotedFrom: string;
}

export async function choosePromoter(options: DataOf<PromoteBundleOptions>, host: RunHost): Promise<ChosenBackend> {
  const {from, targetSlug} = options;
  if (from === targetSlug) {
    throw createError('ERR_OPTION_INVALID', `--from and --target are both ${from}, so there is nothing to promote.`, {
      suggestions: ['Pass the target that runs the bundle with --from, and the one to deploy it to with --target.'],
      details: {problems: [{option: 'from', message: 'must not be the target itself'}]},
    });
  }
  rejectProblems(slugProblems('from', from));
  const capabilities = ['history', ...followUpCapabilities(options)] as const;
  const chosen = await chooseCapable(options, capabilities, host);
  const {backend} = chosen.open;
  if (!backend.promote) requireCapability(backend, 'deploy');
  return chosen;
}
