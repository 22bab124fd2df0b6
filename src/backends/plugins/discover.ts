import {withTimeout, pluginTimeoutMs} from '../call.js';
import {backendApiVersion} from '../host-backend.js';
import type {BackendsHookOptions} from '../contract.js';
import {createBackendRegistry, type BackendFailure, type BackendRegistry, type PluginBackend} from '../registry.js';
import {isRecord} from '../../text/json.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {messageOf} from '../../errors/system-failure.js';

export interface HookOutcome {
  readonly successes: readonly {readonly result: unknown}[];
  readonly failures: readonly {readonly error: unknown}[];
}

export interface BackendPlugin {
  readonly name: string;
  readonly version?: string | undefined;
  /** Imports and runs the hooks of this plugin only: one that hangs on import would block the results of all. */
  runHook(options: BackendsHookOptions, timeoutMs: number): Promise<HookOutcome>;
}

interface DiscoveryOptions {
  readonly version: string;
  /** What is known to be wrong with plugins. */
  readonly failures?: readonly BackendFailure[] | undefined;
  /** `plugin/name` of backends to use where several plugins have one of that name. @default none */
  readonly chosen?: readonly string[] | undefined;
  /** Limit for importing and calling a plugin's hook, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Asks all plugins for their backends, and registers them in the order of `mycli plugins`. */
export async function discoverBackends(
  plugins: readonly BackendPlugin[],
  {version, failures: known = [], chosen, timeoutMs = pluginTimeoutMs, signal}: DiscoveryOptions,
): Promise<BackendRegistry> {
  signal.throwIfAborted();
  const ordered = [...plugins].sort((a, b) => (a.name < b.name ? -1 : 1));
  const host = {version, apiVersion: backendApiVersion};
  const reports = await Promise.all(
    ordered.map(async (plugin) => {
      const running = withTimeout(plugin.runHook({host}, timeoutMs), timeoutMs, signal);
      const outcome = await running.catch((error: unknown) => {
        signal.throwIfAborted();
        return {successes: [], failures: [{error}]};
      });
      return reportOf(plugin, outcome);
    }),
  );
  return createBackendRegistry(
    reports.flatMap(({backends}) => backends),
    [...known, ...reports.flatMap(({failures}) => failures)],
    chosen,
  );
}

function reportOf(
  {name: plugin, version}: BackendPlugin,
  {successes, failures}: HookOutcome,
): {readonly backends: readonly PluginBackend[]; readonly failures: readonly BackendFailure[]} {
  const answers = successes.map(({result}) => (isRecord(result) ? result['backends'] : undefined));
  const problems = [
    ...failures.map(({error}) => `failed: ${oneLine(messageOf(error))}`),
    ...answers.filter((answer) => !Array.isArray(answer)).map(() => 'returned no {backends: [...]}'),
  ];
  const backends = answers.flatMap((answer): readonly unknown[] => (Array.isArray(answer) ? answer : []));
  return {
    backends: backends.map((backend) => ({plugin, version, backend})),
    failures: problems.map((problem) => ({
      plugin,
      message: asSentence(`Plugin ${plugin}: its mycli:backends hook ${problem}`),
    })),
  };
}
