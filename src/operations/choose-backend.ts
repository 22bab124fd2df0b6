import {missingConfiguration, notConfigured} from '../backends/configuration.js';
import type {HostBackend} from '../backends/built-in.js';
import type {BackendCapability} from '../backends/contract.js';
import {backendTitle, type RuntimeBackend, type RuntimeBackendPreference} from '../backends/names.js';
import {createBackendRegistry, type BackendRegistry} from '../backends/registry.js';
import {
  fallbackWarning,
  selectBackend,
  unfitForApi,
  uploadFallbackReason,
  type BackendSelection,
} from '../backends/select.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {optionProblems, rejectProblems, slugProblems} from '../settings/definitions.js';
import {flagValue} from '../text/suggest.js';
import {requireCapability} from './call-backend.js';
import type {Host, RunHost} from './host.js';
import {configDirectoryOf, openBackend, type OpenBackend, type OpenOptions} from './open-backend.js';
import type {ConnectionOptions, ProjectOptions} from './options.js';
import type {DataOf} from './outlet.js';

/** The backend that serves a run. */
export interface ChosenBackend {
  readonly selection: BackendSelection;
  readonly open: OpenBackend;
  /** Takes over if this one definitely refuses. Undefined if there is none. */
  readonly fallback: Fallback | undefined;
}

interface Fallback {
  readonly backend: HostBackend;
  readonly open: () => Promise<OpenBackend>;
}

interface Choosing {
  readonly capabilities: readonly BackendCapability[];
  /** Whether the choice is only shown: the backend need not be configured then. @default false */
  readonly previews?: boolean;
}

export function verifySlugs(options: {readonly projectSlug: string; readonly targetSlug?: string | undefined}): void {
  rejectProblems([...slugProblems('projectSlug', options.projectSlug), ...optionProblems(options, ['targetSlug'])]);
}

/** Chooses and opens the backend that serves a call, without touching the network. */
export async function chooseBackend(
  options: OpenOptions & {readonly preference: RuntimeBackendPreference},
  {capabilities, previews = false}: Choosing,
  host: RunHost,
): Promise<ChosenBackend> {
  const registry = registryOf(options);
  const selection = await select(options, registry, host);
  const backend = registry.get(selection.backend);
  for (const capability of capabilities) requireCapability(backend, capability);
  const unconfigured = await verifyConfigured(selection.backend, options, registry, host, previews);
  const {fellBack, fallback} = selection;
  const fallbackTo = (other: HostBackend) => ({backend: other, open: () => openBackend(other, options, host)});
  const warnings = [fellBack && fallbackWarning(fellBack), unconfigured];
  for (const warning of warnings) if (warning !== undefined) host.outlet.warn(warning);
  host.logger.debug(`Backend: ${selection.backend} (${selection.reason})`);
  host.outlet.title(`Backend: ${backendTitle(selection.backend)}`);
  return {
    selection: unconfigured === undefined ? selection : {...selection, unconfigured},
    open: await openBackend(backend, options, host, selection.backend),
    fallback: fallback && fallbackTo(registry.get(fallback)),
  };
}

/** Verifies a call and chooses a backend that has `capabilities`. Sends nothing. */
export async function chooseCapable(
  options: DataOf<ProjectOptions> & OpenOptions,
  capabilities: readonly BackendCapability[],
  host: RunHost,
): Promise<ChosenBackend> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  try {
    return await chooseBackend(options, {capabilities}, host);
  } catch (error) {
    const mayBeLegacy = options.preference === 'auto' && options.legacyAuth !== undefined;
    throw withOtherBackend(error, mayBeLegacy ? 'legacy' : undefined);
  }
}

export function registryOf({backends}: ConnectionOptions): BackendRegistry {
  return backends ?? createBackendRegistry();
}

async function select(
  options: OpenOptions & {readonly preference: RuntimeBackendPreference},
  registry: BackendRegistry,
  host: Host,
): Promise<BackendSelection> {
  const {preference, apiConnection} = options;
  if (preference !== 'auto') return {backend: preference, reason: 'as configured'};
  const missing = (name: RuntimeBackend, call: CallWithoutSlugs) => missingFor(name, call, registry, host);
  const apiMissing = await missing('api', withoutSlugs(options));
  // An API connection that is configured but invalid is an error, never a reason to use legacy.
  if (apiConnection !== undefined && apiMissing.length > 0)
    throw notConfigured({name: 'api'}, apiMissing, options, host.env);
  return selectBackend({
    hasApi: apiConnection !== undefined,
    apiUnfit: await missing('api', options),
    hasLegacy: (await missing('legacy', options)).length === 0,
  });
}

/** Throws if the backend is not configured; for a preview, resolves to the message. */
async function verifyConfigured(
  name: RuntimeBackend,
  options: OpenOptions,
  registry: BackendRegistry,
  host: Host,
  previews: boolean,
): Promise<string | undefined> {
  const missing = await missingFor(name, options, registry, host);
  if (missing.length === 0) return undefined;
  if (name === 'api') {
    const unset = await missingFor('api', withoutSlugs(options), registry, host);
    const unfit = missing.filter((what) => !unset.includes(what));
    // Credentials would not help against such a slug.
    if (unfit.length > 0 && (previews || unset.length === 0)) throw unfitForApi(unfit);
  }
  const error = notConfigured(registry.get(name), missing, options, host.env);
  if (previews) return error.message;
  throw error;
}

type CallWithoutSlugs = Omit<OpenOptions, 'projectSlug'> & {readonly projectSlug?: string | undefined};

function withoutSlugs(options: OpenOptions): CallWithoutSlugs {
  return {...options, projectSlug: undefined, targetSlug: undefined};
}

function missingFor(
  name: RuntimeBackend,
  options: CallWithoutSlugs,
  registry: BackendRegistry,
  host: Host,
): Promise<readonly string[]> {
  const {env, logger, settingNames} = host;
  const {projectSlug, targetSlug} = options;
  const configDirectory = configDirectoryOf(options, host);
  const surroundings = {configDirectory, env, logger, settingNames, projectSlug, targetSlug};
  return missingConfiguration(registry.get(name), options, surroundings);
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
