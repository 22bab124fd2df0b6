import {pluginTimeoutMs} from '../call.js';
import {backendApiVersion} from '../host-backend.js';
import type {BackendsHookOptions} from '../contract.js';
import {createBackendRegistry, type BackendFailure, type BackendRegistry} from '../registry.js';
import {isRecord} from '../../text/json.js';
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
  const answers = successes.map(({plugin, result}) => {
    const backends: unknown = isRecord(result) ? result['backends'] : undefined;
    return {plugin, backends: Array.isArray(backends) ? (backends as readonly unknown[]) : undefined};
  });
  const problems = [
    ...failures.map(({plugin, error}) => ({plugin, problem: `failed: ${oneLine(messageOf(error))}`})),
    ...answers.flatMap(({plugin, backends}) =>
      backends === undefined ? [{plugin, problem: 'returned no {backends: [...]}'}] : [],
    ),
  ];
  return createBackendRegistry(
    inOrder(answers).flatMap(({plugin: {name, version: own}, backends = []}) =>
      backends.map((backend) => ({plugin: name, version: own, backend})),
    ),
    [
      ...known,
      ...inOrder(problems).map(({plugin: {name}, problem}) => ({
        plugin: name,
        message: asSentence(`Plugin ${name}: its mycli:backends hook ${problem}`),
      })),
    ],
    chosen,
  );
}

function inOrder<Answer extends {readonly plugin: AskedPlugin}>(answers: readonly Answer[]): readonly Answer[] {
  return answers.toSorted((a, b) => (a.plugin.name < b.plugin.name ? -1 : Number(a.plugin.name > b.plugin.name)));
}
