import type {RuntimeBackend} from '../../backends/select.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import type {Host} from '../host.js';
import type {PushPlan} from './plan-push.js';
import type {UnchangedBundle} from './unchanged-bundle.js';

/** A push that is about to be made, or previewed. */
export interface AskedPush {
  readonly backend: RuntimeBackend;
  readonly plan: Pick<PushPlan, 'options'>;
  readonly bundle: Pick<BundleContent, 'format' | 'message'> & Partial<PackResult>;
  readonly unchanged?: UnchangedBundle | undefined;
}

/**
 * Asks whether a push may be made, unless there is nothing to upload or deploy.
 * @throws RuntimeCliError if it must not be made.
 */
export async function askBeforePush(
  {backend, plan, bundle, unchanged}: AskedPush,
  host: Host,
  asked?: {readonly dryRun: boolean},
): Promise<void> {
  const {projectSlug, targetSlug} = plan.options;
  if (unchanged && targetSlug === undefined) return;
  const {format, message, size, sha256} = bundle;
  const content = unchanged
    ? {bundleIds: [unchanged.bundleId]}
    : {bundleIds: [], bundle: {format, message, size, sha256}};
  await host.writes?.before({operation: 'push', backend, projectSlug, targetSlug, ...content}, asked);
}
