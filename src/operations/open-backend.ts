import {createBackendContext} from '../backends/context.js';
import type {Backend, BackendCapability, BackendContext} from '../backends/contract.js';
import {createBackendRegistry} from '../backends/registry.js';
import {
  notConfigured,
  selectBackend,
  type BackendSelection,
  type RuntimeBackendPreference,
} from '../backends/select.js';
import {createError} from '../errors/index.js';
import type {Host} from './host.js';
import type {CommonOptions, ConnectionOptions, Phase} from './options.js';

/** What choosing and opening a backend takes. */
export type BackendCallOptions = CommonOptions &
  ConnectionOptions & {readonly projectSlug: string; readonly targetSlug?: string | undefined};

/** A backend, with the context to call it. */
export interface OpenBackend {
  readonly backend: Backend;
  readonly context: BackendContext;
}

/**
 * Chooses the backend that serves a call, without touching the network.
 * @throws RuntimeCliError when it is unknown, is not configured or lacks one of `capabilities`.
 */
export async function chooseBackend(
  preference: RuntimeBackendPreference,
  options: BackendCallOptions,
  capabilities: readonly BackendCapability[],
  host: Host,
): Promise<BackendSelection> {
  const missingOf = (name: string) => missingConfiguration(name, options, host);
  const [apiMissing, legacyMissing] =
    preference === 'auto' ? await Promise.all([missingOf('api'), missingOf('legacy')]) : [[], []];
  const selection = selectBackend({preference, apiMissing, legacyMissing});
  const backend = registryOf(options).get(selection.backend);
  for (const capability of capabilities) requireCapability(backend, capability);
  const missing = await missingOf(selection.backend);
  if (missing.length > 0) throw notConfigured(selection.backend, missing);
  return selection;
}

/** Opens a backend for one call: validates its options and makes its client. */
export async function openBackend(
  name: string,
  phase: Phase,
  options: BackendCallOptions,
  host: Host,
): Promise<OpenBackend> {
  const backend = registryOf(options).get(name);
  const {projectSlug, targetSlug, rateLimit, requestTimeout, onRetry, onProgress} = options;
  const context = await createBackendContext({
    projectSlug,
    targetSlug,
    options: await backendOptions(backend, options),
    env: host.env,
    logger: host.logger,
    signal: signalOf(options),
    userAgent: host.userAgent,
    rateLimit,
    requestTimeoutMs: requestTimeout === undefined ? undefined : requestTimeout * 1000,
    secrets: secretsOf(backend, options, host),
    onRetry:
      onRetry &&
      ((event) =>
        ignoreThrow(() => {
          onRetry(event);
        })),
    onProgress:
      onProgress &&
      ((progress) =>
        ignoreThrow(() => {
          onProgress({phase, ...progress});
        })),
  });
  return {backend, context};
}

/** The signal of a call; one that is never aborted when the caller gave none. */
export function signalOf({signal}: Pick<CommonOptions, 'signal'>): AbortSignal {
  return signal ?? new AbortController().signal;
}

/** Calls a callback of the caller when it is too late to fail: what it throws is ignored. */
export function ignoreThrow(callback: () => void): void {
  try {
    callback();
  } catch {
    // It never leaves a push half done.
  }
}

/** @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` when the backend lacks the capability. */
function requireCapability(backend: Backend, capability: BackendCapability): void {
  if (backend.capabilities.includes(capability)) return;
  throw createError(
    'ERR_CAPABILITY_UNSUPPORTED',
    `the ${backend.name} backend does not support "${capability}"; it supports ${['upload', ...backend.capabilities].join(', ')}`,
    {details: {backend: backend.name, capability}},
  );
}

function registryOf({backends}: ConnectionOptions): NonNullable<ConnectionOptions['backends']> {
  return backends ?? createBackendRegistry();
}

async function missingConfiguration(name: string, options: BackendCallOptions, host: Host): Promise<readonly string[]> {
  const backend = registryOf(options).get(name);
  const {projectSlug, targetSlug} = options;
  const check = await backend.check({
    options: await backendOptions(backend, options),
    env: host.env,
    logger: host.logger,
    projectSlug,
    targetSlug,
  });
  return check.missing ?? [];
}

/** The options of a backend, validated by its schema. The built-in ones are the caller's own fields. */
async function backendOptions(backend: Backend, options: BackendCallOptions): Promise<unknown> {
  const {apiConnection, apiMissing, legacyAuth, legacyMissing, origin} = options;
  if (backend.name === 'api') return {connection: apiConnection, missing: apiMissing};
  if (backend.name === 'legacy') return {origin, auth: legacyAuth, missing: legacyMissing};
  const given = options.backendOptions ?? {};
  if (!backend.options) return given;
  const result = await backend.options['~standard'].validate(given);
  if (!result.issues) return result.value;
  const problems = result.issues.map(({message, path}) => {
    const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
  });
  throw createError(
    'ERR_OPTION_INVALID',
    `the options of the ${backend.name} backend are wrong: ${problems.join('; ')}`,
    {
      suggestions: [`Set them with --backend-option key=value, or "backends.${backend.name}" in the config file.`],
      details: {backend: backend.name, problems},
    },
  );
}

function secretsOf(backend: Backend, options: BackendCallOptions, host: Host): readonly string[] {
  const values = (backend.secrets ?? []).map((name) => options.backendOptions?.[name]);
  return [...(host.secrets ?? []), ...values.filter((value): value is string => typeof value === 'string')];
}
