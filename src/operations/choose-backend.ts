import {missingConfiguration, notConfigured} from '../backends/configuration.js';
import type {BackendCapability} from '../backends/contract.js';
import {backendTitle, type RuntimeBackend, type RuntimeBackendPreference} from '../backends/names.js';
import {
  fallbackWarning,
  selectBackend,
  unfitForApi,
  uploadFallbackReason,
  type BackendSelection,
} from '../backends/select.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {flagValue} from '../text/suggest.js';
import {optionProblems, rejectProblems, slugProblems} from '../settings/definitions.js';
import type {Host} from './host.js';
import type {ProjectOptions} from './options.js';
import {configDirectoryOf, registryOf, requireCapability, type BackendCallOptions} from './open-backend.js';

export function verifySlugs(options: {readonly projectSlug: string; readonly targetSlug?: string | undefined}): void {
  rejectProblems([...slugProblems('projectSlug', options.projectSlug), ...optionProblems(options, ['targetSlug'])]);
}

/**
 * Chooses the backend that serves a call, without touching the network.
 * @param previews whether it is only told: it need not be configured then
 */
export async function chooseBackend(
  preference: RuntimeBackendPreference,
  options: BackendCallOptions,
  capabilities: readonly BackendCapability[],
  host: Host,
  {previews = false}: {readonly previews?: boolean} = {},
): Promise<BackendSelection> {
  const selection: BackendSelection =
    preference === 'auto' ? await chooseAutomatically(options, host) : {backend: preference, reason: 'as configured'};
  const backend = registryOf(options).get(selection.backend);
  for (const capability of capabilities) requireCapability(backend, capability);
  const missing = await missingFor(selection.backend, options, host);
  if (missing.length === 0) {
    if (selection.fellBack !== undefined) host.logger.warn(fallbackWarning(selection.fellBack));
    return selection;
  }
  if (selection.backend === 'api') {
    const unset = await missingFor('api', withoutSlugs(options), host);
    const unfit = missing.filter((what) => !unset.includes(what));
    // Credentials would not help against such a slug.
    if (unfit.length > 0 && (previews || unset.length === 0)) throw unfitForApi(unfit);
  }
  const error = notConfigured(backend, missing, options, host.env);
  if (previews) return {...selection, unconfigured: error.message};
  throw error;
}

/** Verifies a call and chooses a backend that has `capabilities`. Sends nothing. */
export async function chooseCapable(
  options: ProjectOptions & BackendCallOptions,
  capabilities: readonly BackendCapability[],
  host: Host,
): Promise<BackendSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  try {
    return await chooseBackend(options.preference, options, capabilities, host);
  } catch (error) {
    const mayBeLegacy = options.preference === 'auto' && options.legacyAuth !== undefined;
    throw withOtherBackend(error, mayBeLegacy ? 'legacy' : undefined);
  }
}

/** Chooses for `auto`. An API connection that is configured but invalid is an error, never a reason to use legacy. */
async function chooseAutomatically(options: BackendCallOptions, host: Host): Promise<BackendSelection> {
  const [apiMissing, legacyMissing, apiUnfit] = await Promise.all([
    missingFor('api', withoutSlugs(options), host),
    missingFor('legacy', options, host),
    missingFor('api', options, host),
  ]);
  if (options.apiConnection !== undefined && apiMissing.length > 0) {
    throw notConfigured({name: 'api'}, apiMissing, options, host.env);
  }
  const {apiUnset = options.apiConnection === undefined && options.apiMissing === undefined} = options;
  return selectBackend({apiMissing, apiUnset, apiUnfit, legacyMissing});
}

type CallWithoutSlugs = Omit<BackendCallOptions, 'projectSlug'> & {readonly projectSlug?: string | undefined};

function withoutSlugs(options: BackendCallOptions): CallWithoutSlugs {
  return {...options, projectSlug: undefined, targetSlug: undefined};
}

function missingFor(name: string, options: CallWithoutSlugs, host: Host): Promise<readonly string[]> {
  const {env, logger} = host;
  const {projectSlug, targetSlug} = options;
  const configDirectory = configDirectoryOf(options, host);
  const surroundings = {configDirectory, env, logger, projectSlug, targetSlug};
  return missingConfiguration(registryOf(options).get(name), options, surroundings);
}

/**
 * Adds a way to the other backend to the error of one that definitely refused. There is no fallback for a call that
 * identifies bundles by ID: the same ID is another bundle there, so that is the user's choice.
 */
export function withOtherBackend(error: unknown, other: RuntimeBackend | undefined): unknown {
  if (other === undefined || !isRuntimeCliError(error) || uploadFallbackReason(error) === undefined) return error;
  const flags = flagValue('--runtime-backend', other).join(' ');
  return amendError(error, {
    suggestions: [`If your bundles are on the ${backendTitle(other)} backend, run the command again with ${flags}.`],
  });
}

/** `Backend: Runtime (API key)`. Its name, and why it was chosen, are for debugging. */
export function describeSelection({backend, reason}: BackendSelection, {logger}: Host): string {
  logger.debug(`Backend: ${backend} (${reason})`);
  return `Backend: ${backendTitle(backend)}`;
}
