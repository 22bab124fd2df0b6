import {resolve} from 'node:path';
import {requestedBundleId} from '../backends/answers.js';
import {callInContext, withTimeout, type HostContext} from '../backends/call.js';
import {backendLocation, optionsOf, secretsOf} from '../backends/configuration.js';
import {createBackendContext} from '../backends/context.js';
import type {BuiltInContext, HostBackend} from '../backends/built-in.js';
import type {Backend, BackendCapability, BackendContext, BundleId} from '../backends/contract.js';
import {
  backendMembers,
  capabilitiesOf,
  contextFor,
  type AnswerTo,
  type OptionalMember,
  type RequestOf,
} from '../backends/members.js';
import {createBackendRegistry, type BackendRegistry} from '../backends/registry.js';
import {backendTitle, type RuntimeBackend} from '../backends/names.js';
import {problemsOf, rejectProblems} from '../settings/definitions.js';
import {createError} from '../errors/index.js';
import type {CommonOptions, ConnectionOptions, OperationProgress} from './options.js';
import {requestSeconds} from '../settings/schemas.js';
import {callBackSafely, type Host} from './host.js';
import type {PushPlace} from './push/records.js';

export type BackendCallOptions = CommonOptions &
  ConnectionOptions & {
    readonly projectSlug: string;
    readonly targetSlug?: string | undefined;
    readonly wait?: boolean | undefined;
  };

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
 * Opens a backend, or that of a name, for one call: validates its options and creates its client.
 * @param onUpload called with the bytes of the body that are sent
 */
export async function openBackend(
  which: string | HostBackend,
  options: BackendCallOptions & {
    readonly once?: boolean;
    /** Called before each request is sent, again before a retry. If it rejects, it is not sent. */
    readonly beforeAttempt?: () => Promise<void>;
  },
  host: Host,
  onUpload?: (progress: Pick<OperationProgress, 'transferred' | 'total' | 'attempt'>) => void,
): Promise<OpenBackend> {
  const backend = typeof which === 'string' ? registryOf(options).get(which) : which;
  const {projectSlug, targetSlug, wait, rateLimit, once, beforeAttempt, onRetry} = options;
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
    beforeAttempt,
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
    backend,
    context,
    secrets,
    commandFlags: host.commandFlags,
    reopen: (changes) => openBackend(which, {...options, onRetry: undefined, ...changes}, host),
  };
}

function timeoutsOf({connectTimeout, idleTimeout, requestTimeout}: CommonOptions) {
  const timeouts = Object.entries({connectTimeout, idleTimeout, requestTimeout});
  const given = timeouts.filter(([, seconds]) => seconds !== undefined);
  rejectProblems(given.flatMap(([option, seconds]) => problemsOf(option, seconds, requestSeconds)));
  const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  return {
    connectTimeoutMs: inMs(connectTimeout),
    idleTimeoutMs: inMs(idleTimeout),
    responseTimeoutMs: inMs(requestTimeout),
  };
}

/** The signal of a call; without one, a signal that is never aborted. */
export function signalOf({signal}: Pick<CommonOptions, 'signal'>): AbortSignal {
  return signal ?? new AbortController().signal;
}

type BackendMembers = {
  readonly [Call in OptionalMember]?: (request: RequestOf<Call>, context: BackendContext) => Promise<AnswerTo<Call>>;
};

/** Calls an optional member of a backend. */
export function invoke<Call extends OptionalMember>(
  {backend, context, secrets}: OpenBackend,
  call: Call,
  request: RequestOf<Call>,
): Promise<AnswerTo<Call>> {
  const row = backendMembers[call];
  const members: BackendMembers = backend;
  const member: BackendMembers[Call] = members[call];
  if (member === undefined) throw unsupported(backend, row.capability);
  const ask = (own: BuiltInContext) => member.call(backend, request, contextFor(call, own));
  return callInContext(backend, row, context, ask, secrets);
}

/** How long a look may take, in milliseconds. */
const longestLookMs = 2000;

/**
 * Asks the service for what only improves a text: once, for at most 2 s, without a word about it. Resolves to undefined
 * if that fails, because the outcome is the same with and without it.
 */
export async function quickLook<Result>(
  {reopen, context}: OpenBackend,
  look: (open: OpenBackend) => Promise<Result>,
): Promise<Result | undefined> {
  const late = AbortSignal.timeout(longestLookMs);
  try {
    const open = await reopen({once: true, signal: AbortSignal.any([context.signal, late])});
    return await withTimeout(look(open), longestLookMs, context.signal);
  } catch {
    return undefined;
  }
}

export function requireCapability(backend: Backend, capability: BackendCapability): void {
  if (!capabilitiesOf(backend).includes(capability)) throw unsupported(backend, capability);
}

function unsupported(backend: Backend, capability: BackendCapability): Error {
  const message = `The ${backendTitle(backend.name)} backend does not support "${capability}".`;
  const supported = ['upload', ...capabilitiesOf(backend)].join(', ');
  return createError('ERR_CAPABILITY_UNSUPPORTED', message, {
    suggestions: [[`It supports ${supported}. Run `, {run: ['backend:list']}, ' to compare backends.']],
    details: {backend: backend.name, capability},
  });
}

export function registryOf({backends}: ConnectionOptions): BackendRegistry {
  return backends ?? createBackendRegistry();
}

/** The folder that relative paths in the options of a backend refer to. */
export function configDirectoryOf({cwd}: Pick<CommonOptions, 'cwd'>, host: Host): string {
  return host.configDirectory ?? resolve(host.cwd, cwd ?? '.');
}

/** Converts a bundle ID to what its backend accepts. */
export function idFor(name: RuntimeBackend, bundleId: BundleId, options: ConnectionOptions): BundleId {
  if (bundleId === '.' || bundleId === '..') {
    throw createError('ERR_OPTION_INVALID', `"${bundleId}" is not a bundle ID.`, {
      suggestions: [['Run ', {run: ['bundle:list']}, ' to list the bundles.']],
      details: {bundleId},
    });
  }
  return registryOf(options).get(name).bundleIds === 'number' ? requestedBundleId(bundleId, name) : bundleId;
}

/** How much a server's clock may be ahead of ours, in milliseconds. */
export const clockSkewMs = 60_000;

/** The place that records of an operation belong to. */
export function placeOf(backend: RuntimeBackend, options: BackendCallOptions, host: Host): PushPlace {
  const surroundings = {configDirectory: configDirectoryOf(options, host), env: host.env};
  const location = backendLocation(registryOf(options).get(backend), options, surroundings);
  return {...location, projectSlug: options.projectSlug};
}
