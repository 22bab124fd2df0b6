import type {Interfaces} from '@oclif/core';
import {notConfigured, secretsOf} from '../../backends/configuration.js';
import type {BackendPlugin} from '../../backends/plugins.js';
import type {BackendRegistry} from '../../backends/registry.js';
import {backendTitle} from '../../backends/select.js';
import {amendError, createError, type RuntimeCliError} from '../../errors/index.js';
import type {Environment} from '../../http/types.js';
import type {CommandContext} from '../command/command-context.js';
import {repeatedFlags} from '../command/flags.js';
import {commandHost} from '../command/operation-options.js';
import {followsWrites, skipsPlugins} from '../command/plugin-sources.js';
import {missingBuild, missingSettings, requireTogether, type Missing} from '../command/requirements.js';
import {definitions, type SettingKey} from '../../settings/definitions.js';
import {describeResolved, type Settings, type SettingValue} from './settings.js';
import {incompleteApi, isPluginBackend, resolveConnection, type Connection} from './connection.js';
import {optionsFor, readPluginSettings} from './plugin-options.js';

export interface BackendReach<Needed extends SettingKey> {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly needs: readonly Needed[];
  /** Whether it also requires a build. @default false */
  readonly builds?: boolean | undefined;
  /** Whether it asks nothing of the backend, so that it needs no credentials. @default false */
  readonly previews?: boolean | undefined;
  readonly lacks?: readonly Missing[] | undefined;
  /** Whether it changes something there, so that it shows the destination and its source. @default false */
  readonly writes?: boolean | undefined;
}

/**
 * Prepares what commands need to reach a backend: the required settings, the connections that the settings allow, and
 * plugins' backends if one of them is requested. Sends nothing.
 * @throws RuntimeCliError `ERR_SETUP_INCOMPLETE` when several things are missing, `ERR_USAGE` for a missing setting,
 * `ERR_CREDENTIALS_MISSING` for half an Api connection, `ERR_ORIGIN_INVALID`, `ERR_ORIGIN_UNTRUSTED`.
 */
export async function reachBackends<Needed extends SettingKey>({
  context,
  settings,
  needs,
  builds = false,
  previews = false,
  lacks = [],
  writes = false,
}: BackendReach<Needed>) {
  const {config, cwd, env, flags, signal} = context;
  const {value: preference} = settings.runtimeBackend;
  const incomplete = incompleteApi(settings, env);
  refuseUnusedOptions(context, preference);
  const {secrets, ...connection} = resolveConnection(context, settings);
  const missing = [...missingSettings(settings, needs), ...lacks];
  const noBackend = incomplete ?? (previews ? undefined : unconfigured(connection, env));
  requireTogether([
    ...missing,
    ...(builds ? await missingBuild(settings.buildDirectory.value, cwd) : []),
    ...(noBackend === undefined ? [] : [{what: 'credentials', error: noBackend}]),
  ]);
  // For a single missing thing, the operation's own error about the build or backend says more.
  const [first] = missing;
  if (first?.what === definitions.projectSlug.label) {
    throw amendError(first.error, {suggestions: [['Or set up a project: ', {run: ['init']}]]});
  }
  if (first !== undefined) throw first.error;
  if (incomplete !== undefined) throw incomplete;
  const backends = await loadWantedBackends(context, settings);
  const found = backends?.has(preference)
    ? await readPluginSettings(backends.find(preference), context, settings)
    : {options: connection.backendOptions, variables: {}};
  // The libraries of a backend read them, too.
  for (const [name, value] of Object.entries(found.variables)) context.setVariable(name, value);
  const values = Object.fromEntries(needs.map((key) => [key, settings[key]?.value]));
  return {
    settings,
    /** The options that every operation needs to reach a backend, and the values of the required settings. */
    options: {
      ...connection,
      backendOptions: found.options,
      backends,
      signal,
      // TypeScript cannot know that a loop covered every key.
      ...(values as {readonly [K in Needed]: SettingValue<K>}),
    },
    host: commandHost(context, {
      secrets,
      config: writes && followsWrites(config) ? config : undefined,
      resolved: writes ? describeResolved(settings, cwd) : [],
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
function refuseUnusedOptions({flags}: CommandContext, wanted: string): void {
  if ((flags['backend-option'] ?? []).length === 0 || isPluginBackend(wanted)) return;
  const which = wanted === 'auto' ? 'no backend is named' : `the ${wanted} backend takes no options`;
  throw createError('ERR_USAGE', `--backend-option cannot be used here: ${which}.`, {
    suggestions: [
      ["Pass --runtime-backend with the name of a plugin's backend. Run ", {run: ['backend:list']}, ' to list them.'],
    ],
  });
}

const hook = 'mycli:backends';

/**
 * All backends, if the requested one comes from a plugin. Undefined if it is built in, so that no plugin code is
 * loaded. Failures of plugins are warnings, or part of the error if the requested backend is missing.
 */
export async function loadWantedBackends(
  context: CommandContext,
  settings: Settings,
): Promise<BackendRegistry | undefined> {
  const wanted = settings.runtimeBackend.value;
  if (!isPluginBackend(wanted)) return undefined;
  const registry = await discover(context, settings);
  if (registry.has(wanted)) warnOfFailures(registry, context);
  return registry;
}

/** All backends, including those of plugins, whose code is run. Failures of plugins are warnings. */
export async function loadAllBackends(context: CommandContext, settings: Settings): Promise<BackendRegistry> {
  const registry = await discover(context, settings);
  warnOfFailures(registry, context);
  return registry;
}

/** Asks the plugins, and masks the values of secret options and variables from now on. */
async function discover(context: CommandContext, settings: Settings): Promise<BackendRegistry> {
  const {discoverBackends} = await import('../../backends/plugins.js');
  const registry = await discoverBackends(pluginsOf(context), {
    version: context.config.version,
    chosen: Object.keys(settings.backendOptions.value),
    signal: context.signal,
  });
  const secrets = registry.registrations.flatMap((registration) =>
    secretsOf(registration.backend, {backendOptions: optionsFor(registration, settings)}, context.env),
  );
  context.output.addSecrets(secrets);
  return registry;
}

function pluginsOf({config, env, output}: CommandContext): readonly BackendPlugin[] {
  const plugins = [...config.plugins.values()].filter((plugin) => plugin.hooks[hook] !== undefined);
  if (skipsPlugins(env)) {
    output.warn("MYCLI_SKIP_PLUGINS is set, so plugins' backends are unavailable.");
    return [];
  }
  return plugins.map((plugin) => {
    const {name, version} = plugin;
    // The same configuration with this plugin only, so that one that hangs does not block the results of the others.
    const scoped = Object.assign(Object.create(config) as Interfaces.Config, {plugins: new Map([[name, plugin]])});
    return {name, version, runHook: (options, timeoutMs) => scoped.runHook(hook, {...options}, timeoutMs, true)};
  });
}

function warnOfFailures({failures}: BackendRegistry, {output}: CommandContext): void {
  for (const {message} of failures) output.warn(message);
}
