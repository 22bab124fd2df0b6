import {requestedBundleId} from '../backends/answers.js';
import type {BackendCapability, BundleId} from '../backends/contract.js';
import {
  uploadFallbackReason,
  type BackendSelection,
  type RuntimeBackend,
  type RuntimeBackendPreference,
} from '../backends/select.js';
import {commandLine} from '../errors/command-line.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import type {Host} from './host.js';
import {chooseBackend, type BackendCallOptions} from './open-backend.js';
import {verifySlugs} from './plan-push.js';

/** A choice without a fallback. */
export interface BundleSelection extends Omit<BackendSelection, 'fallback'> {
  /** The backend that `auto` would have fallen back to, were there no ids. */
  readonly other?: RuntimeBackend | undefined;
}

/** A command without its `--runtime-backend`. */
export type Command = readonly (string | number)[];

/**
 * Verifies a call that names bundles by their ids and chooses its backend; nothing is sent. It has no fallback: ids never
 * cross backends.
 * @param command does what the call does; an error of `auto` shows it for the other backend
 * @throws RuntimeCliError for wrong slugs, a backend that is not configured or cannot do it.
 */
export async function chooseForBundle(
  options: BackendCallOptions & {readonly preference: RuntimeBackendPreference},
  capabilities: readonly BackendCapability[],
  command: Command,
  host: Host,
): Promise<BundleSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  try {
    const {fallback, ...selection} = await chooseBackend(options.preference, options, capabilities, host);
    return {...selection, other: fallback};
  } catch (error) {
    const mayBeLegacy = options.preference === 'auto' && options.legacyAuth !== undefined;
    throw withOtherBackend(error, mayBeLegacy ? 'legacy' : undefined, command);
  }
}

/**
 * The error of a backend that definitely refused, with the command for the other one: the same id is another bundle
 * there, and who knows where it was pushed to says so.
 */
export function withOtherBackend(error: unknown, other: RuntimeBackend | undefined, command: Command): unknown {
  if (other === undefined || !isRuntimeCliError(error) || uploadFallbackReason(error) === undefined) return error;
  return amendError(error, {
    suggestions: [`If you push to the ${other} backend, run:`, commandLine(...command, '--runtime-backend', other)],
  });
}

/** Ids of the built-in backends are numbers, however they were typed; those of plugins are what they are. */
export function idFor(backend: RuntimeBackend, bundleId: BundleId): BundleId {
  return backend === 'api' || backend === 'legacy' ? requestedBundleId(bundleId, backend) : bundleId;
}
