import type {BackendCapability} from '../backends/contract.js';
import {backendTitle, type RuntimeBackend, type RuntimeBackendPreference} from '../backends/names.js';
import {capabilitiesOf} from '../backends/members.js';
import {createBackendRegistry} from '../backends/registry.js';
import {resolveBackend, unfitForSlugs, type ResolvedBackend} from '../backends/resolve-backend.js';
import {
  failedTwice,
  fallbackWarning,
  firstChoice,
  uploadFallbackReason,
  type BackendSelection,
} from '../backends/select.js';
import {amendError, isRuntimeCliError} from '../errors/index.js';
import {optionProblems, rejectProblems, slugProblems} from '../settings/definitions.js';
import {flagValue} from '../text/suggest.js';
import {requireCapability} from './call-backend.js';
import {callBack, callBackSafely, type RunHost} from './host.js';
import {openBackend, checkContextOf, type OpenBackend, type OpenOptions} from './open-backend.js';
import type {ProjectOptions} from './options.js';

export interface ChosenBackend {
  readonly selection: BackendSelection;
  readonly open: OpenBackend;
  /** Takes over if this one definitely refuses. Undefined if there is none. */
  readonly fallback: OpenBackend | undefined;
}

type ChoosingOptions = OpenOptions & {readonly preference: RuntimeBackendPreference};

/** Chooses and opens the backend that serves a call, without touching the network. A dry run needs no configuration. */
export async function chooseBackend(
  options: ChoosingOptions,
  {capabilities, dryRun = false}: {readonly capabilities: readonly BackendCapability[]; readonly dryRun?: boolean},
  host: RunHost,
): Promise<ChosenBackend> {
  const {selection, serving, fallback} = await select(options, host);
  const {backend, unfit, problem} = serving;
  for (const capability of capabilities) requireCapability(backend, capability);
  // Credentials would not help against such a slug.
  if (dryRun && unfit.length > 0) throw unfitForSlugs(backend, unfit);
  if (problem !== undefined && !dryRun) throw problem;
  const unconfigured = problem?.message;
  const {fellBack} = selection;
  const warnings = [fellBack && fallbackWarning(fellBack), unconfigured];
  for (const warning of warnings) if (warning !== undefined) host.outlet.warn(warning);
  host.logger.debug(`Backend: ${selection.backend} (${selection.reason})`);
  host.outlet.title(`Backend: ${backendTitle(selection.backend)}`);
  return {
    selection: unconfigured === undefined ? selection : {...selection, unconfigured},
    open: openBackend(serving, options, host),
    fallback: fallback && openBackend(fallback, options, host),
  };
}

/** Opens a backend by its name. @throws RuntimeCliError if it is not configured */
export async function openNamed(name: RuntimeBackend, options: OpenOptions, host: RunHost): Promise<OpenBackend> {
  const resolved = await resolveNamed(name, options, host);
  if (resolved.problem !== undefined) throw resolved.problem;
  return openBackend(resolved, options, host);
}

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
    throw await adviseLegacy(error, options, capabilities, host);
  }
}

/** Advises Runtime (API key) where Api cannot serve a call, but that could. */
async function adviseLegacy(
  error: unknown,
  options: ProjectOptions & OpenOptions,
  capabilities: readonly BackendCapability[],
  host: RunHost,
): Promise<unknown> {
  if (options.preference !== 'auto' && options.preference !== 'api') return error;
  const {backend, problem} = await resolveNamed('legacy', options, host);
  if (!capabilities.every((capability) => capabilitiesOf(backend).includes(capability))) return error;
  if (problem === undefined) return withOtherBackend(error, 'legacy');
  if (!isRuntimeCliError(error) || error.code !== 'ERR_CAPABILITY_UNSUPPORTED') return error;
  const login = {run: ['auth:login', '--runtime-backend', 'legacy', '--origin', 'URL']};
  const again = ', and the command again with --runtime-backend legacy --origin URL.';
  const advice = [`The ${backendTitle('legacy')} backend does. If your project is there, run `, login, again];
  return amendError(error, {advice: [advice, ...error.advice]});
}

async function resolveNamed(name: RuntimeBackend, options: OpenOptions, host: RunHost): Promise<ResolvedBackend> {
  const {backends = createBackendRegistry()} = options;
  return resolveBackend(backends.get(name), options, checkContextOf(options, host), name);
}

interface Selected {
  readonly selection: BackendSelection;
  readonly serving: ResolvedBackend;
  readonly fallback?: ResolvedBackend | undefined;
}

/** With `auto`, a configured Runtime (API key) is the fallback, at once if Api cannot take the slugs of the call. */
async function select(options: ChoosingOptions, host: RunHost): Promise<Selected> {
  const {preference} = options;
  const backend = firstChoice(preference, options);
  const serving = await resolveNamed(backend, options, host);
  if (preference !== 'auto') return {selection: {backend, reason: 'as configured'}, serving};
  if (backend === 'legacy') return {selection: {backend, reason: 'no API connection is configured'}, serving};
  const {missing, unfit, problem} = serving;
  // An API connection that is configured but invalid is an error, never a reason to use legacy.
  if (problem !== undefined && missing.length > 0) throw problem;
  const legacy = await resolveNamed('legacy', options, host);
  const fallback = legacy.problem === undefined ? legacy : undefined;
  if (unfit.length > 0 && fallback !== undefined) {
    const reason = `the Runtime (OAuth) backend requires ${unfit.join(', and ')}`;
    return {selection: {backend: 'legacy', reason, fellBack: reason}, serving: fallback};
  }
  const reason = 'auto; the API connection is configured';
  return {selection: {backend, reason, fallback: fallback && 'legacy'}, serving, fallback};
}

/** Advises the other backend where there is no fallback: the same bundle ID is another bundle there. */
export function withOtherBackend(error: unknown, other: RuntimeBackend | undefined): unknown {
  if (other === undefined || !isRuntimeCliError(error) || uploadFallbackReason(error) === undefined) return error;
  const flags = flagValue('--runtime-backend', other).join(' ');
  const advice = `If your project is on the ${backendTitle(other)} backend, run the command again with ${flags}.`;
  return amendError(error, {advice: [advice, ...error.advice]});
}

interface FallingBack<Result> {
  /** Why a failure may fall back. Undefined when it must not. @throws Error the failure with more advice */
  readonly reasonFor: (error: unknown) => string | undefined;
  readonly first: (open: OpenBackend) => Promise<Result>;
  readonly second: (open: OpenBackend) => Promise<Result>;
}

/** Lets the chosen backend serve a call, and legacy if Api definitely refuses. The caller hears which one will. */
export async function withFallback<Result>(
  {selection: {fellBack}, open, fallback}: ChosenBackend,
  {reasonFor, first, second}: FallingBack<Result>,
): Promise<Result> {
  const {outlet, callbacks: {onFallback, onResolve} = {}} = open.host;
  if (fellBack !== undefined) await callBack(() => onFallback?.(fellBack));
  await callBack(() => onResolve?.(open.project.backend));
  try {
    return await first(open);
  } catch (error) {
    const reason = fallback === undefined ? undefined : reasonFor(error);
    if (fallback === undefined || reason === undefined) throw error;
    outlet.note(`Falling back to the Runtime (API key) backend: ${reason}`);
    callBackSafely(() => onFallback?.(reason));
    callBackSafely(() => onResolve?.(fallback.project.backend));
    outlet.warn(fallbackWarning(reason));
    try {
      return await second(fallback);
    } catch (failure) {
      throw failedTwice(error, failure);
    }
  }
}
