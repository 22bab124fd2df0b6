import type {Interfaces} from '@oclif/core';
import {notConfigured, secretsOf} from '../../backends/configuration.js';
import type {BackendPlugin} from '../../backends/plugins.js';
import type {BackendRegistry} from '../../backends/registry.js';
import {backendTitle, isBuiltIn} from '../../backends/select.js';
import {amendError, createError, type RuntimeCliError} from '../../errors/index.js';
import type {Environment} from '../../http/types.js';
import type {Host} from '../../operations/host.js';
import type {CommandContext} from '../command/command-context.js';
import {repeatedFlags} from '../command/flags.js';
import {commandHost} from '../command/operation-options.js';
import {followsWrites, skipsPlugins} from '../command/plugin-sources.js';
import {missingBuild, missingSettings, requireTogether, type Missing} from '../command/requirements.js';
import type {SettingKey} from '../../settings/definitions.js';
import type {FlagValues} from './resolve-settings.js';
import {describeResolved, type Settings, type SettingValue} from './settings.js';
import {incompleteApi, isPluginBackend, resolveConnection, type Connection} from './connection.js';
import {optionsFor, readPluginSettings} from './plugin-options.js';

/** What a command needs from a backend. */
export interface BackendReach<Needed extends SettingKey> extends Pick<BackendLoading, 'config' | 'flags'> {
  readonly context: CommandContext;
  readonly settings: Settings;
  /** Settings that the command requires. */
  readonly needs: readonly Needed[];
  /** Whether it also requires a build. @default false */
  readonly builds?: boolean | undefined;
  /** Whether it asks nothing of the backend, so that it needs no credentials. @default false */
  readonly previews?: boolean | undefined;
  /** What else it lacks. @default nothing */
  readonly lacks?: readonly Missing[] | undefined;
  /** Whether it changes something there, so that it shows the destination and its source. @default false */
  readonly writes?: boolean | undefined;
}

/** How a command's operations reach a backend. */
interface ReachedBackends<Needed extends SettingKey> {
  /** The values of the required settings. */
  readonly values: {readonly [K in Needed]: SettingValue<K>};
  /** The options that every operation needs to reach a backend. */
  readonly connection: Omit<Connection, 'secrets'> & {
    readonly backends: BackendRegistry | undefined;
    readonly signal: AbortSignal;
  };
  readonly host: Host;
}

/**
 * Prepares what commands need to reach a backend: the required settings, the connections that the settings allow, and
 * plugins' backends if one of them is requested. Sends nothing.
 * @throws RuntimeCliError `ERR_SETUP_INCOMPLETE` when several things are missing, `ERR_USAGE` for a missing setting,
 * `ERR_CREDENTIALS_MISSING` for half an Api connection, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export async function reachBackends<Needed extends SettingKey>(
  reach: BackendReach<Needed>,
): Promise<ReachedBackends<Needed>> {
  const {context, settings, config, flags, needs, builds = false, previews = false, lacks = [], writes = false} = reach;
  const incomplete = incompleteApi({
    preference: settings.runtimeBackend.value,
    isSet: (key) => settings[key] !== undefined,
    env: context.env,
  });
  refuseUnusedOptions(settings, flags);
  const {secrets, ...connection} = resolveConnection(context, settings);
  const missing = [...missingSettings(settings, needs), ...lacks];
  const noBackend = incomplete ?? (previews ? undefined : unconfigured(connection, context.env));
  requireTogether([
    ...missing,
    ...(builds ? await missingBuild(settings.buildDirectory.value, context.cwd) : []),
    ...(noBackend === undefined ? [] : [{what: 'credentials', error: noBackend}]),
  ]);
  // For a single missing thing, the operation's own error about the build or backend says more.
  const [first] = missing;
  if (first !== undefined) throw first.error;
  if (incomplete !== undefined) throw incomplete;
  const backends = await loadWantedBackends({context, settings, config, flags});
  const {preference} = connection;
  const found = backends?.has(preference)
    ? await readPluginSettings(backends.find(preference), {context, settings, flags})
    : undefined;
  const {options: backendOptions, variables} = found ?? {options: connection.backendOptions, variables: {}};
  // The libraries of a backend read them, too.
  for (const [name, value] of Object.entries(variables)) context.setVariable(name, value);
  const values = Object.fromEntries(needs.map((key) => [key, settings[key]?.value]));
  return {
    // TypeScript cannot know that a loop covered every key.
    values: values as ReachedBackends<Needed>['values'],
    connection: {...connection, backendOptions, backends, signal: context.signal},
    host: commandHost(context, {
      secrets,
      config: writes && followsWrites(config) ? config : undefined,
      resolved: writes ? describeResolved(settings, context.cwd) : [],
      commandFlags: repeatedFlags(flags),
    }),
  };
}

/** The error of the built-in backend that would serve, if it is not configured. */
function unconfigured(connection: Omit<Connection, 'secrets'>, env: Environment): RuntimeCliError | undefined {
  const {preference, apiUnset, apiMissing, legacyMissing} = connection;
  if (preference === 'api' && apiMissing.length > 0) return notConfigured({name: 'api'}, apiMissing, connection, env);
  const takesLegacy = preference === 'legacy' || (preference === 'auto' && apiUnset);
  if (!takesLegacy || legacyMissing.length === 0) return undefined;
  const error = notConfigured({name: 'legacy'}, legacyMissing, connection, env);
  if (preference === 'legacy') return error;
  // Who has not chosen a backend does not know its name.
  return amendError(error, {
    message: `${backendTitle('legacy')} is not configured: missing ${legacyMissing.join(', ')}.`,
  });
}

/** Only plugins' backends have options. */
function refuseUnusedOptions({runtimeBackend: {value: wanted}}: Settings, flags: BackendLoading['flags']): void {
  if ((flags['backend-option'] ?? []).length === 0 || isPluginBackend(wanted)) return;
  const which = wanted === 'auto' ? 'no backend is named' : `the ${wanted} backend takes no options`;
  throw createError('ERR_USAGE', `--backend-option cannot be used here: ${which}.`, {
    suggestions: [
      ["Pass --runtime-backend with the name of a plugin's backend. Run ", {run: ['backend:list']}, ' to list them.'],
    ],
  });
}

const hook = 'mycli:backends';

/** What loading backends needs from a command. */
interface BackendLoading {
  readonly context: Pick<CommandContext, 'env' | 'output' | 'signal'>;
  readonly settings: Pick<Settings, 'runtimeBackend' | 'backendOptions'>;
  readonly config: Interfaces.Config;
  readonly flags: FlagValues & {readonly 'backend-option'?: readonly string[] | undefined};
}

/**
 * All backends, if the requested one comes from a plugin. Undefined if it is built in, so that no plugin code is
 * loaded. Failures of plugins are warnings, or part of the error if the requested backend is missing.
 */
export async function loadWantedBackends(loading: BackendLoading): Promise<BackendRegistry | undefined> {
  const wanted = loading.settings.runtimeBackend.value;
  if (!isPluginBackend(wanted)) return undefined;
  const registry = await discover(loading);
  if (registry.has(wanted)) warnOfFailures(registry, loading);
  return registry;
}

/** All backends, including those of plugins, whose code is run. Failures of plugins are warnings. */
export async function loadAllBackends(loading: BackendLoading): Promise<BackendRegistry> {
  const registry = await discover(loading);
  warnOfFailures(registry, loading);
  return registry;
}

/**
 * Loads the code of plugins unless the backend is built in.
 * @throws RuntimeCliError `ERR_BACKEND_UNKNOWN` if there is no backend with this name.
 */
export async function requireBackend(name: string, loading: BackendLoading): Promise<void> {
  if (!isBuiltIn(name)) (await loadAllBackends(loading)).get(name);
}

/** Asks the plugins, and masks the values of secret options and variables from now on. */
async function discover({context, settings, config}: BackendLoading): Promise<BackendRegistry> {
  const {discoverBackends} = await import('../../backends/plugins.js');
  const registry = await discoverBackends(pluginsOf(config, context), {
    version: config.version,
    chosen: Object.keys(settings.backendOptions.value),
    signal: context.signal,
  });
  const secrets = registry.registrations.flatMap((registration) =>
    secretsOf(registration.backend, {backendOptions: optionsFor(registration, settings)}, context.env),
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
  // The same configuration with this plugin only, so that one that hangs does not block the results of the others.
  const scoped = Object.assign(Object.create(config) as Interfaces.Config, {
    plugins: new Map([[plugin.name, plugin]]),
  });
  return {
    name: plugin.name,
    version: plugin.version,
    runHook: (options, timeoutMs) => scoped.runHook(hook, {...options}, timeoutMs, true),
  };
}

function warnOfFailures({failures}: BackendRegistry, {context}: BackendLoading): void {
  for (const {message} of failures) context.output.warn(message);
}
