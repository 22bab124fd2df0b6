import {pluginTimeoutMs} from '../call.js';
import {backendApiVersion} from '../host-backend.js';
import type {BackendsHookOptions} from '../contract.js';
import {createBackendRegistry, type BackendFailure, type BackendRegistry} from '../registry.js';
import {comparePaths} from '../../text/entry-names.js';
import {asRecord} from '../../text/json.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {messageOf} from '../../errors/system-failure.js';

interface AskedPlugin {
  readonly name: string;
  readonly version?: string | undefined;
}

/** What the hooks of plugins have answered. One that does not answer in time is among the failures. */
export interface HookOutcome {
  readonly successes: readonly {readonly plugin: AskedPlugin; readonly result: unknown}[];
  readonly failures: readonly {readonly plugin: AskedPlugin; readonly error: unknown}[];
}

interface DiscoveryOptions {
  readonly version: string;
  /** What is known to be wrong with plugins. */
  readonly failures?: readonly BackendFailure[] | undefined;
  /** `plugin/name` of backends to use where several plugins have one of that name. @default none */
  readonly chosen?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

interface Answer extends Pick<HookOutcome['failures'][number], 'plugin'> {
  readonly backends?: readonly unknown[];
  readonly problem?: string;
}

/**
 * Asks all plugins for their backends, and registers them in the order of `mycli plugins`.
 * @param runHook calls the hook of each plugin
 */
export async function discoverBackends(
  runHook: (options: BackendsHookOptions, timeoutMs: number) => Promise<HookOutcome>,
  {version, failures: known = [], chosen, signal}: DiscoveryOptions,
): Promise<BackendRegistry> {
  signal.throwIfAborted();
  const {successes, failures} = await runHook({host: {version, apiVersion: backendApiVersion}}, pluginTimeoutMs);
  signal.throwIfAborted();
  const failed = failures.map(({plugin, error}) => ({plugin, problem: `failed: ${oneLine(messageOf(error))}`}));
  const answered = successes.map(({plugin, result}) => {
    const {backends} = asRecord(result);
    return Array.isArray(backends) ? {plugin, backends} : {plugin, problem: 'returned no {backends: [...]}'};
  });
  const answers: readonly Answer[] = [...failed, ...answered];
  const inOrder = answers.toSorted((a, b) => comparePaths(a.plugin.name, b.plugin.name));
  const offered = inOrder.flatMap(({plugin: {name: plugin, version}, backends = []}) =>
    backends.map((backend) => ({plugin, version, backend})),
  );
  const problems = inOrder.flatMap(({plugin: {name: plugin}, problem}) =>
    problem === undefined ? [] : {plugin, message: asSentence(`Plugin ${plugin}: its mycli:backends hook ${problem}`)},
  );
  return createBackendRegistry(offered, [...known, ...problems], chosen);
}
