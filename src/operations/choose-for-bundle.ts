import {requestedBundleId} from '../backends/answers.js';
import type {BackendCapability, BundleId} from '../backends/contract.js';
import type {BackendSelection, RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {amendError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import type {Host} from './host.js';
import {chooseBackend, type BackendCallOptions} from './open-backend.js';
import {verifySlugs} from './plan-push.js';

/**
 * Verifies a call that names bundles by their ids and chooses its backend; nothing is sent. It has no fallback: ids never
 * cross backends.
 * @throws RuntimeCliError for wrong slugs, a backend that is not configured or cannot do it.
 */
export async function chooseForBundle(
  options: BackendCallOptions & {readonly preference: RuntimeBackendPreference},
  capabilities: readonly BackendCapability[],
  host: Host,
): Promise<BackendSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  try {
    const {backend, reason, fellBack} = await chooseBackend(options.preference, options, capabilities, host);
    return {backend, reason, fellBack};
  } catch (error) {
    if (options.preference !== 'auto' || options.legacyAuth === undefined || !isUnsupported(error)) throw error;
    throw amendError(error, {
      suggestions: ['If the bundle was pushed to the legacy backend, add --runtime-backend legacy.'],
    });
  }
}

/** Ids of the built-in backends are numbers, however they were typed; those of plugins are what they are. */
export function idFor(backend: RuntimeBackend, bundleId: BundleId): BundleId {
  return backend === 'api' || backend === 'legacy' ? requestedBundleId(bundleId, backend) : bundleId;
}

function isUnsupported(error: unknown): error is RuntimeCliError {
  return isRuntimeCliError(error) && error.code === 'ERR_CAPABILITY_UNSUPPORTED';
}
