import {resolve} from 'node:path';
import type {HostBackend} from '../backends/host-backend.js';
import type {ContextChanges, HostContext} from '../backends/call.js';
import {createBackendContext, type BackendContextOptions} from '../backends/backend-context.js';
import type {BackendSurroundings, ResolvedBackend} from '../backends/resolve-backend.js';
import {problemsOf, rejectProblems} from '../settings/definitions.js';
import {requestSeconds} from '../settings/schemas.js';
import {placeFlags} from '../text/suggest.js';
import {safetyOf} from './guard/safety.js';
import type {Host, RunHost} from './host.js';
import type {CommonOptions, ConnectionOptions, ProjectResult, WaitOptions} from './options.js';
import type {PushPlace} from './push/options.js';

export interface OpenOptions extends CommonOptions, ConnectionOptions, WaitOptions {
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  /** Whether the run will wait for the deployment that it requests. */
  readonly wait?: boolean | undefined;
}

/** A backend as a run has opened it, once: what the operations of that run work with. */
export interface OpenBackend {
  readonly backend: HostBackend;
  /** The project, as results and hooks get it. Of several backends with one name, the name is longer. */
  readonly project: ProjectResult;
  readonly projectSlug: string;
  readonly host: RunHost;
  /** How long the run waits for something. What is undefined depends on what it waits for. */
  readonly limits: WaitOptions;
  readonly signal: AbortSignal;
  /** Values to mask. The backend may add some. */
  readonly secrets: readonly string[];
  /** Flags with which a suggested command reaches the same project, and a target. */
  readonly flags: (targetSlug?: string) => readonly string[];
  readonly place: () => PushPlace;
  /** By how many milliseconds the service's clock is ahead of the host's; 0 while it has not told the time. */
  readonly clockAheadMs: () => number;
  /** What it is called with. The first call creates its client. */
  readonly context: () => Promise<HostContext>;
  /** The same for calls that differ in this. */
  readonly with: (changes: ContextChanges) => OpenBackend;
}

export function openBackend(resolved: ResolvedBackend, options: OpenOptions, host: RunHost): OpenBackend {
  // A typo in MYCLI_SAFETY is an error before anything is sent, also of what only reads.
  safetyOf(host);
  const {name, backend} = resolved;
  const {env, logger, userAgent, onCleanup} = host;
  const {projectSlug, targetSlug, wait, rateLimit, pollInterval, timeout} = options;
  const secrets = [...(host.secrets ?? []), ...resolved.secrets];
  let clockAheadMs = 0;
  let isReadOnly = false;
  const creation: BackendContextOptions = {
    projectSlug,
    targetSlug,
    wait,
    options: resolved.options,
    configDirectory: configDirectoryOf(options, host),
    env,
    logger,
    signal: options.signal ?? new AbortController().signal,
    userAgent,
    rateLimit,
    timeouts: timeoutsOf(options),
    uploadRetries: options.uploadRetries,
    secrets,
    onSecret(secret) {
      secrets.push(secret);
      host.maskSecret?.(secret);
    },
    onRetry: (event) => host.outlet.retry(event),
    onDate: (date) => void (clockAheadMs = date.getTime() - host.now().getTime()),
    onReadOnly() {
      if (!isReadOnly)
        host.outlet.warn('The service is read-only for maintenance. Changes may be refused until it ends.');
      isReadOnly = true;
    },
    onCleanup,
  };
  let created: Promise<HostContext> | undefined;
  const open = (signal: AbortSignal, context: OpenBackend['context']): OpenBackend => ({
    backend,
    project: {backend: name, projectSlug},
    projectSlug,
    host,
    limits: {pollInterval, timeout},
    signal,
    secrets,
    flags: (target) => placeFlags({projectSlug, targetSlug: target, backend: name}),
    place: () => ({...resolved.location(), projectSlug}),
    clockAheadMs: () => clockAheadMs,
    context,
    with(changes) {
      const both = changes.signal === undefined ? signal : AbortSignal.any([signal, changes.signal]);
      let changed: Promise<HostContext> | undefined;
      return open(both, () => (changed ??= context().then((own) => own.with({...changes, signal: both}))));
    },
  });
  return open(creation.signal, () => (created ??= createBackendContext(creation)));
}

function timeoutsOf({connectTimeout, idleTimeout, requestTimeout}: CommonOptions) {
  const timeouts = Object.entries({connectTimeout, idleTimeout, requestTimeout});
  rejectProblems(
    timeouts
      .filter(([, seconds]) => seconds !== undefined)
      .flatMap(([option, seconds]) => problemsOf(option, seconds, requestSeconds)),
  );
  return {
    ...(connectTimeout !== undefined && {connectMs: connectTimeout * 1000}),
    ...(idleTimeout !== undefined && {idleMs: idleTimeout * 1000}),
    ...(requestTimeout !== undefined && {requestMs: requestTimeout * 1000}),
  };
}

export function checkContextOf(
  options: Pick<CommonOptions, 'cwd'> & Pick<BackendSurroundings, 'projectSlug' | 'targetSlug'>,
  host: Host,
): BackendSurroundings {
  const {projectSlug, targetSlug} = options;
  const {env, logger, settingNames} = host;
  return {configDirectory: configDirectoryOf(options, host), env, logger, settingNames, projectSlug, targetSlug};
}

/** The folder that relative paths in the options of a backend refer to. */
function configDirectoryOf({cwd}: Pick<CommonOptions, 'cwd'>, host: Host): string {
  return host.configDirectory ?? resolve(host.cwd, cwd ?? '.');
}
