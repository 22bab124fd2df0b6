import type {Interfaces} from '@oclif/core';
import {isBuiltIn} from '../../backends/built-ins.js';
import type {Backend} from '../../backends/contract.js';
import type {BackendPlugin} from '../../backends/plugins.js';
import type {BackendRegistry} from '../../backends/registry.js';
import type {Host} from '../../operations/steps.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/operation-options.js';
import {skipsPlugins} from '../process/plugin-sources.js';
import {variableOf} from '../settings/definitions.js';
import {describeResolved, type Settings} from '../settings/settings.js';
import {incompleteApi} from './api-completeness.js';
import {resolveConnection, type Connection} from './connection.js';

/** What a command that reaches a backend has to say of it. */
interface BackendReach extends Pick<BackendLoading, 'config' | 'flags'> {
  readonly context: CommandContext;
  readonly settings: Settings;
}

/** How the operations of a command reach a backend. */
interface ReachedBackends {
  /** What every operation of a backend takes; the operation's own options stand beside it. */
  readonly connection: Omit<Connection, 'secrets'> & {
    readonly backends: BackendRegistry | undefined;
    readonly signal: AbortSignal;
  };
  readonly host: Host;
}

/**
 * Prepares what commands need to reach a backend: the connections that the settings allow, and the backends of plugins
 * when one of them is wanted. Nothing is sent.
 * @throws RuntimeCliError `ERR_CREDENTIALS_MISSING` for half an Api connection, `ERR_ORIGIN_INVALID`,
 * `ERR_ORIGIN_UNTRUSTED`.
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

const hook = 'mycli:backends';

/** What loading backends needs to know of a command. */
interface BackendLoading {
  readonly context: Pick<CommandContext, 'env' | 'output' | 'signal'>;
  readonly settings: Pick<Settings, 'runtimeBackend' | 'backendOptions'>;
  readonly config: Interfaces.Config;
  readonly flags: {readonly 'backend-option'?: readonly string[] | undefined};
}

/**
 * The backends to choose from when the one that is wanted comes from a plugin. Nothing when it is built in: then no
 * code of plugins is loaded. Failures of plugins are warnings, unless the wanted backend is missing: then they are part
 * of the error.
 */
export async function loadWantedBackends(loading: BackendLoading): Promise<BackendRegistry | undefined> {
  const wanted = loading.settings.runtimeBackend.value;
  if (wanted === 'auto' || isBuiltIn(wanted)) return undefined;
  const registry = await discover(loading);
  if (registry.has(wanted)) {
    warnOfFailures(registry, loading);
    warnOfLiterals(registry.get(wanted), loading);
  }
  return registry;
}

/** Every backend there is, those of plugins too, whose code runs. Failures of plugins are warnings. */
export async function loadAllBackends(loading: BackendLoading): Promise<BackendRegistry> {
  const registry = await discover(loading);
  warnOfFailures(registry, loading);
  return registry;
}

/** Asks the plugins, and masks the values of secret options from here on. */
async function discover({context, settings, config}: BackendLoading): Promise<BackendRegistry> {
  const {discoverBackends} = await import('../../backends/plugins.js');
  const {secretOptions} = await import('../../backends/configuration.js');
  const registry = await discoverBackends(pluginsOf(config, context), {signal: context.signal});
  const {value: options} = settings.backendOptions;
  const secrets = registry.registrations.flatMap(({backend}) =>
    secretOptions(backend, {backendOptions: options[backend.name]}),
  );
  context.output.addSecrets(secrets);
  return registry;
}

function pluginsOf(config: Interfaces.Config, {env, output}: BackendLoading['context']): readonly BackendPlugin[] {
  const plugins = [...config.plugins.values()].filter((plugin) => plugin.hooks[hook] !== undefined);
  if (!skipsPlugins(env)) return plugins.map((plugin) => backendPlugin(config, plugin));
  output.warn("MYCLI_SKIP_PLUGINS is set, so plugins' backends are unavailable.");
  return [];
}

function backendPlugin(config: Interfaces.Config, plugin: Interfaces.Plugin): BackendPlugin {
  // The same configuration, with this plugin alone: one that hangs must not keep the results of the others.
  const scoped = Object.assign(Object.create(config) as Interfaces.Config, {
    plugins: new Map([[plugin.name, plugin]]),
  });
  return {
    name: plugin.name,
    version: plugin.version,
    runHook: (timeoutMs) => scoped.runHook(hook, {}, timeoutMs, true),
  };
}

function warnOfFailures({failures}: BackendRegistry, {context}: BackendLoading): void {
  for (const {message} of failures) context.output.warn(message);
}

function warnOfLiterals({secrets = []}: Backend, {context, flags}: BackendLoading): void {
  const given = (flags['backend-option'] ?? []).map((option) => option.slice(0, option.indexOf('=')));
  const literal = secrets.filter((name) => given.includes(name));
  if (literal.length === 0) return;
  context.output.warn(
    `Other users can see the value of --backend-option ${literal.join(', ')} in the process list. ` +
      `Use ${String(variableOf('backendOptions'))} instead.`,
  );
}
