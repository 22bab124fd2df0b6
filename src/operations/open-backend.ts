import {resolve} from 'node:path';
import {requestedBundleId} from '../backends/answers.js';
import {
  backendCalls,
  callInContext,
  capabilitiesOf,
  contextFor,
  type HostContext,
  type OptionalCall,
} from '../backends/call.js';
import {missingConfiguration, notConfigured, optionsOf, secretsOf} from '../backends/configuration.js';
import {createBackendContext} from '../backends/context.js';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import type {Backend, BackendCapability, BackendContext, BundleId} from '../backends/contract.js';
import {createBackendRegistry, type BackendRegistry} from '../backends/registry.js';
import {
  fallbackWarning,
  selectBackend,
  unfitForApi,
  uploadFallbackReason,
  type BackendSelection,
  type RuntimeBackendPreference,
  type RuntimeBackend,
} from '../backends/select.js';
import {optionProblems, problemsOf, rejectProblems, slugProblems} from '../settings/option-problems.js';
import {createError, amendError, isRuntimeCliError} from '../errors/index.js';
import {flagValue} from '../errors/suggest.js';
import type {CommonOptions, ConnectionOptions, OperationProgress} from './options.js';
import {requestSeconds} from '../settings/schemas.js';
import {callBackSafely, type Host} from './host.js';

/** What choosing and opening a backend needs. */
export type BackendCallOptions = CommonOptions &
  ConnectionOptions & {
    readonly projectSlug: string;
    readonly targetSlug?: string | undefined;
    readonly wait?: boolean | undefined;
  };

/** A backend, and the context to call it with. */
export interface OpenBackend {
  readonly backend: HostBackend;
  readonly context: HostContext;
  /** Values to mask. The backend may add some. */
  readonly secrets: readonly string[];
  /** Flags that commands shown to the user repeat. */
  readonly commandFlags?: readonly string[] | undefined;
  /** Opens it again, with another signal, to send each request once at most, or both. Reports no progress or retry. */
  readonly reopen: (changes: {readonly signal?: AbortSignal; readonly once?: boolean}) => Promise<OpenBackend>;
}

/**
 * Checks the slugs of a call.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` listing every problem.
 */
export function verifySlugs(options: {readonly projectSlug: string; readonly targetSlug?: string | undefined}): void {
  rejectProblems([...slugProblems('projectSlug', options.projectSlug), ...optionProblems(options, ['targetSlug'])]);
}

/**
 * Chooses the backend that serves a call, without touching the network.
 * @param previews whether it is only told: it need not be configured then
 * @throws RuntimeCliError when it is unknown, is not configured or lacks one of `capabilities`.
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

/**
 * Verifies a call and chooses a backend that has `capabilities`. Sends nothing.
 * @throws RuntimeCliError for invalid slugs, and as `chooseBackend`.
 */
export async function chooseCapable(
  options: BackendCallOptions & {readonly preference: RuntimeBackendPreference},
  capabilities: readonly BackendCapability[],
  host: Host,
): Promise<BackendSelection> {
  options.signal?.throwIfAborted();
  verifySlugs(options);
  return chooseBackend(options.preference, options, capabilities, host);
}

/** Chooses for `auto`. An Api connection that is configured but invalid is an error, never a reason to use legacy. */
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

/**
 * Opens a backend for one call: validates its options and creates its client.
 * @param onUpload called with the bytes of the body that are sent
 */
export async function openBackend(
  name: string,
  options: BackendCallOptions & {readonly once?: boolean},
  host: Host,
  onUpload?: (progress: Pick<OperationProgress, 'transferred' | 'total' | 'attempt'>) => void,
): Promise<OpenBackend> {
  const backend = registryOf(options).get(name);
  const {projectSlug, targetSlug, wait, rateLimit, once, onRetry} = options;
  const secrets = [...(host.secrets ?? []), ...secretsOf(backend, options, host.env)];
  const context = await createBackendContext({
    projectSlug,
    targetSlug,
    wait,
    options: await optionsOf(backend, options),
    configDirectory: configDirectoryOf(options, host),
    env: host.env,
    logger: host.logger,
    signal: signalOf(options),
    userAgent: host.userAgent,
    rateLimit,
    once,
    timeouts: timeoutsOf(options),
    secrets,
    onSecret(secret) {
      secrets.push(secret);
      host.maskSecret?.(secret);
    },
    onRetry: onRetry && ((event) => callBackSafely(() => onRetry(event))),
    onProgress: onUpload && ((progress) => callBackSafely(() => onUpload(progress))),
    onCleanup: host.onCleanup,
  });
  return {
    ...{backend, context, secrets, commandFlags: host.commandFlags},
    reopen: (changes) => openBackend(name, {...options, onRetry: undefined, ...changes}, host),
  };
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` for a timeout outside the range of timers. */
function timeoutsOf({connectTimeout, idleTimeout, requestTimeout}: CommonOptions) {
  return {
    connectTimeoutMs: timeoutMs('connectTimeout', connectTimeout),
    idleTimeoutMs: timeoutMs('idleTimeout', idleTimeout),
    responseTimeoutMs: timeoutMs('requestTimeout', requestTimeout),
  };
}

function timeoutMs(option: string, seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  rejectProblems(problemsOf(option, seconds, requestSeconds));
  return seconds * 1000;
}

/** The signal of a call; without one, a signal that is never aborted. */
export function signalOf({signal}: Pick<CommonOptions, 'signal'>): AbortSignal {
  return signal ?? new AbortController().signal;
}

type RequestOf<Call extends OptionalCall> = Parameters<NonNullable<Backend[Call]>>[0];
type AnswerTo<Call extends OptionalCall> = Awaited<ReturnType<NonNullable<Backend[Call]>>>;
type BackendMembers = {
  readonly [Call in OptionalCall]?: (request: RequestOf<Call>, context: BackendContext) => Promise<AnswerTo<Call>>;
};

/**
 * Calls an optional member of a backend.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` when the backend does not have it, or whatever it throws, as a
 * catalogue error; `signal.reason` when aborted.
 */
export function invoke<Call extends OptionalCall>(
  {backend, context, secrets}: OpenBackend,
  call: Call,
  request: RequestOf<Call>,
): Promise<AnswerTo<Call>> {
  const kind = backendCalls[call];
  const members: BackendMembers = backend;
  const member: BackendMembers[Call] = members[call];
  if (member === undefined) throw unsupported(backend, kind.capability);
  const ask = (own: BuiltInContext) => member.call(backend, request, contextFor(call, own));
  return callInContext(backend, kind, context, ask, secrets);
}

/** @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` when the backend lacks the capability. */
export function requireCapability(backend: Backend, capability: BackendCapability): void {
  if (!capabilitiesOf(backend).includes(capability)) throw unsupported(backend, capability);
}

function unsupported(backend: Backend, capability: BackendCapability): Error {
  return createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backend.name} backend does not support "${capability}".`, {
    suggestions: [
      `It supports ${['upload', ...capabilitiesOf(backend)].join(', ')}. Run mycli backend:list to compare backends.`,
    ],
    details: {backend: backend.name, capability},
  });
}

/** The backends that a call can choose from. */
export function registryOf({backends}: ConnectionOptions): BackendRegistry {
  return backends ?? createBackendRegistry();
}

function missingFor(name: string, options: CallWithoutSlugs, host: Host): Promise<readonly string[]> {
  const {env, logger} = host;
  const {projectSlug, targetSlug} = options;
  const configDirectory = configDirectoryOf(options, host);
  const surroundings = {configDirectory, env, logger, projectSlug, targetSlug};
  return missingConfiguration(registryOf(options).get(name), options, surroundings);
}

/** The folder that relative paths in the options of a backend refer to. */
export function configDirectoryOf({cwd}: Pick<CommonOptions, 'cwd'>, host: Host): string {
  return host.configDirectory ?? resolve(host.cwd, cwd ?? '.');
}

/** A choice. For a call that identifies bundles by ID, it has no fallback. */
export interface BundleSelection extends BackendSelection {
  /** The backend that `auto` would have fallen back to without IDs. */
  readonly other?: RuntimeBackend | undefined;
}

/** A command without its `--runtime-backend`. */
export type Command = readonly (string | number)[];

/**
 * Verifies a call that identifies bundles by ID, and chooses its backend. Sends nothing. There is no fallback, because
 * IDs never cross backends.
 * @param command the equivalent command, which an error of `auto` shows for the other backend
 * @throws RuntimeCliError for invalid slugs, or a backend that is not configured or lacks a capability.
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
 * Adds the command for the other backend to the error of one that definitely refused. The same ID is another bundle
 * there, so that is the user's choice.
 */
export function withOtherBackend(error: unknown, other: RuntimeBackend | undefined, command: Command): unknown {
  if (other === undefined || !isRuntimeCliError(error) || uploadFallbackReason(error) === undefined) return error;
  return amendError(error, {
    suggestions: [
      `If the bundle is on the ${other} backend, run:`,
      [{run: [...command, ...flagValue('--runtime-backend', other)]}],
    ],
  });
}

/**
 * Converts a bundle ID to what its backend accepts.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when the backend's ids are numbers, and this is not a number; for `.`
 * and `..`, which would lead elsewhere in a URL.
 */
export function idFor(name: RuntimeBackend, bundleId: BundleId, options: ConnectionOptions): BundleId {
  if (bundleId === '.' || bundleId === '..') {
    throw createError('ERR_OPTION_INVALID', `"${bundleId}" is not a bundle ID.`, {
      suggestions: [['Run ', {run: ['bundle:list']}, ' to list the bundles.']],
      details: {bundleId},
    });
  }
  return registryOf(options).get(name).bundleIds === 'number' ? requestedBundleId(bundleId, name) : bundleId;
}
