import {builtIns, type BackendSettings} from '../../backends/built-in-backends.js';
import type {HostBackend} from '../../backends/host-backend.js';
import {backendTitle} from '../../backends/names.js';
import {resolveBackend, type ResolvedBackend} from '../../backends/resolve-backend.js';
import {firstChoice} from '../../backends/select.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import type {SettingKey} from '../../settings/definitions.js';
import type {CommandContext} from '../command/command-context.js';
import {commandHost} from '../command/host.js';
import {missingBuild, missingSettings, requireTogether, type Missing} from '../command/operation-options.js';
import {
  incompleteApi,
  isPluginBackend,
  resolveConnection,
  settingNames,
  type Connection,
} from './connection-options.js';
import {loadWantedBackends} from './load-backends.js';
import {readPluginSettings} from './plugin-settings.js';
import {followsWrites} from './write-hooks.js';
import {describeResolved, type Settings, type SettingValue} from './settings.js';

export interface BackendReach<Needed extends SettingKey> {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly needs: readonly Needed[];
  readonly builds?: boolean | undefined;
  /** Whether it asks nothing of the backend, so that it needs no credentials. */
  readonly previews?: boolean | undefined;
  readonly alsoMissing?: readonly Missing[] | undefined;
  /** Whether it changes something there, so that it shows the destination and its source. */
  readonly writes?: boolean | undefined;
  readonly readsLogs?: boolean | undefined;
}

/**
 * Prepares what commands need to reach a backend: the required settings, the connections that the settings allow, and
 * plugins' backends if one of them is requested. Sends nothing.
 */
export async function reachBackends<Needed extends SettingKey>(reach: BackendReach<Needed>) {
  const {context, settings, needs, builds, previews, alsoMissing = [], writes, readsLogs} = reach;
  const {config, cwd, env, signal} = context;
  const {value: preference} = settings.runtimeBackend;
  const incomplete = incompleteApi(settings, env);
  refuseUnusedOptions(context, preference);
  const {secrets, ...connection} = resolveConnection(context, settings);
  const noBackend = incomplete ?? (previews ? undefined : await unconfigured(context, settings, connection));
  requireTogether([
    ...missingSettings(settings, needs),
    ...alsoMissing,
    ...(builds
      ? await missingBuild(settings.buildDirectory.value, {cwd, project: settings.projectDirectory.value})
      : []),
    ...(noBackend === undefined ? [] : [{what: 'credentials', error: noBackend}]),
  ]);
  if (!previews) {
    const {confirmAddresses} = await import('../setup/confirm-addresses.js');
    await confirmAddresses(context, settings, {writes, readsLogs});
  }
  const backends = await loadWantedBackends(context, settings);
  const {options: backendOptions} = backends?.has(preference)
    ? await readPluginSettings(backends.find(preference), context, settings)
    : {options: connection.backendOptions};
  const values = Object.fromEntries(needs.map((key) => [key, settings[key]?.value]));
  return {
    settings,
    /** The options that every operation needs to reach a backend, and the values of the required settings. */
    options: {
      ...connection,
      backendOptions,
      backends,
      signal,
      // TypeScript cannot know that a loop covered every key.
      ...(values as {readonly [K in Needed]: SettingValue<K>}),
    },
    host: commandHost(context, {
      secrets,
      settingNames: settingNames(settings),
      config: writes && followsWrites(config) ? config : undefined,
      settings: writes ? describeResolved(settings, cwd) : [],
    }),
  };
}

/** The error of the built-in backend that would serve, if it is not configured. */
export async function unconfigured(
  context: CommandContext,
  settings: Settings,
  connection: Omit<Connection, 'secrets'>,
): Promise<RuntimeCliError | undefined> {
  const builtIn = builtIns.get(firstChoice(connection.preference, connection));
  if (builtIn === undefined) return undefined;
  // Whether the slugs fit is known once the backend is chosen.
  const withoutSlugs = {...settings, projectSlug: undefined, targetSlug: undefined};
  return (await resolveFor(context, withoutSlugs, builtIn.backend, connection)).problem;
}

/** Resolves a backend for a command, in whose words it says what is missing. */
export async function resolveFor(
  {configDirectory, env, output: logger}: CommandContext,
  settings: Settings,
  backend: HostBackend,
  connection: BackendSettings,
): Promise<ResolvedBackend> {
  const slugs = {projectSlug: settings.projectSlug?.value, targetSlug: settings.targetSlug?.value};
  const surroundings = {configDirectory, env, logger, settingNames: settingNames(settings), ...slugs};
  return resolveBackend(backend, connection, surroundings);
}

function refuseUnusedOptions({flags}: CommandContext, wanted: string): void {
  if ((flags['backend-option'] ?? []).length === 0 || isPluginBackend(wanted)) return;
  const which = wanted === 'auto' ? 'and none is chosen' : `not to ${backendTitle(wanted)}`;
  throw createError('ERR_USAGE', `--backend-option only applies to a plugin's backend, ${which}.`, {
    suggestions: [['Pass --runtime-backend NAME. Run ', {run: ['backend:list']}, ' to list the backends.']],
  });
}
