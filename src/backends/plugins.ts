import {withTimeout, pluginTimeoutMs} from './call.js';
import {backendApiVersion} from './built-in.js';
import type {BackendsHookOptions} from './contract.js';
import {createBackendRegistry, type BackendFailure, type BackendRegistry} from './registry.js';
import {asSentence} from '../errors/sentence.js';

/** What oclif returns for a hook: a result or an error per module. */
export interface HookOutcome {
  readonly successes: readonly {readonly result: unknown}[];
  readonly failures: readonly {readonly error: unknown}[];
}

/** A plugin with a `mycli:backends` hook. */
export interface BackendPlugin {
  readonly name: string;
  readonly version?: string | undefined;
  /**
   * Imports and runs this plugin's hooks only: one that hangs on import would otherwise block the results of all.
   * Errors are captured, including those of `this.error`.
   * @param options what to call them with
   * @param timeoutMs limit for calling a hook
   */
  runHook(options: BackendsHookOptions, timeoutMs: number): Promise<HookOutcome>;
}

/** Options of `discoverBackends`. */
interface DiscoveryOptions {
  /** Version of the host, for the plugins. */
  readonly version: string;
  /** `plugin/name` of backends to use where several plugins have one of that name. @default none */
  readonly chosen?: readonly string[] | undefined;
  /** Limit for importing and calling a plugin's hook, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** What one plugin returned. */
interface PluginReport {
  readonly backends: readonly {
    readonly plugin: string;
    readonly version?: string | undefined;
    readonly backend: unknown;
  }[];
  readonly failures: readonly BackendFailure[];
}

/**
 * Asks all plugins for their backends at the same time, and registers them in the order of the plugins' names, as in
 * `mycli plugins`. Whatever goes wrong in a plugin only adds an entry to `failures`.
 * @throws `signal.reason` when aborted.
 */
export async function discoverBackends(
  plugins: readonly BackendPlugin[],
  {version, chosen, timeoutMs = pluginTimeoutMs, signal}: DiscoveryOptions,
): Promise<BackendRegistry> {
  signal.throwIfAborted();
  const ordered = [...plugins].sort((a, b) => (a.name < b.name ? -1 : 1));
  const host = {version, apiVersion: backendApiVersion};
  const ask = (plugin: BackendPlugin) => askPlugin(plugin, () => plugin.runHook({host}, timeoutMs), timeoutMs, signal);
  const reports = await Promise.all(ordered.map(ask));
  return createBackendRegistry(
    reports.flatMap(({backends}) => backends),
    reports.flatMap(({failures}) => failures),
    chosen,
  );
}

async function askPlugin(
  plugin: BackendPlugin,
  runHook: () => Promise<HookOutcome>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PluginReport> {
  const failure = (what: string) => ({plugin: plugin.name, message: asSentence(`Plugin ${plugin.name}: ${what}`)});
  try {
    const {successes, failures} = await withTimeout(runHook(), timeoutMs, signal);
    const answers = successes.map(({result}) => backendsOf(result));
    // oclif silently skips a module that does not export a function.
    const silent = successes.length + failures.length === 0 ? ['its mycli:backends hook exports no function'] : [];
    return {
      backends: answers.flatMap((backends = []) =>
        backends.map((backend) => ({plugin: plugin.name, version: plugin.version, backend})),
      ),
      failures: [
        ...silent,
        ...failures.map(({error}) => `its mycli:backends hook failed: ${messageOf(error)}`),
        ...answers
          .filter((backends) => backends === undefined)
          .map(() => 'its mycli:backends hook returned no {backends: [...]}'),
      ].map(failure),
    };
  } catch (error) {
    signal.throwIfAborted();
    return {backends: [], failures: [failure(`its mycli:backends hook failed: ${messageOf(error)}`)]};
  }
}

function backendsOf(result: unknown): readonly unknown[] | undefined {
  if (typeof result !== 'object' || result === null || !('backends' in result)) return undefined;
  return Array.isArray(result.backends) ? result.backends : undefined;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').trim();
}
