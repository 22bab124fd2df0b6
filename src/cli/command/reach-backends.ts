import type {BackendRegistry} from '../../backends/registry.js';
import type {Host} from '../../operations/steps.js';
import {incompleteApi} from '../backends/api-completeness.js';
import {loadWantedBackends, type BackendLoading} from '../backends/load-backends.js';
import type {CommandContext} from './command-context.js';
import {commandHost} from './command-host.js';
import {resolveConnection, type Connection} from '../backends/connection.js';
import {describeResolved} from '../settings/describe-settings.js';
import type {Settings} from '../settings/settings.js';

/** What a command that reaches a backend has to say of it. */
export interface BackendReach extends Pick<BackendLoading, 'config' | 'flags'> {
  readonly context: CommandContext;
  readonly settings: Settings;
}

/** How the operations of a command reach a backend. */
export interface ReachedBackends {
  /** What every operation of a backend takes; the operation's own options stand beside it. */
  readonly connection: Omit<Connection, 'secrets'> & {
    readonly backends: BackendRegistry | undefined;
    readonly signal: AbortSignal;
  };
  readonly host: Host;
}

/**
 * Prepares what commands need to reach a backend: the connections that the settings allow, and the backends of plugins when
 * one of them is wanted. Nothing is sent.
 * @throws RuntimeCliError `ERR_CREDENTIALS_MISSING` for half an Api connection, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export async function reachBackends({context, settings, config, flags}: BackendReach): Promise<ReachedBackends> {
  const incomplete = incompleteApi({
    preference: settings.runtimeBackend.value,
    isSet: (key) => settings[key] !== undefined,
    env: context.env,
  });
  if (incomplete !== undefined) throw incomplete;
  const {secrets, ...connection} = resolveConnection(context, settings);
  const backends = await loadWantedBackends({context, settings, config, flags});
  return {
    connection: {...connection, backends, signal: context.signal},
    host: commandHost(context, {secrets, resolved: describeResolved(settings)}),
  };
}
