import type {AuthStrategy} from '../http/types.js';
import type {Host} from './host.js';
import type {PushV2Options, PushV2Result} from './options.js';
import {pushRuntimeBundle} from './push-runtime-bundle.js';

/**
 * Builds a v2 bundle and uploads it to the legacy origin; nothing is deployed.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function pushBundleV2(options: PushV2Options, auth: AuthStrategy, host: Host): Promise<PushV2Result> {
  const result = await pushRuntimeBundle(
    {...options, preference: 'legacy', v2: true, legacyAuth: auth, targetSlug: undefined},
    host,
  );
  const {bundleId, projectSlug, message, warnings, matches, archive, raw} = result;
  return {bundleId, projectSlug, message, warnings, matches, archive, raw: raw.bundle};
}
