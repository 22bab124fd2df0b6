import {configurationError, missingConfiguration, notConfigured} from '../backends/configuration.js';
import type {HostBackend} from '../backends/built-in.js';
import type {BackendCapability} from '../backends/contract.js';
import {backendTitle, type RuntimeBackend, type RuntimeBackendPreference} from '../backends/names.js';
import {createBackendRegistry, type BackendRegistry} from '../backends/registry.js';
import {
  failedTwice,
  fallbackWarning,
  firstChoice,
  unfitForApi,
  uploadFallbackReason,
  type BackendSelection,
} from '../backends/select.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {optionProblems, rejectProblems, slugProblems} from '../settings/definitions.js';
import {flagValue} from '../text/suggest.js';
import {requireCapability} from './call-backend.js';
import {callBackSafely, type Host, type RunHost} from './host.js';
import {configDirectoryOf, openBackend, type OpenBackend, type OpenOptions} from './open-backend.js';
import type {ConnectionOptions, ProjectOptions} from './options.js';

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

type ChoosingOptions = OpenOptions & {readonly preference: RuntimeBackendPreference};

interface Choosing {
  readonly capabilities: readonly BackendCapability[];
  /** Whether the choice is only shown: the backend need not be configured then. @default false */
  readonly previews?: boolean;
}

/** Chooses and opens the backend that serves a call, without touching the network. */
export async function chooseBackend(
  options: ChoosingOptions,
  {capabilities, previews = false}: Choosing,
  host: RunHost,
): Promise<ChosenBackend> {
  const registry = registryOf(options);
  const selection = await select(options, registry, host);
  const {fellBack, fallback} = selection;
  const backend = registry.get(selection.backend);
  for (const capability of capabilities) requireCapability(backend, capability);
  const error = await servingError(backend, options, previews, host);
  if (error !== undefined && !previews) throw error;
  const unconfigured = error?.message;
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

/**
 * Opens a backend by its name, for what one backend alone knows.
 * @throws RuntimeCliError if it is not configured.
 */
export async function openNamed(name: RuntimeBackend, options: OpenOptions, host: RunHost): Promise<OpenBackend> {
  const backend = registryOf(options).get(name);
  const error = await servingError(backend, options, false, host);
  if (error !== undefined) throw error;
  return openBackend(backend, options, host, name);
}

/** Verifies a call and chooses a backend that has `capabilities`. Sends nothing. */
export async function chooseCapable(
  options: ProjectOptions & OpenOptions,
  capabilities: readonly BackendCapability[],
  host: RunHost,
): Promise<ChosenBackend> {
  options.signal?.throwIfAborted();
  rejectProblems([...slugProblems('projectSlug', options.projectSlug), ...optionProblems(options, ['targetSlug'])]);
  try {
    return await chooseBackend(options, {capabilities}, host);
  } catch (error) {
    const mayBeLegacy = options.preference === 'auto' && options.legacyAuth !== undefined;
    throw withOtherBackend(error, mayBeLegacy ? 'legacy' : undefined);
  }
}

function registryOf({backends}: ConnectionOptions): BackendRegistry {
  return backends ?? createBackendRegistry();
}

/** What backends are asked about: any call, or this one, whose slugs may not fit. */
function surroundingsOf(options: OpenOptions, host: Host) {
  const {env, logger, settingNames} = host;
  const {projectSlug, targetSlug} = options;
  const anyCall = {configDirectory: configDirectoryOf(options, host), env, logger, settingNames};
  return {anyCall, thisCall: {...anyCall, projectSlug, targetSlug}};
}

/**
 * Selects a backend. With `auto`, only a configured Runtime (API key) serves as a fallback. It is used at once if Api
 * cannot take the slugs of the call.
 */
async function select(options: ChoosingOptions, registry: BackendRegistry, host: Host): Promise<BackendSelection> {
  const {preference} = options;
  const backend = firstChoice(preference, options);
  if (preference !== 'auto') return {backend, reason: 'as configured'};
  if (backend === 'legacy') return {backend, reason: 'no API connection is configured'};
  const {anyCall, thisCall} = surroundingsOf(options, host);
  // An API connection that is configured but invalid is an error, never a reason to use legacy.
  const error = await configurationError(registry.get(backend), options, anyCall);
  if (error !== undefined) throw error;
  const unfit = await missingConfiguration(registry.get(backend), options, thisCall);
  const hasLegacy = (await missingConfiguration(registry.get('legacy'), options, thisCall)).length === 0;
  if (unfit.length > 0 && hasLegacy) {
    const reason = `the Runtime (OAuth) backend requires ${unfit.join(', and ')}`;
    return {backend: 'legacy', reason, fellBack: reason};
  }
  return {backend, reason: 'auto; the API connection is configured', fallback: hasLegacy ? 'legacy' : undefined};
}

/** Why a backend cannot serve yet. @throws RuntimeCliError if it could not either once it is configured. */
async function servingError(
  backend: HostBackend,
  options: OpenOptions,
  previews: boolean,
  host: Host,
): Promise<Error | undefined> {
  const {anyCall, thisCall} = surroundingsOf(options, host);
  const missing = await missingConfiguration(backend, options, thisCall);
  if (missing.length === 0) return undefined;
  if (backend.name === 'api') {
    const unset = await missingConfiguration(backend, options, anyCall);
    const unfit = missing.filter((what) => !unset.includes(what));
    // Credentials would not help against such a slug.
    if (unfit.length > 0 && (previews || unset.length === 0)) throw unfitForApi(unfit);
  }
  return notConfigured(backend, missing, options, host.env);
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

/** What falls back from Api to legacy. */
interface FallingBack<Result> {
  /** Why a failure may fall back. Undefined when it must not. @throws Error the failure with more advice */
  readonly reasonFor: (error: unknown) => string | undefined;
  readonly first: (open: OpenBackend) => Promise<Result>;
  readonly second: (open: OpenBackend) => Promise<Result>;
}

/**
 * Lets the chosen backend serve a call. With `auto`, legacy takes over if Api definitely refuses. The caller hears
 * which backend is about to serve: as long as nothing has been sent, a callback that throws fails the call.
 */
export async function withFallback<Result>(
  {selection: {fellBack}, open, fallback}: ChosenBackend,
  {reasonFor, first, second}: FallingBack<Result>,
): Promise<Result> {
  const {outlet} = open.host;
  if (fellBack !== undefined) await outlet.fallBack(fellBack);
  await outlet.resolve(open.project.backend);
  try {
    return await first(open);
  } catch (error) {
    const reason = fallback === undefined ? undefined : reasonFor(error);
    if (fallback === undefined || reason === undefined) throw error;
    outlet.note(`Falling back to the Runtime (API key) backend: ${reason}`);
    callBackSafely(() => outlet.fallBack(reason));
    callBackSafely(() => outlet.resolve(fallback.backend.name));
    outlet.warn(fallbackWarning(reason));
    try {
      return await second(await fallback.open());
    } catch (failure) {
      throw failedTwice(error, failure);
    }
  }
}
